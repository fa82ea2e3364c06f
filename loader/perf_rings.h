/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's perf events tell of a process, and of those that it starts from then on: a ring
 * for each CPU. What finds a ring full is lost.
 */
#ifndef ALLOCPROF_PERF_RINGS_H
#define ALLOCPROF_PERF_RINGS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/types.h>

struct ap_perf_ring;

struct ap_perf_rings {
	int ready; /* readable when there is something to read; -1: not open */
	struct ap_perf_ring *rings;
	size_t count;
};

#define AP_PERF_RINGS_NONE     \
	(struct ap_perf_rings) \
	{                      \
		.ready = -1    \
	}

/*
 * Of a process that has one thread yet. attr: the records that are wanted, on top of what makes
 * rings of them. 0 or a negative errno; they are not open then. A child by fork() does not have
 * them.
 */
int ap_perf_rings_open(
	struct ap_perf_rings *rings, pid_t pid, const struct perf_event_attr *records);

/* Hands on what has come since the last call, until one fails. 0 or its negative errno. */
typedef int ap_perf_take_fn(void *context, const struct perf_event_header *record);
int ap_perf_rings_read(struct ap_perf_rings *rings, ap_perf_take_fn *take, void *context);

void ap_perf_rings_close(struct ap_perf_rings *rings);

#endif
