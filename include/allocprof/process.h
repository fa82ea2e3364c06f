/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the BPF programs know of the processes that are watched: how they have ended, and, when a
 * whole tree of them is recorded, whose samples are whose.
 */
#ifndef ALLOCPROF_PROCESS_H
#define ALLOCPROF_PROCESS_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

/*
 * A process as it stands in keys of sites and live blocks: its pid as the loader sees it, which has
 * at most so many bits, and above it the number of programs that it has executed, since what one
 * program held is gone with the next.
 */
#define AP_PROCESS_SHIFT	22
#define AP_PROCESS_EXEC		(1U << AP_PROCESS_SHIFT)
#define AP_PROCESS_PID(process) ((process) & (AP_PROCESS_EXEC - 1))

/* In place of the number of a list of mappings: no list yet. */
#define AP_LIST_NONE 0xffffffffU

/* Processes that are watched at once. */
#define AP_PROCESSES 4096

/*
 * A watched process, by its number as the loader sees it. The loader enters the first ones, and the
 * programs their children; from then on only programs write. It stays until the loader removes it.
 */
struct ap_process {
	__u64 ended_ns; /* CLOCK_MONOTONIC; 0: it lives */
	__s32 status;	/* as waitpid() gives it, once it has ended */
	__u32 oom;	/* the OOM killer had chosen it */
	__u32 process;	/* in keys */
	__u32 parent;	/* in keys, when it was forked; 0: it was there before */
	__u32 borrows; /* it runs in its parent's memory, and so as its parent, until it executes */
	__u32 zero;
};

_Static_assert(sizeof(struct ap_process) == 32, "shared with BPF");

#endif
