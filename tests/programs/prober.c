// SPDX-License-Identifier: MIT
/*
 * Speaks the probe contract itself, with samples that are known exactly, so that a recording can
 * be compared to the byte.
 *
 * Thread t calls down a path of its own, left() or right() by the bits of t, and there fires
 * `rounds` allocations of size_of(t) bytes and frees all but `keep` of them. The program prints
 * what a recording must hold, as folded stacks from path() on, and "ready". A byte of its standard
 * input starts it (the semaphores rise a moment before the programs are attached, so they are no
 * sign to start); it prints "raised" when it sees the semaphores up, "done" when all have fired,
 * and "fallen" when it sees the semaphores down again. Then comes the next recording. At the end of
 * its standard input it exits.
 *
 *   --threads N      threads (1)             --rounds N     allocations of each (100)
 *   --keep N         never freed (10)        --levels N     length of the paths (6)
 *   --deeper N       frames more, so that the stack is cut (0)
 *   --sleepers N     of the threads, those that are asleep when the attach comes (0)
 *   --strays N       frees of blocks that nobody has seen allocated, of each thread (0)
 *   --repeats N      allocations of a pointer again without its free, of each thread (0)
 *   --attaches N     recordings to serve (1)
 *   --leave          the main thread exits and the others go on
 *   --retire         thread 0 exits when it has fired, and only then the others begin
 *   --endless        go on firing until killed
 *
 * PROBER_NAP_MS is how long it sleeps where it waits (1). When it is set, threads that are not
 * asleep when the attach comes nap too instead of spinning: on an emulated core that leaves the
 * loader nothing.
 */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes.h"

#define THREADS_MAX 64

uint64_t allocprof_sample_period = AP_PERIOD_DEFAULT;

static unsigned long threads = 1, rounds = 100, keep = 10, levels = 6, deeper, sleepers, strays;
static unsigned long repeats, attaches = 1;
static bool leave, endless, retire;

/* Which recording the threads may fire for, and how many of them have. */
static atomic_ulong opened, finished;
static atomic_bool retired;
static pthread_t first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

/* Different for each thread, no multiple of one another, and weights that sizes divide. */
static uint64_t size_of(unsigned long thread)
{
	return 1009 + 2 * thread;
}

static uint64_t weight_of(unsigned long thread)
{
	return size_of(thread) * (7 + thread);
}

static long nap_ms; /* PROBER_NAP_MS, 0 when it is not set */

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = (nap_ms ? nap_ms : 1) * 1000000}, NULL);
}

static __attribute__((noinline)) void fire(unsigned long thread, unsigned long attach)
{
	uint64_t base = 0x100000000000 + (thread << 32) + (attach << 24 << 4);

	for (unsigned long i = 0; i < strays; i++)
		fire_free(base + 0x800000000 + i);
	for (unsigned long i = 0; i < rounds; i++) {
		fire_alloc(base + i * 16, size_of(thread), weight_of(thread));
		if (i >= keep)
			fire_free(base + (i - keep) * 16);
	}
	/* The blocks that stayed once more: the first ones count as freed then. */
	for (unsigned long i = 0; i < repeats; i++)
		fire_alloc(base + (rounds - keep + i) * 16, size_of(thread), weight_of(thread));
	if (endless)
		printf("endless %lu\n", thread);
	while (endless && !(retire && !thread)) {
		fire_alloc(base, size_of(thread), weight_of(thread));
		fire_free(base);
		pause_shortly();
	}
}

static void right(unsigned long thread, unsigned long attach, unsigned long level);

