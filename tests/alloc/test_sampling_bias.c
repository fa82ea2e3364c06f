// SPDX-License-Identifier: MIT
/*
 * The estimates are unbiased: at every size, through every function, for every site.
 *
 * A site that makes n allocations of `size` bytes in blocks of `block` bytes gets the estimate
 * sum(size / q) over its samples, q = 1 - exp(-block / period), of variance n size^2 (1 - q) / q.
 * Each estimate must lie within SIGMAS standard errors of the truth. With the normal approximation
 * a false alarm of one comparison at 6.5 has the probability 8e-11, so with fewer than a thousand
 * comparisons that of the whole test is below 1e-6 many times over; each has 150 expected samples
 * or more, for the approximation to hold that far out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <malloc.h>

#include <cmocka.h>

#include "listener.h"

#define SIGMAS 6.5

static double worst;

static double probability(size_t block, uint64_t period)
{
	return -expm1(-(double)block / (double)period);
}

static void site_count(struct site *site, const void *block, size_t size, uint64_t period)
{
	double q = probability(malloc_usable_size((void *)block), period);

	site->requested += size;
	site->calls++;
	site->variance += (double)size * (double)size * (1 - q) / q;
}

static void site_check(const struct site *site, const char *what, size_t size)
{
	double error = (double)site->weight - (double)site->requested;
	/* Rounding each weight to whole bytes adds at most half a byte a sample. */
	double sigma = sqrt(site->variance) + 0.5 * (double)site->samples / SIGMAS + 1e-9;
	double z = error / sigma;

	if (fabs(z) > worst)
		worst = fabs(z);
	if (fabs(z) > SIGMAS) {
		fprintf(stderr,
			"%s of %zu bytes: %lu requested, %lu estimated by %lu samples: z = %.1f\n",
			what, size, site->requested, site->weight, site->samples, z);
		fail();
	}
}

enum how { MALLOC, CALLOC, REALLOC_NEW, REALLOC_MOVE, REALLOC_STAY, ALIGNED, NEW, HOWS };

static const char *const how_names[HOWS] = {"malloc", "calloc", "realloc(NULL)", "realloc, moving",
	"realloc, in place", "aligned_alloc", "operator new"};

void *_Znwm(size_t size);

/* One allocation that counts; what it needs before does not. */
static void *allocate(enum how how, size_t size)
{
	struct site *site = listener_site;
	void *block;

	switch (how) {
	case MALLOC:
		return malloc(size);
	case CALLOC:
		return calloc(1, size);
	case REALLOC_NEW:
		return realloc(NULL, size);
	case REALLOC_MOVE:
		listener_site = NULL;
		block = malloc(size > 4096 ? 16 : 65536 * 2);
		listener_site = site;
		return realloc(block, size);
	case REALLOC_STAY:
		listener_site = NULL;
		block = malloc(size);
		listener_site = site;
		return realloc(block, size);
	case ALIGNED:
		return aligned_alloc(64, size);
	default:
		return _Znwm(size);
	}
}

static void test_every_size(void **state)
{
	static const size_t sizes[] = {1, 2, 8, 16, 17, 24, 64, 100, 128, 129, 200, 256, 257, 500,
		1000, 1024, 1025, 1500, 4096, 5000, 8192, 8193, 10000, 20000, 65536, 65537, 100000,
		1 << 20, 3 << 20, 64 << 20, (64 << 20) + 1};
	struct site mix = {0};

	for (enum how how = 0; how < HOWS; how++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			size_t size = sizes[k], block = size < 16 ? 16 : size;
			/* About 700 samples, of 40,000 to 1,000 allocations. */
			uint64_t period = block * (block < 65536 ? 60 : 4);
			long calls = block < 65536 ? 42000 : block < 1 << 20 ? 2800 : 700;
			struct site site = {0};

			if (period < 4096)
				calls = 700 * 4096 / block, period = 4096;
			if (how == CALLOC && size > 1 << 20)
				continue; /* 64 MiB of zeroes, 700 times */
			listener_attach(period);
			listener_site = &site;
			for (long i = 0; i < calls; i++) {
				void *pointer = allocate(how, size);

				site_count(&site, pointer, size, period);
				free(pointer);
			}
			listener_site = NULL;
			listener_detach();
			site_check(&site, how_names[how], size);
			assert_true(site.samples >= 90);
			mix.requested += site.requested;
			mix.weight += site.weight;
			mix.variance += site.variance;
			mix.samples += site.samples;
			assert_int_equal(listener_live(), 0);
		}
	site_check(&mix, "the mix", 0);
}

