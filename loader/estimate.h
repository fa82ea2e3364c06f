/* SPDX-License-Identifier: MIT */
/*
 * How far an estimate from samples may be off.
 *
 * A block of size s is sampled with probability p, independently of the others, and weighs
 * w = s / p then (see allocprof/probe.h). The sum of the weights of a set of blocks estimates their
 * bytes T; its variance is
 *
 *	sum over all blocks of s^2 (1 - p) / p,   estimated without bias by
 *	sum over the samples of w^2 (1 - p)  =  sum of w (w - s).
 *
 * The programs add that up (ap_counters.squares), so it is right whatever the period did meanwhile.
 * Live blocks are a set like any other, those that are there at the end: a free takes off what its
 * block has added. Of the number of blocks, k, the variance is taken to be V (k / W)^2, as if those
 * of one class of sizes were of one size; where they differ by the factor of two that a class
 * allows the deviation is low by up to 6%.
 *
 * Where the squares are not known, in files of others, or too coarse, with a period of hardly more
 * than their unit, n samples that stand for W bytes in k blocks are taken to be of one weight W / n
 * and one size W / k, and this is
 *
 *	V = W^2 (1/n - 1/k);   of the number of blocks, k in the place of W: k^2 (1/n - 1/k).
 *
 * Different weights make V larger and never smaller, so of the two the larger one is taken. Blocks
 * that are sampled always, n = k, are certain.
 *
 * The interval. The samples of a set are nearly a Poisson number of weights of about q = V / W, so
 * if T is true the estimate varies by T q. Those T are in the interval that W is likely for,
 * |W - T| <= z sqrt(T q) with z = 1.96:
 *
 *	T = W + z^2 q / 2 -+ sqrt(z^2 V + z^4 q^2 / 4)
 *
 * It reaches further up than down and, unlike W -+ z sqrt(V), holds its 95% with 20 samples
 * already; below that it says too little, as sizes that were never sampled count as none.
 */
#ifndef ALLOCPROF_ESTIMATE_H
#define ALLOCPROF_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include <allocprof/abi.h>

#include "profile.h"

/* The sum of one value over samples. Starts as {0}. */
struct ap_estimate {
	double value, variance;
};

/*
 * Adds a sample of a profile to a sum. Files of other profilers do not say how many samples there
 * were: there n is taken as k (1 - exp(-s / period)). A value of which nothing is known adds no
 * variance. Sums and differences of profiles have the sum of their variances, as if they were of
 * different blocks.
 */
void ap_estimate_add(struct ap_estimate *sum, const struct ap_profile *profile,
	const struct ap_sample *sample, enum ap_value value);

/*
 * Tells a sample the variance of a part of its bytes: `value` holds that part, which is either all
 * live or all freed.
 */
void ap_estimate_know(struct ap_sample *sample, const int64_t value[AP_VALUES], double variance);

/*
 * Whether the live blocks of a sample were also live at `earlier`, an earlier or the same moment of
 * the same recording. Such blocks have the same weights at both moments and cancel in the
 * difference, so their variance has to be left out on both sides.
 */
bool ap_estimate_cancels(const struct ap_profile *profile, const struct ap_sample *sample,
	const struct ap_profile *earlier);

/* How many samples of one weight would have that variance of their bytes: the n above. */
double ap_estimate_samples(double bytes, double objects, double variance);

/* Where the true value is, in 95 of 100 cases. */
void ap_estimate_range(const struct ap_estimate *sum, double *low, double *high);

/*
 * How much higher than the estimate the true value may be, as a share of the estimate; 0: it is
 * certain, or the estimate is 0.
 */
double ap_estimate_share(const struct ap_estimate *sum);

/* ---- From counters alone ---- */

/*
 * The variance of the live bytes, in square bytes. 0: nothing is live, or only blocks that are
 * always sampled.
 */
double ap_estimate_live_variance(
	const struct ap_counters *allocated, const struct ap_counters *freed);

/* Half the width of the 95% interval of an estimate from many samples. */
double ap_estimate_interval(double variance);

#endif