static __attribute__((noinline)) void left(
	unsigned long thread, unsigned long attach, unsigned long level)
{
	if (level == levels)
		fire(thread, attach);
	else if (thread >> level & 1)
		right(thread, attach, level + 1);
	else
		left(thread, attach, level + 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void right(
	unsigned long thread, unsigned long attach, unsigned long level)
{
	if (level == levels)
		fire(thread, attach);
	else if (thread >> level & 1)
		right(thread, attach, level + 1);
	else
		left(thread, attach, level + 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void path(unsigned long thread, unsigned long attach)
{
	if (thread & 1)
		right(thread, attach, 1);
	else
		left(thread, attach, 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void descend(
	unsigned long thread, unsigned long attach, unsigned long depth)
{
	if (depth)
		descend(thread, attach, depth - 1);
	else
		path(thread, attach);
	__asm__ volatile("");
}

static void *worker(void *argument)
{
	unsigned long thread = (uintptr_t)argument;

	for (unsigned long attach = 1; attach <= attaches; attach++) {
		if (thread < sleepers) {
			pthread_mutex_lock(&lock);
			while (opened < attach)
				pthread_cond_wait(&woken, &lock);
			pthread_mutex_unlock(&lock);
		}
		while (opened < attach || (retire && thread && !retired))
			if (nap_ms)
				pause_shortly();
			else
				sched_yield();
		descend(thread, attach, deeper);
		finished++;
		if (retire && !thread)
			return NULL;
		/* The next one begins only when all have done this one. */
		while (finished < attach * threads && attach < attaches)
			pause_shortly();
	}
	/* Alive until the end: which threads there are must not depend on who is faster. */
	for (;;)
		pause();
	return NULL;
}

static void expect(void)
{
	for (unsigned long t = 0; t < threads; t++) {
		uint64_t objects = weight_of(t) / size_of(t);

		for (int kind = 0; kind < 2; kind++) {
			uint64_t count = kind ? keep : rounds + repeats;

			printf("%s path", kind ? "live" : "allocated");
			for (unsigned long level = 0; level < levels; level++)
				printf(";%s", t >> level & 1 ? "right" : "left");
			printf(";fire;fire_alloc %" PRIu64 " %" PRIu64 "\n", count * weight_of(t),
				count * objects);
		}
	}
}

static void *conductor(void *unused)
{
	char byte;

	for (unsigned long attach = 1; attach <= attaches; attach++) {
		if (read(STDIN_FILENO, &byte, 1) <= 0)
			exit(0);
		while (!alloc_semaphore || !free_semaphore)
			pause_shortly();
		printf("raised %u %u\n", alloc_semaphore, free_semaphore);
		pthread_mutex_lock(&lock);
		opened = attach;
		pthread_cond_broadcast(&woken);
		pthread_mutex_unlock(&lock);
		if (retire) {
			pthread_join(first, NULL);
			printf("retired\n");
			retired = true;
		}
		while (finished < attach * threads)
			pause_shortly();
		printf("done %lu\n", attach);
		while (alloc_semaphore || free_semaphore)
			pause_shortly();
		printf("fallen %lu\n", attach);
	}
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"threads", required_argument, NULL, 't'},
		{"rounds", required_argument, NULL, 'r'}, {"keep", required_argument, NULL, 'k'},
		{"levels", required_argument, NULL, 'l'}, {"deeper", required_argument, NULL, 'd'},
		{"sleepers", required_argument, NULL, 's'},
		{"strays", required_argument, NULL, 'y'}, {"repeats", required_argument, NULL, 'p'},
		{"attaches", required_argument, NULL, 'a'}, {"leave", no_argument, NULL, 'e'},
		{"endless", no_argument, NULL, 'n'}, {"retire", no_argument, NULL, 'R'},
		{NULL, 0, NULL, 0}};
	pthread_t id;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned long number = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (option) {
		case 't':
			threads = number;
			break;
		case 'r':
			rounds = number;
			break;
		case 'k':
			keep = number;
			break;
		case 'l':
			levels = number;
			break;
		case 'd':
			deeper = number;
			break;
		case 's':
			sleepers = number;
			break;
		case 'y':
			strays = number;
			break;
		case 'p':
			repeats = number;
			break;
		case 'a':
			attaches = number;
			break;
		case 'e':
			leave = true;
			break;
		case 'n':
			endless = true;
			break;
		case 'R':
			retire = true;
			break;
		default:
			return 2;
		}
	}
	if (!threads || threads > THREADS_MAX || keep > rounds || repeats > keep || !levels)
		return 2;
	if (getenv("PROBER_NAP_MS"))
		nap_ms = strtol(getenv("PROBER_NAP_MS"), NULL, 10) % 1000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	expect();
	printf("semaphores %zu %zu\n", (size_t)&alloc_semaphore, (size_t)&free_semaphore);
	for (unsigned long t = 0; t < threads; t++)
		if (pthread_create(&id, NULL, worker, (void *)(uintptr_t)t))
			return 1;
		else if (!t)
			first = id;
	if (pthread_create(&id, NULL, conductor, NULL))
		return 1;
	printf("ready\n");
	if (leave)
		pthread_exit(NULL);
	pthread_join(id, NULL);
	return 0;
}
