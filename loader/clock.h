/* SPDX-License-Identifier: MIT */
/* The system's clocks, in nanoseconds. */
#ifndef ALLOCPROF_CLOCK_H
#define ALLOCPROF_CLOCK_H

#include <stdint.h>
#include <time.h>

#define AP_SECOND_NS	  1000000000LL
#define AP_MILLISECOND_NS 1000000LL

static inline int64_t ap_timespec_ns(struct timespec time)
{
	return time.tv_sec * AP_SECOND_NS + time.tv_nsec;
}

/* The time by CLOCK_MONOTONIC, or by CLOCK_REALTIME for Unix time. */
static inline uint64_t ap_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)ap_timespec_ns(now);
}

#endif
