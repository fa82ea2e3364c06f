// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate.h"

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
		cmocka_unit_test(nothing_is_certain),
		cmocka_unit_test(one_size_is_exact),
		cmocka_unit_test(small_blocks_follow_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
