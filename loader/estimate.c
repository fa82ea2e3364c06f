// SPDX-License-Identifier: MIT
#include "estimate.h"

#include <math.h>
#include <string.h>

#define NORMAL_95 1.959964

/* A stack with less than this share of a sample was not sampled with that period. */
#define LEAST_SAMPLES 0.05

/* The variance if all samples are of one size: a lower bound for samples of different sizes. */
static double variance_of_counts(double sum, double samples, double objects)
{
	return samples > 0 && objects > samples ? sum * sum * (1 / samples - 1 / objects) : 0;
}

double ap_estimate_live_variance(
	const struct ap_counters *allocated, const struct ap_counters *freed)
{
	double sum, bytes, squares = 0;

	/* Counters that change while they are read may be a sample apart. */
	if (allocated->samples <= freed->samples || allocated->weight <= freed->weight)
		return 0;
	if (allocated->squares > freed->squares)
		squares = ldexp((double)(allocated->squares - freed->squares), AP_SQUARE_SHIFT);
	sum = (double)(allocated->weight - freed->weight);
	bytes = (double)(int64_t)(allocated->bytes - freed->bytes);
	if (sum <= bytes)
		return squares;
	return fmax(squares, sum * (sum - bytes) / (double)(allocated->samples - freed->samples));
}

double ap_estimate_interval(double variance)
{
	/* Rounding can make a difference slightly negative. */
	return NORMAL_95 * sqrt(fmax(variance, 0));
}

void ap_estimate_add(struct ap_estimate *sum, const struct ap_profile *profile,
	const struct ap_sample *sample, enum ap_value value)
{
	bool is_live = value == AP_INUSE_OBJECTS || value == AP_INUSE_SPACE;
	double objects = (double)sample->value[is_live ? AP_INUSE_OBJECTS : AP_ALLOC_OBJECTS];
	double bytes = (double)sample->value[is_live ? AP_INUSE_SPACE : AP_ALLOC_SPACE];
	double itself = (double)sample->value[value], samples = (double)sample->samples;

	sum->value += itself;
	if (profile->is_merged) {
		sum->variance += sample->variance[value];
		return;
	}
	if (!sample->samples && profile->info.period > 0 && objects > 0) {
		samples = objects * -expm1(-bytes / objects / (double)profile->info.period);
		if (samples < LEAST_SAMPLES)
			samples = 0;
	}
	sum->variance +=
		fmax(sample->variance[value], variance_of_counts(itself, samples, objects));
}

void ap_estimate_know(struct ap_sample *sample, const int64_t value[AP_VALUES], double variance)
{
	static const enum ap_value sides[][2] = {
		{AP_ALLOC_SPACE, AP_ALLOC_OBJECTS}, {AP_INUSE_SPACE, AP_INUSE_OBJECTS}};

	for (int i = 0; i < 2; i++) {
		enum ap_value bytes = sides[i][0], objects = sides[i][1];
		double share;

		if (value[bytes] <= 0)
			continue;
		share = (double)value[objects] / (double)value[bytes];
		sample->variance[bytes] += variance;
		sample->variance[objects] += variance * share * share;
	}
}

static bool is_same_recording(const struct ap_profile_info *a, const struct ap_profile_info *b)
{
	return a->start_ns && a->start_ns == b->start_ns && a->pid == b->pid &&
	       !strcmp(a->host ? a->host : "", b->host ? b->host : "");
}

bool ap_estimate_cancels(const struct ap_profile *profile, const struct ap_sample *sample,
	const struct ap_profile *earlier)
{
	int64_t now = profile->info.duration_ns, since = now - earlier->info.duration_ns;

	/* The class of ages counts as live then only if its youngest blocks were. */
	return sample->labels.age >= 0 && since >= 0 &&
	       is_same_recording(&profile->info, &earlier->info) &&
	       now / AP_AGES * sample->labels.age >= since;
}

double ap_estimate_samples(double bytes, double objects, double variance)
{
	double square = bytes * bytes;

	return square > 0 && objects > 0 ? square / (variance + square / objects) : 0;
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
