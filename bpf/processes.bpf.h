/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The map of the watched processes, which all programs share, and who runs. */
#ifndef ALLOCPROF_PROCESSES_BPF_H
#define ALLOCPROF_PROCESSES_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <allocprof/process.h>

/* How deep pid namespaces can be nested, the first one included. */
#define NAMESPACES_MAX 33

/* The loader's pid namespace, by its inode number: pids are as it sees them. */
const volatile unsigned int pid_namespace = 0;

/* The sizes of both are set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ap_process);
} processes SEC(".maps");

/* The mappings of a process as it stands in keys: the number of their list in unwind_mappings. A
 * child's are its parent's first. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} process_lists SEC(".maps");

/* The number of the task's process as the loader sees it; 0: it does not see it. */
static __noinline __u32 pid_seen(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	const char *numbers = (const char *)__builtin_preserve_access_index(&pid->numbers);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid number;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < NAMESPACES_MAX && i <= level; i++) {
		if (bpf_probe_read_kernel(&number, sizeof(number), numbers + i * sizeof(number)))
			return 0;
		if (BPF_CORE_READ(number.ns, ns.inum) == pid_namespace)
			return number.nr;
	}
	return 0;
}

/* NULL: it is not watched. */
static __always_inline struct ap_process *process_of(struct task_struct *task)
{
	__u32 pid = pid_seen(task);

	return bpf_map_lookup_elem(&processes, &pid);
}

#endif
