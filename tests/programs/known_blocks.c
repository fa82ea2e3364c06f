// SPDX-License-Identifier: MIT
/*
 * Speaks the probe contract itself, with blocks whose sizes, lifetimes and threads are known. After
 * a byte of its standard input
 *
 *   keeper    a thread: leak() fires LEAKS blocks that stay; when the churner is through, recent()
 *             frees one and fires another until the end
 *   churner   a thread: garbage() fires GARBAGE blocks and frees each at once; session() fires
 *             SESSIONS times, for some tens of milliseconds each, blocks of two sizes
 *
 * When both are through it prints "done" and for leak, garbage and session
 *
 *   live FUNCTION BYTES
 *   size FUNCTION CLASS BYTES
 *   lifetime FUNCTION CLASS CERTAIN POSSIBLE
 *
 * in estimated bytes, the classes as in labels.h. A block's lifetime is known from the clock before
 * and after both of its probes: where that leaves two classes open, it is possible in both.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probes.h"

#define LEAKS	  70
#define GARBAGE	  3000
#define SESSIONS  40
#define LIFETIMES 8

struct block {
	uint64_t pointer, weight;
	uint64_t asked_ns, given_ns; /* the clock before and after its probe */
};

struct group {
	const char *name;
	uint64_t live, certain[LIFETIMES], possible[LIFETIMES];
};

static struct group leaks = {.name = "leak"}, garbages = {.name = "garbage"};
static struct group sessions = {.name = "session"};
static atomic_int steps;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static int lifetime_class(uint64_t ns)
{
	uint64_t bound = 1000000;
	int class = 0;

	while (class < LIFETIMES - 1 && ns >= bound) {
		class ++;
		bound *= 10;
	}
	return class;
}

/* Inlined: the caller is to be the one that asked for the block. */
static inline __attribute__((always_inline)) struct block block_new(
	struct group *group, uint64_t pointer, uint64_t size, uint64_t objects)
{
	struct block block = {.pointer = pointer, .weight = size * objects, .asked_ns = now_ns()};

	fire_alloc(pointer, size, block.weight);
	block.given_ns = now_ns();
	group->live += block.weight;
	return block;
}

static void block_free(struct group *group, const struct block *block)
{
	uint64_t asked_ns = now_ns();
	int least, most;

	fire_free(block->pointer);
	least = lifetime_class(asked_ns - block->given_ns);
	most = lifetime_class(now_ns() - block->asked_ns);
	group->live -= block->weight;
	if (least == most)
		group->certain[least] += block->weight;
	for (int class = least; class <= most; class ++)
		group->possible[class] += block->weight;
}

static __attribute__((noinline)) void leak(void)
{
	for (uint64_t i = 0; i < LEAKS; i++)
		block_new(&leaks, 0x100000 + i * 16, 1009, 7);
}

static __attribute__((noinline)) void recent(void)
{
	struct group group = {0};
	struct block block = block_new(&group, 0x200000, 211, 3);

	pause_ms(1);
	block_free(&group, &block);
}

static __attribute__((noinline)) void garbage(void)
{
	for (uint64_t i = 0; i < GARBAGE; i++) {
		struct block block = block_new(&garbages, 0x300000 + i * 16, 97, 11);

		block_free(&garbages, &block);
	}
}

static __attribute__((noinline)) void session(void)
{
	struct block small = block_new(&sessions, 0x400000, 509, 5);
	struct block large = block_new(&sessions, 0x400010, 65537, 1);

	pause_ms(25);
	block_free(&sessions, &small);
	block_free(&sessions, &large);
}

static void *keep(void *argument)
{
	prctl(PR_SET_NAME, "keeper");
	leak();
	while (steps < 1)
		pause_ms(1);
	recent();
	steps++;
	for (;;)
		recent();
	return NULL;
}

static void *churn(void *argument)
{
	prctl(PR_SET_NAME, "churner");
	garbage();
	for (int i = 0; i < SESSIONS; i++)
		session();
	steps++;
	return NULL;
}

static void group_print(const struct group *group)
{
	printf("live %s %llu\n", group->name, (unsigned long long)group->live);
	for (int class = 0; class < LIFETIMES; class ++)
		printf("lifetime %s %d %llu %llu\n", group->name, class,
			(unsigned long long)group->certain[class],
			(unsigned long long)group->possible[class]);
}

int main(void)
{
	pthread_t keeper, churner;
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	if (read(STDIN_FILENO, &byte, 1) < 1)
		return 1;
	if (pthread_create(&keeper, NULL, keep, NULL) ||
		pthread_create(&churner, NULL, churn, NULL))
		return 1;
	while (steps < 2)
		pause_ms(1);
	group_print(&leaks);
	group_print(&garbages);
	group_print(&sessions);
	printf("size leak 9 %u\n", LEAKS * 1009 * 7);
	printf("size garbage 6 %u\n", GARBAGE * 97 * 11);
	printf("size session 8 %u\nsize session 16 %u\n", SESSIONS * 509 * 5, SESSIONS * 65537);
	printf("done\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
