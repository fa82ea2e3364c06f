/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Holding the CPU for the length of a program, where the kernel lets us (6.11). Elsewhere, and in
 * the instructions before preempt_off() takes effect, another thread may run the same program on
 * the same CPU half way through this one: nothing here may rely on per-CPU memory.
 */
#ifndef ALLOCPROF_PREEMPT_BPF_H
#define ALLOCPROF_PREEMPT_BPF_H

#include "maps.bpf.h"

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

/* The flag is constant when the program is verified: a call that the kernel lacks is dead code. */
static __always_inline void preempt_off(void)
{
	if (has_preempt_disable)
		bpf_preempt_disable();
}

static __always_inline void preempt_on(void)
{
	if (has_preempt_disable)
		bpf_preempt_enable();
}

#endif
