/* SPDX-License-Identifier: MIT */
/* How far an estimate from samples may be off. */
#ifndef ALLOCPROF_ESTIMATE_H
#define ALLOCPROF_ESTIMATE_H

#include <stdint.h>

/*
 * The variance of the bytes that `samples` samples of `bytes` bytes stand for with `weight`. A
 * block of size s is sampled with probability p and weighs w = s / p then, so its part of it is
 * estimated by w (w - s). Exact for blocks of one size; where sizes are mixed their mean is taken,
 * and the result is somewhat low. 0: nothing was sampled, or what is always sampled.
 */
double ap_estimate_variance(uint64_t samples, uint64_t bytes, uint64_t weight);

/* Half the width of the 95% interval of an estimate. */
double ap_estimate_interval(double variance);

#endif
