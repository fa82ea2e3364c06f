/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What unwinding needs to know of the machine, for the loader and for the BPF programs; the latter
 * have the rest in bpf/machine.bpf.h. Registers go by their DWARF numbers everywhere.
 */
#ifndef ALLOCPROF_MACHINE_H
#define ALLOCPROF_MACHINE_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)

#define AP_ELF_MACHINE 62 /* EM_X86_64 */
#define AP_REGISTERS   17 /* the general ones and the return address */
#define AP_REG_BX      3  /* saved by callees; ld.so's trampolines keep their CFA in it */
#define AP_REG_FP      6
#define AP_REG_SP      7
#define AP_REG_RA      16

/*
 * The signal frame as the trampoline sees it: the stack pointer is at the ucontext, and this is
 * where in it the kernel has put the general registers, by DWARF number (struct sigcontext).
 */
#define AP_SIGNAL_REGISTERS 40
#define AP_SIGNAL_PC	    16
#define AP_SIGNAL_SLOTS                                                  \
	{                                                                \
		13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16 \
	}

/* The bits of a return address that are address: all. */
#define AP_CODE_MASK (~0ULL)

#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)

#define AP_ELF_MACHINE	    183 /* EM_AARCH64 */
#define AP_REGISTERS	    33
#define AP_REG_BX	    19 /* saved by callees; no code is known to keep its CFA in it */
#define AP_REG_FP	    29
#define AP_REG_SP	    31
#define AP_REG_RA	    30 /* the link register: at the entry the return address is there */

/* siginfo is 128 bytes, and uc_mcontext.regs begin 184 bytes into the ucontext. x0-x30 and sp. */
#define AP_SIGNAL_REGISTERS 312
#define AP_SIGNAL_PC	    32

/* Pointer authentication keeps its code above a 48-bit address. */
#define AP_CODE_MASK	    ((1ULL << 48) - 1)

#else
#error "unwinding is not known for this machine"
#endif

#endif
