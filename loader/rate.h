/* SPDX-License-Identifier: MIT */
/*
 * --max-rate: chooses the sampling period that keeps the number of samples a second below a limit.
 * Estimates stay unbiased, since the allocator weighs each sample by the period that it was drawn
 * with, and the choice of the next period depends only on the past.
 */
#ifndef ALLOCPROF_RATE_H
#define ALLOCPROF_RATE_H

#include <stdint.h>

/* How often to call ap_rate_step(). Samples that come before its first call are not limited. */
#define AP_RATE_TICK_MS 20

struct ap_rate {
	uint64_t most;	 /* the limit: samples in a second */
	uint64_t lowest; /* the period that was asked for: it never goes below */
	uint64_t period; /* in force */
	/* When the period was last chosen, and how many samples there had been by then. */
	uint64_t since_ns;
	uint64_t samples;
};

/*
 * Chooses the period from now on, sets rate->period to it and returns it. `samples`: how many there
 * have been in all; now_ns: CLOCK_MONOTONIC. A rate starts with `most`, `lowest`, `period` =
 * `lowest`, and `since_ns` set.
 */
uint64_t ap_rate_step(struct ap_rate *rate, uint64_t now_ns, uint64_t samples);

#endif
