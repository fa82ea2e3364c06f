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

/* What is known of a sample of a profile beside its values. */
enum known { NOTHING, COUNTS, SQUARES };

/*
 * A sample as it would be recorded of these blocks, half of which met a period `factor` times the
 * other's, by as many samples.
 */
static struct ap_sample sample_draw(
	uint64_t *state, const double blocks[2], const double p[2], double size, enum known known)
{
	struct ap_sample sample = {0};
	uint64_t number = 0, squares = 0;
	double objects = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t drawn = sampled(state, blocks[i], p[i]);

		number += drawn;
		objects += (double)drawn / p[i];
		squares += drawn * ap_square_of((uint64_t)size, (uint64_t)llround(size / p[i]));
	}
	sample.value[AP_ALLOC_OBJECTS] = sample.value[AP_INUSE_OBJECTS] = llround(objects);
	sample.value[AP_ALLOC_SPACE] = sample.value[AP_INUSE_SPACE] = llround(objects * size);
	if (known != NOTHING)
		sample.samples = number;
	if (known == SQUARES)
		ap_estimate_know(&sample, sample.value, ldexp((double)squares, AP_SQUARE_SHIFT));
	return sample;
}

/* The share of recordings whose interval holds what is true, of a site with about this many samples
 * of each size, when the period moves by that factor half way. */
static double coverage(double each, double factor, enum ap_value value, enum known known)
{
	struct ap_profile *profile = ap_profile_new();
	bool is_bytes = value == AP_ALLOC_SPACE || value == AP_INUSE_SPACE;
	double truth = 0, blocks[SIZES][2], p[SIZES][2];
	uint64_t state = 1;
	int covered = 0;

	profile->info.period = 524288;
	for (int i = 0; i < SIZES; i++) {
		for (int half = 0; half < 2; half++) {
			double period = (double)profile->info.period / (half ? factor : 1);

			p[i][half] = -expm1(-charged[i] / period);
			blocks[i][half] = ceil(each / 2 / p[i][half]);
			truth += blocks[i][half] * (is_bytes ? sizes[i] : 1);
		}
	}
	for (int r = 0; r < RECORDINGS; r++) {
		struct ap_estimate sum = {0};
		double low, high;

		for (int i = 0; i < SIZES; i++) {
			struct ap_sample sample =
				sample_draw(&state, blocks[i], p[i], sizes[i], known);

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
static const double off = 0.0127;

static void the_interval_holds_what_is_true(void **state)
{
	assert_true(off < 0.0051 + 5 * sqrt(0.95 * 0.05 / RECORDINGS));
	for (double each = 4; each <= 50; each *= 3) {
		for (int value = 0; value < AP_VALUES; value++) {
			assert_float_equal(coverage(each, 1, value, COUNTS), 0.95, off);
			assert_float_equal(coverage(each, 1, value, SQUARES), 0.95, off);
		}
		/* Files of others: what is charged for a block is taken to be its size. */
		assert_in_range(coverage(each, 1, AP_ALLOC_SPACE, NOTHING) * 1000, 950, 980);
	}
}

/* So it does when --max-rate moves the period meanwhile, which the counts alone would not see. */
static void the_interval_knows_of_other_periods(void **state)
{
	for (double factor = 4; factor <= 16; factor *= 4) {
		for (double each = 16; each <= 64; each *= 4)
			for (int value = AP_INUSE_OBJECTS; value < AP_VALUES; value++)
				assert_float_equal(
					coverage(each, factor, value, SQUARES), 0.95, off);
	}
	assert_true(coverage(64, 16, AP_INUSE_SPACE, COUNTS) < 0.92);
}

/* Blocks that are always sampled have no error, nor has a sum of nothing. */
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

/* The width of the interval of live blocks, of which some have been freed, without squares. */
static double live_width(uint64_t samples, uint64_t size, uint64_t weight)
{
	struct ap_counters freed = {3, 0, 3 * size, 3 * weight, 0};
	struct ap_counters all = {samples + 3, 0, (samples + 3) * size, (samples + 3) * weight, 0};

	return ap_estimate_interval(ap_estimate_live_variance(&all, &freed));
}

static void nothing_is_certain(void **state)
{
	struct ap_counters odd = {1, 0, 4096, 1024, 0}, none = {0};

	assert_true(live_width(0, 16, 524288) == 0);
	/* The weight of blocks that are always sampled is their size. */
	assert_true(live_width(7, 1 << 20, 1 << 20) == 0);
	/* A sample that is counted between two readings must not give infinity or NaN. */
	assert_true(ap_estimate_live_variance(&odd, &none) == 0);
	assert_true(ap_estimate_live_variance(&none, &odd) == 0);
}

/* Against the variance of the estimator: n blocks of size s, each with probability p for s / p. */
static void one_size_is_exact(void **state)
{
	const double period = 524288, size = 4096, blocks = 1e6;
	double p = -expm1(-size / period), weight = size / p;
	double deviation = sqrt(blocks * size * size * (1 - p) / p);
	double got = live_width((uint64_t)llround(blocks * p), 4096, (uint64_t)llround(weight));

	assert_float_equal(got / (1.959964 * deviation), 1, 0.001);
}

/* Small blocks: a site of n samples is known to 196% / sqrt(n). */
static void small_blocks_follow_the_count(void **state)
{
	assert_float_equal(live_width(100, 16, 524288) / (100 * 524288.0), 0.196, 0.001);
}

/* Ten live blocks of one weight and one of ten times that, and three have been freed. */
static void squares_of_the_freed_are_taken_off(void **state)
{
	const uint64_t size = 64, weight = 1 << 20;
	struct ap_counters all = {14, 0, 14 * size, 23 * weight,
		13 * ap_square_of(size, weight) + ap_square_of(size, 10 * weight)};
	struct ap_counters freed = {3, 0, 3 * size, 3 * weight, 3 * ap_square_of(size, weight)};
	double square = (double)weight * (double)weight;

	assert_float_equal(ap_estimate_live_variance(&all, &freed) / square, 110, 0.1);
	/* Without them it is what eleven of one weight would have. */
	all.squares = freed.squares = 0;
	assert_float_equal(ap_estimate_live_variance(&all, &freed) / square, 400 / 11.0, 0.1);
}

/* To half a unit, and of the largest blocks to the thousandth. */
static void squares_have_a_unit(void **state)
{
	const double unit = ldexp(1, AP_SQUARE_SHIFT);

	assert_int_equal(ap_square_of(16, 16), 0);
	assert_int_equal(ap_square_of(32, 16), 0);
	for (double weight = 64; weight < 0x1p40; weight *= 1.7) {
		uint64_t rounded = (uint64_t)weight, size = rounded / 3;
		double exact = (double)rounded * (double)(rounded - size) / unit;

		assert_float_equal((double)ap_square_of(size, rounded), exact,
			weight < 0x1p32 ? 0.51 : exact / 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_holds_what_is_true),
		cmocka_unit_test(the_interval_knows_of_other_periods),
		cmocka_unit_test(an_interval_may_be_a_point),
		cmocka_unit_test(nothing_is_certain),
		cmocka_unit_test(one_size_is_exact),
		cmocka_unit_test(small_blocks_follow_the_count),
		cmocka_unit_test(squares_of_the_freed_are_taken_off),
		cmocka_unit_test(squares_have_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
