// SPDX-License-Identifier: MIT
#include "estimate.h"

#include <math.h>

#define NORMAL_95 1.959964

double ap_estimate_variance(uint64_t samples, uint64_t bytes, uint64_t weight)
{
	double sum = (double)weight;

	/* Counters that go on while they are read may be a sample apart. */
	return !samples || weight <= bytes ? 0 : sum * (sum - (double)bytes) / (double)samples;
}

double ap_estimate_interval(double variance)
{
	return NORMAL_95 * sqrt(variance);
}
