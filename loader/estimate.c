// SPDX-License-Identifier: MIT
#include "estimate.h"

#include <math.h>

#define NORMAL_95 1.959964

double ap_estimate_error(uint64_t samples, uint64_t bytes, uint64_t weight)
{
	double sum = (double)weight;

	/* Counters that go on while they are read may be a sample apart. */
	if (!samples || weight <= bytes)
		return 0;
	return NORMAL_95 * sqrt(sum * (sum - (double)bytes) / (double)samples);
}