/* Small blocks in great numbers: the sum within half a percent, and the number of objects. */
static void test_mix_within_half_a_percent(void **state)
{
	const uint64_t period = 1024;
	static void *slot[1000];
	struct site site = {0};
	uint32_t seed = 1;
	double objects = 0, objects_variance = 0;

	listener_attach(period);
	listener_site = &site;
	for (long i = 0; i < 12000000; i++) {
		size_t size;
		void **at;
		double q;

		seed = seed * 1664525 + 1013904223;
		at = &slot[(seed >> 8) % 1000];
		free(*at);
		size = (seed >> 18) % 16 ? 1 + (seed >> 20) % 400 : 1 + (seed >> 20) % 4000;
		*at = malloc(size);
		site_count(&site, *at, size, period);
		q = probability(malloc_usable_size(*at), period);
		objects += 1;
		objects_variance += (1 - q) / q;
	}
	listener_site = NULL;
	for (int i = 0; i < 1000; i++)
		free(slot[i]);
	listener_detach();
	site_check(&site, "mixed sizes", 0);
	/* Half a percent is more than SIGMAS standard errors: no false alarm, and no slack. */
	assert_true(sqrt(site.variance) * SIGMAS < 0.005 * (double)site.requested);
	assert_true(fabs((double)site.weight / (double)site.requested - 1) < 0.005);
	assert_true(fabs(site.objects - objects) < SIGMAS * sqrt(objects_variance));
	printf("mix: %lu samples, bytes %+.3f%%, objects %+.3f%%\n", site.samples,
		100 * ((double)site.weight / (double)site.requested - 1),
		100 * (site.objects / objects - 1));
	assert_int_equal(listener_live(), 0);
}

/* A short period, and one from which on lists are padded and refills paid in advance. */
static const uint64_t short_and_long[] = {4096, 256 << 10};

/* Two sites that take turns in one size class, in every ratio of small numbers. */
static void alternate(uint64_t period)
{
	long calls = period == short_and_long[0] ? 300000 : 3000000;

	for (int a = 1; a <= 3; a++)
		for (int b = 1; b <= 3; b++) {
			struct site sites[2] = {{0}};

			listener_attach(period);
			for (long i = 0; i < calls; i++) {
				struct site *site = &sites[i % (a + b) >= a];
				void *block;

				listener_site = site;
				block = malloc(64);
				site_count(site, block, 64, period);
				listener_site = NULL;
				free(block);
			}
			listener_detach();
			site_check(&sites[0], "first of two sites", 64);
			site_check(&sites[1], "second of two sites", 64);
		}
}

static void test_alternating_sites(void **state)
{
	alternate(short_and_long[0]);
	alternate(short_and_long[1]);
}

/*
 * Bursts of the length of a free list: a page's worth is cut at a time, so 64 blocks of 64 bytes;
 * and of its neighbours. The first allocation of a burst is one site, the rest another: the first
 * is the one that comes right after a refill, when the lengths agree.
 */
static void burst(uint64_t period, int length, long bursts)
{
	struct site first = {0}, rest = {0};
	void *blocks[1024];

	listener_attach(period);
	for (long n = 0; n < bursts; n++) {
		for (int i = 0; i < length; i++) {
			struct site *site = i ? &rest : &first;

			listener_site = site;
			blocks[i] = malloc(64);
			site_count(site, blocks[i], 64, period);
		}
		listener_site = NULL;
		for (int i = 0; i < length; i++)
			free(blocks[i]);
	}
	listener_detach();
	site_check(&first, "first of a burst", 64);
	site_check(&rest, "rest of a burst", 64);
}

static void test_bursts(void **state)
{
	static const int lengths[] = {2, 31, 32, 63, 64, 65, 127, 128, 256, 512, 1024};

	for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++)
		burst(short_and_long[0], lengths[k],
			lengths[k] < 64 ? 60000 : 4000000 / lengths[k]);
	burst(short_and_long[1], 2, 700000);
	burst(short_and_long[1], 32, 700000);
}

