// SPDX-License-Identifier: MIT
/*
 * Threads that run before the attach are reached, and at once: the bytes that each is charged for
 * from the attach to its first sample are exponential with mean = period. For threads of every
 * habit, after a re-attach, and after the period has changed.
 *
 * Each of the periods gets THREADS * ROUNDS = 2,400 distances. Their mean must lie within 4.9
 * standard errors (10%; two-sided false alarm 1e-6), and the Kolmogorov-Smirnov statistic below
 * sqrt(ln(2 / 1e-7) / 2 / n) = 0.059 (false alarm 1e-7, by Massart's inequality). That the kernel
 * raises the semaphore of a running process is for the tests of the whole tool to show.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <malloc.h>

#include <cmocka.h>

#include "listener.h"

#define THREADS 16
#define ROUNDS	150
#define PERIODS 3
#define SLOTS	32

static bool ended; /* atomic */
static double distances[THREADS];
static pthread_barrier_t everybody; /* and the main thread */
static pthread_barrier_t sleepers;  /* and the main thread */

/* One allocation by the habit of thread `who`, in place of `old`. */
static void *habit_alloc(int who, uint32_t *seed, void *old)
{
	*seed = *seed * 1664525 + 1013904223;
	if (who % 8 == 6)
		return realloc(old, 1 + (*seed >> 12) % 500);
	free(old);
	switch (who % 8) {
	case 0:
		return malloc(64);
	case 1:
		return malloc(1 + (*seed >> 12) % 20000);
	case 2:
		return malloc(1);
	case 3:
		return calloc(1, 200);
	case 4:
		return aligned_alloc(256, 300);
	case 5:
		return malloc(70000);
	default:
		return malloc(16 + (*seed >> 12) % 1000);
	}
}

static double uniform(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return ((*seed >> 8) + 0.5) * 0x1p-24;
}

/*
 * Allocates until a sample is taken, and returns the bytes from the attach to it. The sample is
 * known to lie somewhere in the last block: where, is drawn from the distribution that it has in
 * there.
 */
static double distance_measure(int who, uint32_t *seed, void **slot)
{
	uint64_t before = listener_thread_samples;
	double bytes = 0, block, period;

	for (unsigned i = 0;; i++) {
		void **at = &slot[i % SLOTS];
		bool attached = listener_attached();

		*at = habit_alloc(who, seed, *at);
		block = (double)malloc_usable_size(*at);
		if (listener_thread_samples != before)
			break;
		if (attached)
			bytes += block;
	}
	period = (double)listener_period();
	return bytes - period * log1p(-uniform(seed) * -expm1(-block / period));
}

/* Threads of the upper half sleep through the attach; the others are in the middle of allocating.
 */
static void *runner(void *argument)
{
	int who = (int)(intptr_t)argument;
	uint32_t seed = who * 77 + 1;
	void *slot[SLOTS] = {NULL};

	for (;;) {
		for (int i = 0; i < 100 + who * 13; i++)
			slot[i % SLOTS] = habit_alloc(who, &seed, slot[i % SLOTS]);
		pthread_barrier_wait(&everybody); /* warm; the main thread attaches now */
		if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
			break;
		if (who >= THREADS / 2)
			pthread_barrier_wait(&sleepers); /* it has attached */
		distances[who] = distance_measure(who, &seed, slot);
		pthread_barrier_wait(&everybody); /* measured */
		pthread_barrier_wait(&everybody); /* detached */
	}
	for (int i = 0; i < SLOTS; i++)
		free(slot[i]);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void test_first_samples(void **state)
{
	static const uint64_t periods[PERIODS] = {16 << 10, 256 << 10, 2 << 20};
	static double all[PERIODS][THREADS * ROUNDS];
	pthread_t threads[THREADS];

	pthread_barrier_init(&everybody, NULL, THREADS + 1);
	pthread_barrier_init(&sleepers, NULL, THREADS / 2 + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, runner, (void *)(intptr_t)i);
	/* The periods take turns: each attach follows one with another period. */
	for (int round = 0; round < ROUNDS; round++)
		for (int p = 0; p < PERIODS; p++) {
			pthread_barrier_wait(&everybody);
			listener_attach(periods[p]);
			pthread_barrier_wait(&sleepers);
			pthread_barrier_wait(&everybody);
			listener_detach();
			listener_forget();
			for (int i = 0; i < THREADS; i++)
				all[p][round * THREADS + i] = distances[i];
			pthread_barrier_wait(&everybody);
		}
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&everybody);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	for (int p = 0; p < PERIODS; p++) {
		const int n = THREADS * ROUNDS;
		double mean = 0, statistic = 0;

		qsort(all[p], n, sizeof(double), by_value);
		for (int i = 0; i < n; i++) {
			double expected = -expm1(-all[p][i] / (double)periods[p]);

			mean += all[p][i] / n / (double)periods[p];
			statistic = fmax(statistic,
				fmax(expected - (double)i / n, (double)(i + 1) / n - expected));
		}
		printf("period %lu: %d first samples at %.3f periods on average, KS %.4f\n",
			periods[p], n, mean, statistic);
		assert_true(fabs(mean - 1) < 4.9 / sqrt(n));
		assert_true(statistic < sqrt(log(2 / 1e-7) / 2 / n));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_samples)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
