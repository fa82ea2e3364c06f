// SPDX-License-Identifier: MIT
#include "estimate.h"

#include <math.h>

#define NORMAL_95 1.959964

/* What would be less of a sample was not sampled with that period. */
#define LEAST_SAMPLES 0.05

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

void ap_estimate_add(struct ap_estimate *sum, const struct ap_profile *profile,
	const struct ap_sample *sample, enum ap_value value)
{
	bool is_live = value == AP_INUSE_OBJECTS || value == AP_INUSE_SPACE;
	double objects = (double)sample->value[is_live ? AP_INUSE_OBJECTS : AP_ALLOC_OBJECTS];
	double bytes = (double)sample->value[is_live ? AP_INUSE_SPACE : AP_ALLOC_SPACE];
	double itself = (double)sample->value[value], samples = (double)sample->samples;

	sum->value += itself;
	if (sample->variance[value] > 0) {
		sum->variance += sample->variance[value];
		return;
	}
	if (!sample->samples && profile->info.period > 0 && objects > 0) {
		samples = objects * -expm1(-bytes / objects / (double)profile->info.period);
		if (samples < LEAST_SAMPLES)
			samples = 0;
	}
	if (samples > 0 && objects > samples)
		sum->variance += itself * itself * (1 / samples - 1 / objects);
}

void ap_estimate_range(const struct ap_estimate *sum, double *low, double *high)
{
	const double z2 = NORMAL_95 * NORMAL_95;
	double weight = sum->value > 0 ? sum->variance / sum->value : 0;
	double middle = sum->value + z2 * weight / 2;
	double half = sqrt(z2 * sum->variance + z2 * z2 * weight * weight / 4);

	*low = middle - half;
	*high = middle + half;
}

double ap_estimate_share(const struct ap_estimate *sum)
{
	double low, high;

	if (sum->value <= 0)
		return 0;
	ap_estimate_range(sum, &low, &high);
	return high / sum->value - 1;
}