/* Many classes against one countdown: each has its share. */
static void classes_check(uint64_t period, long calls)
{
	static const size_t sizes[] = {16, 48, 64, 112, 320, 1024, 2048, 7000, 30000, 100000};
	struct site sites[10] = {{0}};

	listener_attach(period);
	for (long i = 0; i < calls; i++) {
		/* Small ones more often, so that all are charged alike. */
		int k = i % 512 == 0 ? 9 : i % 128 == 1 ? 8 : i % 32 == 2 ? 7 : i % 7;
		void *block;

		listener_site = &sites[k];
		block = malloc(sizes[k]);
		site_count(&sites[k], block, sizes[k], period);
		listener_site = NULL;
		free(block);
	}
	listener_detach();
	for (int k = 0; k < 10; k++)
		site_check(&sites[k], "one of many classes", sizes[k]);
}

static void test_classes_share_a_countdown(void **state)
{
	classes_check(65536, 3000000);
	classes_check(256 << 10, 12000000);
}

/* Blocks replaced at random: malloc goes from span to span, and most refills are paid in advance. */
static void test_random_replacement(void **state)
{
	static const size_t sizes[] = {112, 512, 1000};
	static void *slot[20000];
	struct site sites[3] = {{0}};
	uint32_t seed = 1;

	listener_attach(short_and_long[1]);
	for (long i = 0; i < 6000000; i++) {
		void **at;
		int k = i % 3;

		seed = seed * 1664525 + 1013904223;
		at = &slot[(seed >> 8) % 20000];
		free(*at);
		listener_site = &sites[k];
		*at = malloc(sizes[k]);
		site_count(&sites[k], *at, sizes[k], short_and_long[1]);
		listener_site = NULL;
	}
	for (int i = 0; i < 20000; i++)
		free(slot[i]);
	listener_detach();
	for (int k = 0; k < 3; k++) {
		site_check(&sites[k], "random replacement", sizes[k]);
		assert_true(sites[k].samples >= 500);
	}
}

/* A block that always takes the slow path, where whether somebody listens is seen. */
static void notice(void)
{
	free(malloc(100000));
}

/*
 * Many attaches, each too short for a list that was exposed before it to come to its end, with other
 * blocks of its span free: what is charged at once, and what later, must not depend on the point.
 */
static void test_short_attaches(void **state)
{
	static void *slot[64];
	struct site site = {0};
	uint32_t seed = 1;

	for (long n = 0; n < 40000; n++) {
		for (int i = 0; i < 96; i++) {
			void **at;

			if (i == 48) {
				listener_attach(short_and_long[1]);
				notice();
			}
			listener_site = i < 48 ? NULL : &site;
			seed = seed * 1664525 + 1013904223;
			at = &slot[seed >> 26];
			free(*at);
			*at = malloc(512);
			if (i >= 48)
				site_count(&site, *at, 512, short_and_long[1]);
		}
		listener_site = NULL;
		listener_detach();
		listener_forget();
		notice();
	}
	for (int i = 0; i < 64; i++)
		free(slot[i]);
	site_check(&site, "malloc in short attaches", 512);
	assert_true(site.samples >= 1500);
}

/* The period changes while the listener is there: the weights stay exact. */
static void test_period_changes(void **state)
{
	static const uint64_t periods[] = {4096, 512 << 10, 1 << 20, 16384};
	struct site site = {0};

	listener_attach(periods[0]);
	listener_site = &site;
	for (long i = 0; i < 4000000; i++) {
		uint64_t period = periods[i / 1000 % 4];
		void *block;

		if (i % 1000 == 0) {
			listener_attach(period);
			listener_detach();
		}
		block = malloc(200);
		/* A list that is out keeps its period: the larger variance bounds both. */
		site_count(&site, block, 200, 1 << 20);
		free(block);
	}
	listener_site = NULL;
	listener_detach();
	site_check(&site, "malloc under changing periods", 200);
}

static int report(void **state)
{
	printf("largest |z| of all comparisons: %.2f\n", worst);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_mix_within_half_a_percent),
		cmocka_unit_test(test_alternating_sites),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_classes_share_a_countdown),
		cmocka_unit_test(test_random_replacement),
		cmocka_unit_test(test_short_attaches),
		cmocka_unit_test(test_period_changes),
	};

	return cmocka_run_group_tests(tests, NULL, report);
}
