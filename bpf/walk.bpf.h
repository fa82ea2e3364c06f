/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stack walker: fills scratch->stack with the addresses of the calling thread's user stack,
 * leaf first, and with the reason why it ends. Here by frame pointers, with bpf_probe_read_user
 * and not with bpf_get_stack, which fails or answers with another thread's stack when the thread
 * has been preempted inside the program.
 */
#ifndef ALLOCPROF_WALK_BPF_H
#define ALLOCPROF_WALK_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_tracing.h>

/*
 * A frame pointer of 0 marks the thread's start: the ABI asks it of _start, and libc's clone does
 * the same. Frames must go up the stack, which also bounds the damage of a pointer that is none.
 */
static __noinline int walk_stack(struct pt_regs *regs, struct scratch *scratch)
{
	struct ap_stack *stack = &scratch->stack;
	__u64 below = PT_REGS_SP(regs);
	__u64 frame = PT_REGS_FP(regs);

	stack->frame[0] = PT_REGS_IP(regs);
	stack->depth = 1;
	stack->end = AP_END_DEEP;
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < AP_FRAMES; i++) {
		if (!frame) {
			stack->end = AP_END_START;
			return 0;
		}
		if (frame < below || frame & 7) {
			stack->end = AP_END_FRAME;
			return 0;
		}
		if (bpf_probe_read_user(scratch->frame, sizeof(scratch->frame), (void *)frame)) {
			stack->end = AP_END_READ;
			return 0;
		}
		if (!scratch->frame[1]) {
			stack->end = AP_END_START;
			return 0;
		}
		stack->frame[i] = scratch->frame[1];
		stack->depth = i + 1;
		below = frame + sizeof(scratch->frame);
		frame = scratch->frame[0];
	}
	return 0;
}

#endif
