/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Working memory with an owner. While a program holds the CPU, the CPU's is its own. Where it cannot
 * hold it, per-CPU memory would be overwritten by a thread that preempts this one inside the
 * program, and so are BPF stack frames of 64 bytes and more, which new kernels keep per CPU. Then an
 * element of `scratches` belongs to one thread from its insertion to its deletion: the map's
 * BPF_NOEXIST is the atomic claim, on kernels without atomic compare-and-swap too (5.10).
 */
#ifndef ALLOCPROF_SCRATCH_BPF_H
#define ALLOCPROF_SCRATCH_BPF_H

#include "maps.bpf.h"

/* The one that the thread has. */
static __always_inline struct scratch *scratch_mine(void)
{
	__u64 owner;
	__u32 zero = 0;

	if (cpu_held)
		return bpf_map_lookup_elem(&cpu_scratch, &zero);
	owner = bpf_get_current_pid_tgid();
	return bpf_map_lookup_elem(&scratches, &owner);
}

/*
 * What is in it is what an earlier sample has left, or zero; the fields that are called so are 0.
 * NULL: the pool is exhausted.
 */
static __always_inline struct scratch *scratch_claim(void)
{
	struct scratch *blank;
	__u64 owner;
	__u32 zero = 0;

	if (!cpu_held) {
		owner = bpf_get_current_pid_tgid();
		blank = bpf_map_lookup_elem(&blank_scratch, &zero);
		if (!blank || map_insert(&scratches, &owner, blank))
			return NULL;
	}
	return scratch_mine();
}

static __always_inline void scratch_release(void)
{
	__u64 owner;

	if (cpu_held)
		return;
	owner = bpf_get_current_pid_tgid();
	bpf_map_delete_elem(&scratches, &owner);
}

#endif
