// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The programs on the two probes of otel_memory. They add up in kernel maps; nothing is sent to
 * the loader, which reads the maps when it wants to know.
 *
 * Totals are counted first, and then each sample is filed under its site, or under the reserved
 * site that says why that was not possible: the sums of both are the same.
 *
 * No frame of these functions may reach 64 bytes, see scratch.bpf.h; a test measures them.
 */
#include "maps.bpf.h"
#include "preempt.bpf.h"
#include "scratch.bpf.h"
#include "walk.bpf.h"
#include "stack.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __noinline int counters_add(struct ap_counters *counters, __u64 size, __u64 weight)
{
	__sync_fetch_and_add(&counters->samples, 1);
	__sync_fetch_and_add(&counters->objects, ap_objects_of(size, weight));
	__sync_fetch_and_add(&counters->bytes, size);
	__sync_fetch_and_add(&counters->weight, weight);
	__sync_fetch_and_add(&counters->squares, ap_square_of(size, weight));
	return 0;
}

/* floor(log2(size)); 0 of 0. */
static __noinline __u32 size_class(__u64 size)
{
	__u32 class = 0;

#pragma clang loop unroll(full)
	for (__u32 step = 32; step; step /= 2) {
		if (size >> step) {
			size >>= step;
			class += step;
		}
	}
	return class;
}

static __noinline __u32 lifetime_class(__u64 born_ns)
{
	__u64 age = bpf_ktime_get_ns() - born_ns, bound = AP_LIFETIME_SHORTEST_NS;
	__u32 class = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < AP_SITE_LIFETIMES - 1; i++) {
		class += age >= bound;
		bound *= 10;
	}
	return class;
}

static __always_inline struct ap_totals *totals_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&totals, &zero);
}

static __noinline struct ap_site *loss_get(__u32 loss)
{
	return bpf_map_lookup_elem(&losses, &loss);
}

/* The site of a key that has been filed: a site, or a reserved one. */
static __always_inline struct ap_site *site_get(const struct ap_site_key *key)
{
	if (key->stack < AP_LOSSES)
		return loss_get(key->stack);
	return bpf_map_lookup_elem(&sites, key);
}

/* The same for a new sample: makes the site when it is the first one there. */
static __noinline struct ap_site *site_file(struct ap_site_key *key)
{
	__u32 zero = 0;
	struct ap_site *site = site_get(key);
	struct ap_site *blank = bpf_map_lookup_elem(&blank_site, &zero);

	if (site || !blank)
		return site;
	/* Fails with EEXIST when another thread has just made it: then it is there. */
	map_insert(&sites, key, blank);
	site = bpf_map_lookup_elem(&sites, key);
	if (site)
		return site;
	key->stack = AP_LOSS_SITES;
	return loss_get(AP_LOSS_SITES);
}

static __noinline int lifetime_add(struct ap_site *site, __u32 class, __u64 size, __u64 weight)
{
	struct ap_lifetime *lifetime;

	if (class >= AP_SITE_LIFETIMES)
		return 0;
	lifetime = &site->lifetime[class];
	__sync_fetch_and_add(&lifetime->samples, 1);
	__sync_fetch_and_add(&lifetime->objects, ap_objects_of(size, weight));
	__sync_fetch_and_add(&lifetime->weight, weight);
	__sync_fetch_and_add(&lifetime->squares, ap_square_of(size, weight));
	return 0;
}

/*
 * Takes the block out of `live` and counts it as freed. Only who deletes the element counts it.
 * Returns whether there was one.
 */
static __noinline int live_retire(const struct ap_live_key *key)
{
	struct ap_live *found = bpf_map_lookup_elem(&live, key);
	struct ap_totals *total = totals_get();
	struct ap_site_key site_key = {.process = key->process};
	struct ap_site *site;
	__u64 size, weight;
	__u32 lifetime;

	if (!found || !total)
		return 0;
	site_key.stack = found->stack;
	site_key.thread = found->thread;
	size = found->size;
	weight = found->weight;
	lifetime = lifetime_class(found->born_ns);
	site_key.size_class = size_class(size);
	if (bpf_map_delete_elem(&live, key))
		return 0;
	counters_add(&total->freed, size, weight);
	site = site_get(&site_key);
	if (site) {
		counters_add(&site->freed, size, weight);
		lifetime_add(site, lifetime, size, weight);
	}
	return 1;
}

/* Remembers the block, so that its free finds its site. */
static __noinline int live_file(struct scratch *scratch, struct ap_site *site)
{
	struct ap_totals *total = totals_get();
	int err = map_insert(&live, &scratch->live_key, &scratch->live);

	if (err == -EEXIST) {
		if (live_retire(&scratch->live_key) && total)
			__sync_fetch_and_add(&total->frees_missed, 1);
		err = map_insert(&live, &scratch->live_key, &scratch->live);
	}
	if (!err)
		return 0;
	counters_add(&site->freed, scratch->live.size, scratch->live.weight);
	site = loss_get(AP_LOSS_LIVE_FULL);
	if (site)
		counters_add(&site->allocated, scratch->live.size, scratch->live.weight);
	return 0;
}

