/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Holding the CPU for the length of a program, where the kernel lets us (6.11). Elsewhere, and in
 * the instructions before preempt_off() takes effect, another thread may run the same program on
 * the same CPU half way through this one: nothing here may rely on per-CPU memory.
 */
#ifndef ALLOCPROF_PREEMPT_BPF_H
#define ALLOCPROF_PREEMPT_BPF_H

#include "maps.bpf.h"

static void (*const bpf_preempt_disable)(void) = (void *)AP_KFUNC_PREEMPT_DISABLE;
static void (*const bpf_preempt_enable)(void) = (void *)AP_KFUNC_PREEMPT_ENABLE;

static __always_inline void preempt_off(void)
{
	bpf_preempt_disable();
}

static __always_inline void preempt_on(void)
{
	bpf_preempt_enable();
}

#endif
