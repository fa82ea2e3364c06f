/* SPDX-License-Identifier: MIT */
/* Long work, and somebody who is told how far it is. */
#ifndef ALLOCPROF_WORK_H
#define ALLOCPROF_WORK_H

#include <stddef.h>
#include <stdint.h>

struct ap_work {
	/*
	 * Called before each step: `done` of `total` are done, `next` is what comes; NULL: it has
	 * no name. Often: it is for the other to be brief.
	 */
	void (*step)(struct ap_work *work, uint64_t done, uint64_t total, const char *next);
};

/* NULL: nobody wants to know. */
static inline void ap_work_step(
	struct ap_work *work, uint64_t done, uint64_t total, const char *next)
{
	if (work)
		work->step(work, done, total, next);
}

#endif
