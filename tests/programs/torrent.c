// SPDX-License-Identifier: MIT
/*
 * Allocates and frees at full speed, and knows how much, and how many samples that must give by
 * the sampling period in its memory. Bytes of standard input say what comes next: `f` full speed,
 * `s` slowly, `d` no more, and what it came to. It prints
 *
 *   rate SAMPLES PERIOD    every second: the samples to be expected in it, and the period by now
 *   done ALLOCATED SD      bytes in all, and the standard deviation of an estimate of them: a block
 *                          is a sample with probability p, and counts for size / p then
 */
#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2
#define SIZES	8
#define KEPT	64

static const size_t sizes[SIZES] = {17, 48, 97, 200, 501, 1021, 2003, 4099};
static double blocks[SIZES]; /* what the allocator takes for them */

struct sums {
	double allocated, variance, samples;
};

static volatile uint64_t *period;
static _Atomic char order = 'd';
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sums sums; /* under the lock */
static unsigned resting; /* threads, under the lock */

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static __attribute__((noinline)) void burst(unsigned count)
{
	double p[SIZES], variance[SIZES];
	struct sums mine = {0};
	void *kept[KEPT] = {NULL};
	uint64_t known = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned which = i % SIZES;

		for (; *period != known; known = *period)
			for (int k = 0; k < SIZES; k++) {
				p[k] = -expm1(-blocks[k] / (double)*period);
				variance[k] = (double)(sizes[k] * sizes[k]) * (1 - p[k]) / p[k];
			}
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(sizes[which]);
		if (!kept[i % KEPT])
			abort();
		mine.allocated += (double)sizes[which];
		mine.variance += variance[which];
		mine.samples += p[which];
	}
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
	pthread_mutex_lock(&lock);
	sums.allocated += mine.allocated;
	sums.variance += mine.variance;
	sums.samples += mine.samples;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
	bool rests = false;

	for (;;) {
		if ((order == 'd') != rests) {
			rests = !rests;
			pthread_mutex_lock(&lock);
			resting += rests ? 1 : -1;
			pthread_mutex_unlock(&lock);
		}
		if (!rests)
			burst(order == 'f' ? 2048 : SIZES);
		if (order != 'f')
			pause_ms(100);
	}
	return NULL;
}

static void *reporter(void *unused)
{
	struct sums before = {0}, now;

	for (;; before = now) {
		sleep(1);
		pthread_mutex_lock(&lock);
		now = sums;
		pthread_mutex_unlock(&lock);
		if (now.samples > before.samples)
			printf("rate %.0f %llu\n", now.samples - before.samples,
				(unsigned long long)*period);
	}
	return NULL;
}

static void end_wait(void)
{
	struct sums all = {0};

	for (unsigned rest = 0; rest < THREADS; pause_ms(1)) {
		pthread_mutex_lock(&lock);
		rest = resting;
		all = sums;
		pthread_mutex_unlock(&lock);
	}
	printf("done %.0f %.0f\n", all.allocated, sqrt(all.variance));
}

int main(void)
{
	pthread_t id;
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	period = dlsym(RTLD_DEFAULT, "allocprof_sample_period");
	if (!period || !*period)
		return 2;
	for (int i = 0; i < SIZES; i++) {
		void *block = malloc(sizes[i]);

		blocks[i] = (double)malloc_usable_size(block);
		free(block);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id, NULL, worker, NULL))
			return 1;
	if (pthread_create(&id, NULL, reporter, NULL))
		return 1;
	printf("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0) {
		order = byte;
		if (byte == 'd')
			end_wait();
	}
	return 0;
}
