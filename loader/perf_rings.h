/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel's perf events about a process, and about those that it starts from then on,
 * in a ring buffer for each CPU. Records that find their ring full are lost.
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
 * Opens the rings for a process, which must still have only one thread. `records` has the bits of
 * the wanted records set (mmap, comm, ...). 0, or a negative errno when they are not open. A fork()
 * of this process does not have the rings.
 */
int ap_perf_rings_open(
	struct ap_perf_rings *rings, pid_t pid, const struct perf_event_attr *records);

/*
 * Calls `take` for each record that has come since the last call, until one returns a negative
 * errno. 0 or that.
 */
typedef int ap_perf_take_fn(void *context, const struct perf_event_header *record);
int ap_perf_rings_read(struct ap_perf_rings *rings, ap_perf_take_fn *take, void *context);

void ap_perf_rings_close(struct ap_perf_rings *rings);

#endif
