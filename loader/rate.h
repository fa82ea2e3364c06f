/* SPDX-License-Identifier: MIT */
/*
 * --max-rate: which sampling period keeps the samples of a second below a number. The weights stay
 * exact, since the allocator weighs each sample with the period that it was drawn with, and what
 * period is next depends on the past only.
 */
#ifndef ALLOCPROF_RATE_H
#define ALLOCPROF_RATE_H

#include <stdint.h>

/* How often to step: what comes in that time before the first step is not limited. */
#define AP_RATE_TICK_MS 20

struct ap_rate {
	uint64_t most;	 /* samples in a second */
	uint64_t lowest; /* the period that was asked for, which is never gone below */
	uint64_t period; /* in force */
	/* When it was last decided, and the samples by then. */
	uint64_t since_ns;
	uint64_t samples;
};

/*
 * The period from now on, rate->period too. `samples` is how many there have been in all. A rate
 * starts with `most`, `lowest`, `period` = `lowest`, and `since_ns` set.
 */
uint64_t ap_rate_step(struct ap_rate *rate, uint64_t now_ns, uint64_t samples);

#endif
