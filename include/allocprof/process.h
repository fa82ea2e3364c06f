/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the BPF programs on the scheduler's tracepoints tell the loader of the processes that it
 * watches: how they ended.
 */
#ifndef ALLOCPROF_PROCESS_H
#define ALLOCPROF_PROCESS_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

/* A watched process, by its number as the loader sees it. */
struct ap_process {
	__u64 ended_ns; /* CLOCK_MONOTONIC; 0: it lives */
	__s32 status;	/* as wait() gives it, once it has ended */
	__u32 oom;	/* the OOM killer had chosen it */
};

_Static_assert(sizeof(struct ap_process) == 16, "shared with BPF");

#endif
