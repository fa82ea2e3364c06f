/* SPDX-License-Identifier: MIT */
/* The progress of long work, and who is told of it. */
#ifndef ALLOCPROF_WORK_H
#define ALLOCPROF_WORK_H

#include <stdint.h>

struct ap_work {
	/*
	 * Called before each step: `done` of `total` steps are done; `next` names the one that
	 * comes, NULL: it has no name. Is called often, so it has to be fast.
	 */
	void (*step)(struct ap_work *work, uint64_t done, uint64_t total, const char *next);
};

/* Tells of a step. work NULL: nobody wants to know. */
static inline void ap_work_step(
	struct ap_work *work, uint64_t done, uint64_t total, const char *next)
{
	if (work)
		work->step(work, done, total, next);
}

#endif
