// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The programs on the scheduler's tracepoints: how the watched processes end. Whoever is not their
 * parent has no other way to know that works on every kernel: their parent may have collected the
 * status before anybody could look.
 *
 * They run for every process of the machine that ends, and do next to nothing for most.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <allocprof/process.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Of the kernel, since 2.5. */
#define SIGNAL_GROUP_EXIT 4

/* How deep pid namespaces can be nested, the first one included. */
#define NAMESPACES_MAX 33

/* The loader's pid namespace, by its inode number: pids are as it sees them. */
const volatile unsigned int pid_namespace = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ap_process);
} processes SEC(".maps");

/* The number of the task's process as the loader sees it; 0: it does not see it. */
static __always_inline __u32 pid_seen(struct task_struct *task)
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

SEC("raw_tracepoint/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct ap_process *process;
	__u32 pid;

	/* Other threads of it live on. */
	if (BPF_CORE_READ(signal, live.counter))
		return 0;
	pid = pid_seen(task);
	process = bpf_map_lookup_elem(&processes, &pid);
	if (!process)
		return 0;
	process->status = BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT
				  ? BPF_CORE_READ(signal, group_exit_code)
				  : BPF_CORE_READ(task, group_leader, exit_code);
	process->oom = BPF_CORE_READ(signal, oom_mm) != NULL;
	process->ended_ns = bpf_ktime_get_ns();
	return 0;
}
