/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Working memory with an owner. Per-CPU memory would be overwritten by a thread that preempts this
 * one inside the program, and so are BPF stack frames of 64 bytes and more, which new kernels keep
 * per CPU. An element of `scratches` belongs to one thread from its insertion to its deletion: the
 * map's BPF_NOEXIST is the atomic claim, on kernels without atomic compare-and-swap too (5.10).
 */
#ifndef ALLOCPROF_SCRATCH_BPF_H
#define ALLOCPROF_SCRATCH_BPF_H

#include "maps.bpf.h"

/* All zero. NULL: the pool is exhausted. */
static __always_inline struct scratch *scratch_claim(void)
{
	__u64 owner = bpf_get_current_pid_tgid();
	__u32 zero = 0;
	struct scratch *blank = bpf_map_lookup_elem(&blank_scratch, &zero);

	if (!blank || map_insert(&scratches, &owner, blank))
		return NULL;
	return bpf_map_lookup_elem(&scratches, &owner);
}

static __always_inline void scratch_release(void)
{
	__u64 owner = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&scratches, &owner);
}

#endif
