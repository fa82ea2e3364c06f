/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What of the stack walker depends on the machine. The rest is in allocprof/machine.h. */
#ifndef ALLOCPROF_MACHINE_BPF_H
#define ALLOCPROF_MACHINE_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_tracing.h>

#if defined(__TARGET_ARCH_x86)

/* The registers of the probe, by DWARF number. */
static __always_inline void machine_registers(struct pt_regs *regs, __u64 *to)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
}

static const __u8 signal_slots[AP_REGISTERS] = AP_SIGNAL_SLOTS;

/* Where the kernel's signal frame has a register: an offset from the saved registers. */
static __always_inline __u32 machine_signal_slot(__u32 number)
{
	return number < AP_REGISTERS ? signal_slots[number] : 0;
}

/* In a PLT's entry, whether its push has been executed. */
static __always_inline int machine_plt_pushed(__u64 pc, __s32 from)
{
	return (__s32)(pc & 15) >= from;
}

/*
 * Whether the 8 bytes before an address end in a call. What a frame pointer leads to is taken for
 * a return address only then: in code without a table nothing else tells that it is a frame.
 */
static __always_inline int machine_is_call(__u64 before)
{
	if ((before >> 24 & 0xff) == 0xe8) /* call rel32 */
		return 1;
#pragma clang loop unroll(full)
	/* call r/m64: ff /2, with 0 to 5 bytes of SIB and displacement */
	for (__u32 at = 16; at <= 56; at += 8)
		if ((before >> (64 - at) & 0xff) == 0xff &&
			(before >> (64 - at + 8) & 0x38) == 0x10)
			return 1;
	return 0;
}

#else
#error "the stack walker knows x86-64 only"
#endif

#endif
