// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The programs on the scheduler's tracepoints: how the watched processes end, and, when a tree is
 * recorded, who has been born. Whoever is not the parent of a process has no other way to know how
 * it ended that works on every kernel: the parent may have collected the status before anybody
 * could look. And a child is known before its first instruction, so that none of its samples is
 * taken for a bystander's.
 *
 * They run for every process of the machine, and do next to nothing for most.
 */
#include "processes.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Of the kernel, since 2.5. */
#define SIGNAL_GROUP_EXIT 4

/* Children for whom there was no room. */
unsigned long long children_lost = 0;

/* Wakes the loader, which looks at the map then: what a record says does not matter. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} changes SEC(".maps");

static __always_inline void change_tell(void)
{
	__u64 *record = bpf_ringbuf_reserve(&changes, sizeof(*record), 0);

	if (!record)
		return;
	*record = 0;
	bpf_ringbuf_submit(record, 0);
}

SEC("raw_tracepoint/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *parent = (struct task_struct *)context->args[0];
	struct task_struct *child = (struct task_struct *)context->args[1];
	struct ap_process *process = process_of(parent), fresh = {0};
	__u32 pid, *list;

	if (!process || BPF_CORE_READ(child, group_leader) != child)
		return 0;
	pid = pid_seen(child);
	fresh.process = pid;
	fresh.parent = process->process;
	if (BPF_CORE_READ(child, mm) == BPF_CORE_READ(parent, mm)) {
		fresh.process = process->process;
		fresh.borrows = 1;
	}
	list = bpf_map_lookup_elem(&process_lists, &fresh.parent);
	if (list && !fresh.borrows)
		bpf_map_update_elem(&process_lists, &pid, list, BPF_ANY);
	if (bpf_map_update_elem(&processes, &pid, &fresh, BPF_ANY))
		__sync_fetch_and_add(&children_lost, 1);
	else if (!fresh.borrows)
		change_tell();
	return 0;
}

SEC("raw_tracepoint/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct ap_process *process = process_of(task);

	if (!process)
		return 0;
	if (process->borrows)
		process->process = pid_seen(task);
	else
		process->process += AP_PROCESS_EXEC;
	process->borrows = 0;
	change_tell();
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
	if (process->borrows) {
		bpf_map_delete_elem(&processes, &pid);
		return 0;
	}
	process->status = BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT
				  ? BPF_CORE_READ(signal, group_exit_code)
				  : BPF_CORE_READ(task, group_leader, exit_code);
	process->oom = BPF_CORE_READ(signal, oom_mm) != NULL;
	process->ended_ns = bpf_ktime_get_ns();
	change_tell();
	return 0;
}
