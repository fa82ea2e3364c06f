// SPDX-License-Identifier: MIT
/*
 * The three loops whose instructions a pair of malloc and free are counted by
 * bench/instructions.sh:
 *
 *   pairs fixed N      malloc(64) and free at once
 *   pairs slots N      256 slots of 16 to 1039 bytes, a random one replaced each time
 *   pairs batch N      10,000 blocks of 64 bytes, then all freed
 *
 * With `-` before the name the loop runs with the calls left out, for its own cost to be
 * subtracted. With `stop` behind N it stops itself (SIGSTOP) before it begins, to be attached to.
 * With `endless` it does so many again and again, and prints the nanoseconds of CPU time of each.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random.h"

static void *volatile sink;
static char dummy[2048];

static inline void *take(size_t size, int dry)
{
	return dry ? dummy : malloc(size);
}

static inline void give(void *block, int dry)
{
	if (!dry)
		free(block);
}

static inline __attribute__((always_inline)) void loop_fixed(long n, int dry)
{
	for (long i = 0; i < n; i++) {
		void *block = take(64, dry);

		sink = block;
		give(block, dry);
	}
}

static inline __attribute__((always_inline)) void loop_slots(long n, int dry)
{
	static char *slot[256];
	uint32_t state = 1;

	for (long i = 0; i < n; i++) {
		uint32_t r = random_next(&state);
		char **at = &slot[r % 256];

		give(*at, dry);
		*at = take(16 + (r >> 8) % 1024, dry);
		**at = 1;
	}
}

static inline __attribute__((always_inline)) void loop_batch(long n, int dry)
{
	static void *block[10000];

	for (long i = 0; i < n; i += 10000) {
		for (int k = 0; k < 10000; k++)
			block[k] = take(64, dry);
		for (int k = 0; k < 10000; k++)
			give(block[k], dry);
	}
}

#define RUN(loop)                                  \
	do {                                       \
		if (!strcmp(name, #loop))          \
			loop_##loop(n, 0);         \
		else if (!strcmp(name, "-" #loop)) \
			loop_##loop(n, 1);         \
		else                               \
			break;                     \
		return true;                       \
	} while (0)

/* False: there is no such loop. */
static bool run(const char *name, long n)
{
	RUN(fixed);
	RUN(slots);
	RUN(batch);
	return false;
}

static long cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	const char *how = argc > 3 ? argv[3] : "";
	long start = cpu_time(), end;

	if (!strcmp(how, "stop"))
		raise(SIGSTOP);
	if (n <= 0 || !run(argv[1], n)) {
		fprintf(stderr, "usage: pairs [-]fixed|slots|batch N [stop|endless]\n");
		return 2;
	}
	while (!strcmp(how, "endless")) {
		end = cpu_time();
		printf("%ld\n", end - start);
		fflush(stdout);
		start = end;
		run(argv[1], n);
	}
	return 0;
}
