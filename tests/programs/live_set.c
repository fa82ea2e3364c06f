// SPDX-License-Identifier: MIT
/*
 * Holds a set of blocks that is known to the byte, through malloc. Each byte of standard input
 * starts a round, in which every thread frees what it holds and allocates a new set, with as many
 * blocks again that it frees at once. After a round it prints
 *
 *   done ROUND LIVE LIVE_SD ALLOCATED ALLOCATED_SD
 *
 * in bytes, with the standard deviations that sampling with the period of the first argument must
 * have: a block is sampled with probability p, and counts for size / p then.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define SIZES	6

/* Primes, so that a wrong factor shows; about as many bytes of each. */
static const size_t sizes[SIZES] = {17, 97, 1021, 4099, 32771, 262147};
static const size_t counts[SIZES] = {40009, 7001, 701, 179, 23, 3};

struct set {
	void **blocks[SIZES];
	double live, live_variance, allocated, allocated_variance;
};

static struct set set[THREADS];
static pthread_barrier_t begin, end;
static double period;

static __attribute__((noinline)) void *allocate(struct set *mine, size_t size, int stays)
{
	void *block = malloc(size);
	double p, variance;

	if (!block)
		abort();
	memset(block, 1, size);
	p = -expm1(-(double)malloc_usable_size(block) / period);
	variance = (double)size * size * (1 - p) / p;
	mine->allocated += size;
	mine->allocated_variance += variance;
	if (stays) {
		mine->live += size;
		mine->live_variance += variance;
	}
	return block;
}

static void *worker(void *argument)
{
	struct set *mine = argument;

	for (size_t i = 0; i < SIZES; i++) {
		mine->blocks[i] = calloc(counts[i], sizeof(void *));
		if (!mine->blocks[i])
			abort();
	}
	for (;;) {
		pthread_barrier_wait(&begin);
		mine->live = mine->live_variance = 0;
		mine->allocated = mine->allocated_variance = 0;
		for (size_t i = 0; i < SIZES; i++) {
			for (size_t k = 0; k < counts[i]; k++)
				free(mine->blocks[i][k]);
			for (size_t k = 0; k < counts[i]; k++) {
				mine->blocks[i][k] = allocate(mine, sizes[i], 1);
				free(allocate(mine, sizes[i], 0));
			}
		}
		pthread_barrier_wait(&end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;
	char byte;

	period = argc > 1 ? atof(argv[1]) : 524288;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id, NULL, worker, &set[i]))
			return 1;
	printf("ready\n");
	for (int round = 1; read(STDIN_FILENO, &byte, 1) > 0; round++) {
		struct set sum = {0};

		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		for (int i = 0; i < THREADS; i++) {
			sum.live += set[i].live;
			sum.live_variance += set[i].live_variance;
			sum.allocated += set[i].allocated;
			sum.allocated_variance += set[i].allocated_variance;
		}
		printf("done %d %.0f %.0f %.0f %.0f\n", round, sum.live, sqrt(sum.live_variance),
			sum.allocated, sqrt(sum.allocated_variance));
	}
	return 0;
}