/* The number of the thread that runs, whose name is remembered; 0: they are not told apart. */
static __noinline __u32 thread_file(void)
{
	__u32 thread = bpf_get_current_pid_tgid();
	struct ap_thread blank = {0}, *known;

	if (!by_thread)
		return 0;
	known = bpf_map_lookup_elem(&threads, &thread);
	if (!known) {
		/* No room for more: it has no name then. */
		map_insert(&threads, &thread, &blank);
		known = bpf_map_lookup_elem(&threads, &thread);
	}
	if (known)
		bpf_get_current_comm(known->comm, sizeof(known->comm));
	return thread;
}

/* Files the sample whose stack is in scratch->stack. */
static __noinline int alloc_file(
	struct pt_regs *regs, struct scratch *scratch, struct ap_totals *total)
{
	struct ap_site *site;
	__u32 end;

	scratch->site_key.size_class = size_class(PT_REGS_PARM2(regs));
	scratch->site_key.thread = scratch->live.thread = thread_file();
	scratch->live_key.process = scratch->site_key.process;
	scratch->live_key.pointer = PT_REGS_PARM1(regs);
	scratch->live.size = PT_REGS_PARM2(regs);
	scratch->live.weight = PT_REGS_PARM3(regs);
	scratch->live.born_ns = bpf_ktime_get_ns();
	end = scratch->stack.end;
	if (end < AP_ENDS)
		__sync_fetch_and_add(&total->ends[end], 1);
	if (stack_file(scratch))
		__sync_fetch_and_add(&total->stacks, 1);
	site = site_file(&scratch->site_key);
	if (!site)
		return 0;
	scratch->live.stack = scratch->site_key.stack;
	counters_add(&site->allocated, scratch->live.size, scratch->live.weight);
	return live_file(scratch, site);
}

static __always_inline struct ap_process *process_current(void)
{
	return process_of((struct task_struct *)bpf_get_current_task());
}

/* Whose sample it is. */
static __always_inline void scratch_own(struct scratch *scratch, const struct ap_process *process)
{
	__u32 *list;

	scratch->site_key.process = process ? process->process : process_id + executed;
	scratch->walk.is_forked = scratch->walk.list = 0;
	if (!has_tree || !process)
		return;
	scratch->walk.is_forked = process->parent && process->process < AP_PROCESS_EXEC;
	list = bpf_map_lookup_elem(&process_lists, &scratch->site_key.process);
	scratch->walk.list = list ? *list : AP_LIST_NONE;
}

static __always_inline int alloc_take(
	struct pt_regs *regs, int (*walk)(struct pt_regs *, struct scratch *))
{
	struct ap_process *process = NULL;
	struct ap_totals *total = totals_get();
	struct scratch *scratch;
	struct ap_site *site;

	if (has_tree)
		process = process_current();
	if (!total || (has_tree && !process))
		return 0;
	preempt_off();
	__sync_fetch_and_add(&total->entered, 1);
	if (closed)
		goto out;
	if (PT_REGS_PARM2(regs) < min_size || PT_REGS_PARM2(regs) > max_size) {
		counters_add(&total->filtered, PT_REGS_PARM2(regs), PT_REGS_PARM3(regs));
		goto out;
	}
	counters_add(&total->allocated, PT_REGS_PARM2(regs), PT_REGS_PARM3(regs));
	scratch = scratch_claim();
	if (scratch) {
		scratch_own(scratch, process);
		walk(regs, scratch);
		alloc_file(regs, scratch, total);
		scratch_release();
	} else {
		site = loss_get(AP_LOSS_SCRATCH);
		if (site)
			counters_add(&site->allocated, PT_REGS_PARM2(regs), PT_REGS_PARM3(regs));
	}
out:
	__sync_fetch_and_add(&total->left, 1);
	preempt_on();
	return 0;
}

/* The loader loads one of the two. */
SEC("uprobe")
int on_alloc(struct pt_regs *regs)
{
	return alloc_take(regs, walk_stack);
}

SEC("uprobe")
int on_alloc_without_loop(struct pt_regs *regs)
{
	return alloc_take(regs, walk_stack_without_loop);
}

/* The loader is woken to look at the new program. No other thread of the old one is left. */
SEC("raw_tracepoint/sched_process_exec")
int on_target_exec(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];

	if (pid_seen(task) != process_id)
		return 0;
	executed += AP_PROCESS_EXEC;
	wish_make(1, 0, process_id);
	return 0;
}

SEC("uprobe")
int on_free(struct pt_regs *regs)
{
	struct ap_totals *total = totals_get();
	struct ap_live_key key = {.pointer = PT_REGS_PARM1(regs), .process = process_id + executed};
	struct ap_process *process;

	if (has_tree) {
		process = process_current();
		if (!process)
			return 0;
		key.process = process->process;
	}
	if (!total)
		return 0;
	preempt_off();
	__sync_fetch_and_add(&total->entered, 1);
	if (!closed && !live_retire(&key))
		__sync_fetch_and_add(&total->frees_unknown, 1);
	__sync_fetch_and_add(&total->left, 1);
	preempt_on();
	return 0;
}
