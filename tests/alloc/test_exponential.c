// SPDX-License-Identifier: MIT
/* The sampler's two functions against libm's, and the draw against its distribution. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exponential.h"

static void test_cdf_agrees_with_libm(void **state)
{
	double worst = 0;

	assert_true(ap_exponential_cdf(0) == 0);
	for (double x = 1e-12; x < 1e4; x *= 1.0007)
		worst = fmax(worst, fabs(ap_exponential_cdf(x) / -expm1(-x) - 1));
	printf("largest relative error: %g\n", worst);
	assert_true(worst < 1e-12);
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/*
 * Kolmogorov and Smirnov's statistic of a million draws, for several seeds: above
 * sqrt(ln(2 / 1e-8) / 2 / n) with a probability below 1e-8 each (Massart's inequality).
 */
static void test_draws_are_exponential(void **state)
{
	const int n = 1000000;
	double *draws = malloc(n * sizeof(*draws));

	for (uint64_t seed = 0; seed < 5; seed++) {
		uint64_t generator = seed;
		double statistic = 0;

		for (int i = 0; i < n; i++) {
			draws[i] = ap_exponential_draw(&generator);
			assert_true(draws[i] >= 0 && draws[i] < 37); /* -ln 2^-53 = 36.7 */
		}
		qsort(draws, n, sizeof(*draws), by_value);
		for (int i = 0; i < n; i++) {
			double expected = -expm1(-draws[i]);

			statistic = fmax(statistic,
				fmax(expected - (double)i / n, (double)(i + 1) / n - expected));
		}
		assert_true(statistic < sqrt(log(2 / 1e-8) / 2 / n));
	}
	free(draws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cdf_agrees_with_libm),
		cmocka_unit_test(test_draws_are_exponential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
