/* SPDX-License-Identifier: MIT */
/* The two transcendental functions that sampling needs, without libm. */
#ifndef ALLOC_EXPONENTIAL_H
#define ALLOC_EXPONENTIAL_H

#include <stdint.h>

/* -ln of a uniform draw in (0, 1], that is, an exponential of mean 1. Advances the state. */
double ap_exponential_draw(uint64_t *state);

/* 1 - exp(-x) for x >= 0, to a relative error below 1e-12 also for tiny x. */
double ap_exponential_cdf(double x);

#endif
