/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel types that the programs in bpf/ really use, written by hand, so that the build needs
 * no BTF of the kernel it runs on. Kernel structures carry preserve_access_index: libbpf moves
 * every access to where the running kernel has the field, so order and completeness do not matter
 * here. x86-64; another machine needs its own pt_regs.
 *
 * The name of the guard is what bpf_tracing.h looks for to use the kernel's names of registers.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* Part of the kernel's user interface: values that cannot change. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_F_MMAPABLE = 1U << 10,
	BPF_F_INNER_MAP = 1U << 12,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	EEXIST = 17,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, ip, sp;
};

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
	struct mm_struct *oom_mm;
};

struct task_struct {
	int exit_code;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct mm_struct *mm;
};

#pragma clang attribute pop

/* Arguments as they are passed, 8 bytes each. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#endif
