// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate.h"

#define RECORDINGS 20000
#define SIZES	   5

/* The blocks of a site: as many of each size, with the bytes that the allocator charges for one. */
static const double sizes[SIZES] = {17, 97, 4099, 262147, 1048573};
static const double charged[SIZES] = {32, 112, 5120, 262160, 1048592};

/* Uniform in (0, 1]; always the same numbers. */
static double random_unit(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return ((double)((mixed ^ mixed >> 31) >> 11) + 1) * 0x1p-53;
}

/* How many of `blocks` are sampled: the distances between them are geometric. */
static uint64_t sampled(uint64_t *state, double blocks, double p)
{
	uint64_t count = 0;

	for (double at = 0;; count++) {
		at += 1 + floor(log(random_unit(state)) / log1p(-p));
		if (at > blocks)
			return count;
	}
}

/* The share of recordings whose interval holds what is true, of a site with about this many samples
 * of each size. */
static double coverage(double each, enum ap_value value, bool has_samples)
{
	struct ap_profile *profile = ap_profile_new();
	bool is_bytes = value == AP_ALLOC_SPACE || value == AP_INUSE_SPACE;
	double truth = 0, blocks[SIZES], p[SIZES];
	uint64_t state = 1;
	int covered = 0;

	profile->info.period = 524288;
	for (int i = 0; i < SIZES; i++) {
		p[i] = -expm1(-charged[i] / (double)profile->info.period);
		blocks[i] = ceil(each / p[i]);
		truth += blocks[i] * (is_bytes ? sizes[i] : 1);
	}
	for (int r = 0; r < RECORDINGS; r++) {
		struct ap_estimate sum = {0};
		double low, high;

		for (int i = 0; i < SIZES; i++) {
			uint64_t samples = sampled(&state, blocks[i], p[i]);
			int64_t objects = llround((double)samples / p[i]);
			int64_t bytes = llround((double)samples * sizes[i] / p[i]);
			struct ap_sample sample = {
				.value = {objects, bytes, objects, bytes},
				.samples = has_samples ? samples : 0,
			};

			ap_estimate_add(&sum, profile, &sample, value);
		}
		ap_estimate_range(&sum, &low, &high);
		covered += low <= truth && truth <= high;
	}
	ap_profile_free(profile);
	return (double)covered / RECORDINGS;
}

/*
 * 95 of 100, of sites from 20 samples of mixed sizes on: within five standard deviations of that
 * binomial count, a false alarm in less than a million, and half a percent for what the normal
 * distribution does not describe.
 */
static void the_interval_holds_what_is_true(void **state)
{
	const double off = 0.005 + 5 * sqrt(0.95 * 0.05 / RECORDINGS);

	for (double each = 4; each <= 50; each *= 3) {
		for (int value = 0; value < AP_VALUES; value++)
			assert_float_equal(coverage(each, value, true), 0.95, off);
		/* Files of others: what is charged for a block is taken to be its size. */
		assert_in_range(coverage(each, AP_ALLOC_SPACE, false) * 1000, 950, 980);
	}
}

/* What is sampled always is certain, and nothing is nothing. */
static void an_interval_may_be_a_point(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_sample certain = {.value = {3, 9 << 20, 3, 9 << 20}, .samples = 3};
	struct ap_estimate sum = {0};
	double low, high;

	ap_estimate_range(&sum, &low, &high);
	assert_true(low == 0 && high == 0 && ap_estimate_share(&sum) == 0);
	ap_estimate_add(&sum, profile, &certain, AP_INUSE_SPACE);
	ap_estimate_range(&sum, &low, &high);
	assert_true(low == 9 << 20 && high == 9 << 20 && ap_estimate_share(&sum) == 0);
	ap_profile_free(profile);
}

static double half_width(double samples, double bytes, double weight)
{
	return ap_estimate_interval(
		ap_estimate_variance((uint64_t)samples, (uint64_t)bytes, weight));
}

static void nothing_is_certain(void **state)
{
	assert_true(half_width(0, 0, 0) == 0);
	/* Blocks that are always sampled weigh what they are. */
	assert_true(half_width(7, 7 << 20, 7 << 20) == 0);
	/* A sample that is counted between two readings must not make a number of nothing. */
	assert_true(half_width(1, 4096, 1024) == 0);
}

/* Against the variance of the estimator: n blocks of size s, each with probability p for s / p. */
static void one_size_is_exact(void **state)
{
	const double period = 524288, size = 4096, blocks = 1e6;
	double p = -expm1(-size / period), samples = blocks * p, weight = size / p;
	double deviation = sqrt(blocks * size * size * (1 - p) / p);
	double got = half_width(
		(uint64_t)samples, (uint64_t)(samples * size), (uint64_t)(samples * weight));

	assert_float_equal(got / (1.959964 * deviation), 1, 0.001);
}

/* Small blocks: a site of n samples is known to 196% / sqrt(n). */
static void small_blocks_follow_the_count(void **state)
{
	double weight = 100 * 524288.0;

	assert_float_equal(half_width(100, 1600, weight) / weight, 0.196, 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_holds_what_is_true),
		cmocka_unit_test(an_interval_may_be_a_point),
		cmocka_unit_test(nothing_is_certain),
		cmocka_unit_test(one_size_is_exact),
		cmocka_unit_test(small_blocks_follow_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
