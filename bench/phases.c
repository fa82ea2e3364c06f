// SPDX-License-Identifier: MIT
/*
 * What happens to the memory of a program that turns to something else:
 *
 *   phases fragment N  N MiB of blocks of one range of sizes; nine in ten, at random, are freed;
 *                      as many bytes of another range, and so on, six times
 *   phases idle N      N MiB of blocks of 16 to 1039 bytes are freed, then ten seconds of light
 *                      work; prints the peak's resident KiB and those at the end
 *
 * Their own tables are mapped, so that only blocks are in the allocator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "random.h"

#define MIB ((size_t)1 << 20)

static char **table_map(size_t count)
{
	char **table = mmap(NULL, count * sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (table == MAP_FAILED) {
		perror("phases: mmap");
		exit(1);
	}
	return table;
}

/* Blocks of `low` to `low` + 1023 bytes, all written to, until they hold `bytes`. */
static size_t table_fill(char **table, size_t count, size_t low, size_t bytes, uint32_t *state)
{
	for (size_t sum = 0; sum < bytes; count++) {
		size_t size = low + random_next(state) % 1024;

		table[count] = malloc(size);
		if (!table[count]) {
			fprintf(stderr, "phases: out of memory\n");
			exit(1);
		}
		memset(table[count], 1, size);
		sum += size;
	}
	return count;
}

static int run_fragment(size_t mib)
{
	static const size_t low[] = {16, 512, 64, 4096, 128, 1536};
	char **table = table_map(mib * MIB / 64);
	uint32_t state = 1;
	size_t count = 0;

	for (size_t phase = 0; phase < sizeof(low) / sizeof(*low); phase++) {
		size_t kept = 0;

		count = table_fill(table, count, low[phase], mib * MIB, &state);
		for (size_t i = 0; i < count; i++) {
			if (random_next(&state) % 10)
				free(table[i]);
			else
				table[kept++] = table[i];
		}
		count = kept;
	}
	return 0;
}

/* In KiB; from the page tables: the counters in status and statm lag behind. */
static long resident(void)
{
	char line[128];
	long kib = -1;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Rss:", 4))
			kib = atol(line + 4);
	if (file)
		fclose(file);
	return kib;
}

static int run_idle(size_t mib)
{
	struct timespec tick = {.tv_nsec = 10000000};
	size_t tables = mib * MIB / 64 * sizeof(char *);
	char **table = table_map(mib * MIB / 64);
	uint32_t state = 1;
	size_t count = table_fill(table, 0, 16, mib * MIB, &state);
	long peak = resident();

	for (size_t i = 0; i < count; i++)
		free(table[i]);
	munmap(table, tables);
	for (int i = 0; i < 1000; i++) {
		void *block[20];

		for (int k = 0; k < 20; k++)
			block[k] = malloc(16 + random_next(&state) % 1024);
		for (int k = 0; k < 20; k++)
			free(block[k]);
		nanosleep(&tick, NULL);
	}
	printf("%ld %ld\n", peak, resident());
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;

	if (n > 0 && !strcmp(argv[1], "fragment"))
		return run_fragment((size_t)n);
	if (n > 0 && !strcmp(argv[1], "idle"))
		return run_idle((size_t)n);
	fprintf(stderr, "usage: phases fragment|idle MIB\n");
	return 2;
}
