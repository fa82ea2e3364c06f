// SPDX-License-Identifier: MIT
#include "process_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "ended_processes.h"
#include "holder.h"
#include "process_watch.h"
#include "table.h"
#include "tree_process.h"

/*
 * The shortest time between two scans because of code in no known mapping, of which there may
 * always be some.
 */
#define WISH_PAUSE_NS (20 * AP_MILLISECOND_NS)

/*
 * How long to wait for the holder to report a process; after that it is scanned without being held.
 */
#define HOLD_PATIENCE_NS (5 * AP_MILLISECOND_NS)

/* The time between two sweeps: reading all sites and live blocks takes some 20 ms. */
#define SWEEP_PAUSE_NS (1000 * AP_MILLISECOND_NS)

/* How many ancestors of a new process are added with it. */
#define GENERATIONS_MAX 64

/* Crashed processes whose memory stays in the profile as they left it. */
#define CRASHED_MAX 16

struct ap_tree {
	struct ap_tree_options options;
	struct ap_tree_process root; /* its target stays empty: see options.root */
	struct ap_holder holder;
	struct ap_tree_process **processes;
	uint32_t count, room, crashed;
	struct ap_ended ended;
	bool wants_sweep;
	uint64_t swept_ns, now_ns;
};

static struct ap_tree_process *process_find(const struct ap_tree *tree, pid_t pid)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->processes[i]->target.pid == pid)
			return tree->processes[i];
	return NULL;
}

/* ---- Mappings ---- */

int ap_tree_unwind_root(struct ap_tree *tree)
{
	int err = ap_tree_process_unwind(&tree->options, &tree->root, &tree->options.root->table);

	if (tree->root.is_held)
		ap_holder_go(&tree->holder, tree->options.root->pid);
	tree->root.is_held = false;
	ap_unwind_settle(ap_session_tables(tree->options.session));
	return err;
}

static void process_scan(struct ap_tree *tree, struct ap_tree_process *process)
{
	ap_tree_process_read(&tree->options, process, tree->now_ns);
	if (process->is_held)
		ap_holder_go(&tree->holder, process->target.pid);
	process->is_held = false;
}

/*
 * Scans a process that has executed a program: at once, or, if it can be held, when its libraries
 * are mapped.
 */
static void process_begin(struct ap_tree *tree, struct ap_tree_process *process)
{
	process->executed = false;
	if (tree->holder.pid)
		process->scan_ns = tree->now_ns + HOLD_PATIENCE_NS;
	else
		process_scan(tree, process);
}

const struct ap_process_files *ap_tree_mapped(void *context, pid_t pid, bool wants_mappings)
{
	struct ap_tree *tree = context;
	struct ap_tree_process *process = process_find(tree, pid);

	if (!process)
		return NULL;
	if (wants_mappings && !process->ended && !process->is_held) {
		uint64_t soonest = process->scanned_ns + WISH_PAUSE_NS;

		if (process->pause_ns > WISH_PAUSE_NS)
			process->pause_ns = WISH_PAUSE_NS;
		if (process->scan_ns > soonest)
			process->scan_ns = soonest;
	}
	return &process->target.table.files;
}

void ap_tree_set_period(struct ap_tree *tree, uint64_t period)
{
	tree->options.period = period;
	for (uint32_t i = 0; i < tree->count; i++) {
		struct ap_tree_process *process = tree->processes[i];

		if (!process->ended)
			ap_process_variables_set(
				&process->variables, &process->target, period, tree->options.guard);
	}
}

void ap_tree_root_variable(struct ap_tree *tree, const struct ap_process_variable *variable)
{
	ap_process_variables_note(&tree->root.variables, variable);
}

/* ---- Births and deaths ---- */

static const struct ap_target *target_of(
	const struct ap_tree *tree, const struct ap_tree_process *process)
{
	return process == &tree->root ? tree->options.root : &process->target;
}

/*
 * The process whose table tells what the frames of a new process mean. That is its parent, unless
 * the parent has another list of mappings since: then it is one that still has the list which both
 * had. If nobody has that list any more, nobody has changed it either, and the parent's table still
 * has all that was in it. NULL: the parent has gone, too.
 */
static const struct ap_tree_process *list_owner(const struct ap_tree *tree,
	const struct ap_tree_process *process, const struct ap_tree_process *parent)
{
	uint32_t list;

	if (!ap_process_watch_get_list(tree->options.watch, process->key, &list) ||
		(parent && list == parent->list))
		return parent;
	if (list == tree->root.list)
		return &tree->root;
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->processes[i]->list == list)
			return tree->processes[i];
	return parent;
}

static struct ap_tree_process *process_add(
	struct ap_tree *tree, pid_t pid, uint32_t parent_key, unsigned int generations);

/*
 * The parent of a new process. Processes come in no order: a parent that is not known yet is
 * added first, and so are its ancestors, up to a limit. (When pids are used again, ancestors
 * can form a circle.)
 */
static struct ap_tree_process *parent_get(
	struct ap_tree *tree, uint32_t parent_key, unsigned int generations)
{
	pid_t pid = (pid_t)AP_PROCESS_PID(parent_key);
	struct ap_tree_process *known =
		pid == tree->options.root->pid ? &tree->root : process_find(tree, pid);
	struct ap_process now;

	if (known || !generations || !ap_process_watch_get(tree->options.watch, pid, &now) ||
		now.borrows)
		return known;
	return process_add(tree, pid, now.parent, generations - 1);
}

static struct ap_tree_process *process_add(
	struct ap_tree *tree, pid_t pid, uint32_t parent_key, unsigned int generations)
{
	const struct ap_tree_process *parent = parent_get(tree, parent_key, generations), *owner;
	struct ap_tree_process *process;

	if (ap_array_grow(
		    (void **)&tree->processes, tree->count, &tree->room, sizeof(*tree->processes)))
		return NULL;
	process = ap_tree_process_new(&tree->options, pid);
	if (!process)
		return NULL;
	if (parent)
		ap_tree_process_inherit(process, parent, target_of(tree, parent));
	owner = process->executed ? NULL : list_owner(tree, process, parent);
	if (owner)
		ap_tree_process_share_list(&tree->options, process, owner, target_of(tree, owner));
	tree->processes[tree->count++] = process;
	return process;
}

/* Asks for a sweep; not at once, since a program that begins must not wait for it. */
static void sweep_want(struct ap_tree *tree)
{
	if (!tree->wants_sweep)
		tree->swept_ns = tree->now_ns;
	tree->wants_sweep = true;
}

/* The process has executed another program. */
static void process_renew(struct ap_tree *tree, struct ap_tree_process *process, uint32_t key)
{
	process->before = ap_ended_of(&tree->ended, &process->target);
	ap_tree_process_renew(&tree->options, process, key);
	sweep_want(tree);
}

/* The same for the root, whose list of mappings stays: its table has those of all its programs. */
static void root_renew(struct ap_tree *tree, uint32_t key)
{
	ap_process_watch_set_list(tree->options.watch, key, tree->root.list);
	ap_process_watch_remove_list(tree->options.watch, tree->root.key);
	tree->root.before = ap_ended_of(&tree->ended, tree->options.root);
	tree->root.key = key;
	ap_process_files_close(&tree->options.root->table.files);
	ap_process_variables_clear(&tree->root.variables);
	ap_target_read_names(tree->options.root);
	sweep_want(tree);
}

static void process_end(
	struct ap_tree *tree, struct ap_tree_process *process, ap_tree_tell_fn *tell, void *context)
{
	struct ap_tree_death death = {.pid = process->target.pid, .name = process->target.comm};

	process->ended = true;
	ap_tree_process_leave_list(&tree->options, process);
	process->death = ap_process_watch_death(tree->options.watch, process->target.pid);
	sweep_want(tree);
	if (!ap_death_is_crash(&process->death))
		return;
	process->crashed = tree->crashed < CRASHED_MAX;
	tree->crashed += process->crashed;
	death.death = process->death;
	death.live = ap_live_weight(ap_session_maps(tree->options.session).live, process->key);
	tell(context, &death);
}

/*
 * Adds all processes that have been born by now. To be called before a process's end or exec is
 * handled, since those that it forked before have its list of mappings until they get their own.
 */
static void births_take(struct ap_tree *tree)
{
	const struct ap_process_watch *watch = tree->options.watch;
	uint32_t most = AP_PROCESSES;
	struct ap_process now;

	for (pid_t pid = 0; most-- && (pid = ap_process_watch_next(watch, pid));)
		if (pid != tree->options.root->pid && !process_find(tree, pid) &&
			ap_process_watch_get(watch, pid, &now) && !now.borrows)
			process_add(tree, pid, now.parent, GENERATIONS_MAX);
}

/* Takes the execs of a process. Returns whether it lives. */
static bool process_update(
	struct ap_tree *tree, struct ap_tree_process *process, const struct ap_process *now)
{
	if (now->process != process->key || now->ended_ns)
		births_take(tree);
	if (now->process != process->key)
		process_renew(tree, process, now->process);
	return !now->ended_ns;
}

static void process_look(struct ap_tree *tree, pid_t pid, ap_tree_tell_fn *tell, void *context)
{
	struct ap_tree_process *process = process_find(tree, pid);
	struct ap_process now;

	if (!ap_process_watch_get(tree->options.watch, pid, &now) || now.borrows)
		return;
	if (pid == tree->options.root->pid) {
		if (now.process != tree->root.key)
			root_renew(tree, now.process);
		return;
	}
	if (!process)
		process = process_add(tree, pid, now.parent, GENERATIONS_MAX);
	if (!process || process->ended)
		return;
	if (!process_update(tree, process, &now))
		process_end(tree, process, tell, context);
	else if (process->executed)
		process_begin(tree, process);
	else if (process->scan_ns <= tree->now_ns)
		process_scan(tree, process);
}

/* Takes a message of the holder. The exec of a process that is held has been seen already. */
static void held_take(struct ap_tree *tree, const struct ap_held *held)
{
	struct ap_tree_process *process = process_find(tree, held->pid);
	struct ap_process now;

	if (held->pid == tree->options.root->pid) {
		tree->root.is_held = held->is_held;
		return;
	}
	if (!process) {
		births_take(tree);
		process = process_find(tree, held->pid);
	}
	if (process && !process->ended &&
		ap_process_watch_get(tree->options.watch, held->pid, &now) &&
		process_update(tree, process, &now)) {
		process->executed = false;
		process->is_held = held->is_held;
		process->scan_ns = 0;
	} else if (held->is_held) {
		ap_holder_go(&tree->holder, held->pid);
	}
}

/* ---- What is left of them ---- */

static uint32_t ended_owner(void *context, uint32_t key)
{
	struct ap_tree *tree = context;
	pid_t pid = (pid_t)AP_PROCESS_PID(key);
	struct ap_tree_process *process =
		pid == tree->options.root->pid ? &tree->root : process_find(tree, pid);

	/* The pid in a damaged key belongs to no process. */
	if (!process)
		return 0;
	if (key != process->key)
		return process->before;
	return process->ended && !process->crashed ? ap_ended_of(&tree->ended, &process->target)
						   : 0;
}

static void tree_sweep(struct ap_tree *tree)
{
	struct ap_snapshot_maps maps = ap_session_maps(tree->options.session);
	uint32_t kept = 0;

	tree->wants_sweep = false;
	tree->swept_ns = tree->now_ns;
	if (ap_site_pool_take(&tree->ended.pool, &maps, ended_owner, tree, tree->now_ns)) {
		tree->wants_sweep = true;
		return;
	}
	for (uint32_t i = 0; i < tree->count; i++) {
		struct ap_tree_process *process = tree->processes[i];

		if (!process->ended || process->crashed) {
			tree->processes[kept++] = process;
			continue;
		}
		ap_process_watch_remove(tree->options.watch, process->target.pid);
		ap_process_watch_remove_list(tree->options.watch, process->key);
		ap_tree_process_free(&tree->options, process);
	}
	tree->count = kept;
}

void ap_tree_follow(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context)
{
	const struct ap_process_watch *watch = tree->options.watch;
	uint32_t most = AP_PROCESSES;
	struct ap_held held;

	tree->now_ns = now_ns;
	ap_process_watch_read(tree->options.watch);
	while (ap_holder_next(&tree->holder, &held))
		held_take(tree, &held);
	for (pid_t pid = 0; most-- && (pid = ap_process_watch_next(watch, pid));)
		process_look(tree, pid, tell, context);
	if (tree->wants_sweep && now_ns - tree->swept_ns >= SWEEP_PAUSE_NS)
		tree_sweep(tree);
}

void ap_tree_settle(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context)
{
	ap_tree_follow(tree, now_ns, tell, context);
	if (tree->wants_sweep)
		tree_sweep(tree);
}

uint64_t ap_tree_due(const struct ap_tree *tree)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; i < tree->count; i++)
		if (!tree->processes[i]->ended && tree->processes[i]->scan_ns < due)
			due = tree->processes[i]->scan_ns;
	return due;
}

int ap_tree_snapshot(struct ap_tree *tree, struct ap_snapshot *snapshot)
{
	return ap_site_pool_add(&tree->ended.pool, snapshot);
}

/* ---- The tree ---- */

int ap_tree_hold(struct ap_tree *tree)
{
	return ap_holder_start(&tree->holder, tree->options.root->pid);
}

int ap_tree_held_fd(const struct ap_tree *tree)
{
	return tree->holder.socket;
}

bool ap_tree_root_is_held(const struct ap_tree *tree)
{
	return tree->root.is_held;
}

void ap_tree_release(struct ap_tree *tree)
{
	ap_holder_end(&tree->holder);
}

int ap_tree_open(struct ap_tree **ret, const struct ap_tree_options *options)
{
	struct ap_tree *tree = calloc(1, sizeof(*tree));
	int err;

	if (!tree)
		return -ENOMEM;
	tree->options = *options;
	tree->holder = AP_HOLDER_NONE;
	tree->root.key = (uint32_t)options->root->pid;
	tree->ended.files = options->files;
	err = ap_process_watch_set_list(options->watch, tree->root.key, 0);
	if (err) {
		free(tree);
		return err;
	}
	*ret = tree;
	return 0;
}

size_t ap_tree_living(const struct ap_tree *tree)
{
	size_t living = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		living += !tree->processes[i]->ended;
	return living;
}

const struct ap_counters *ap_tree_released(const struct ap_tree *tree)
{
	return &tree->ended.pool.released;
}

struct ap_record_process *ap_tree_processes(
	struct ap_tree *tree, const struct ap_jit *root_jit, uint64_t until_ns, size_t *ret_count)
{
	size_t most = 1 + tree->count + tree->ended.count, count = 0;
	struct ap_record_process *all = calloc(most, sizeof(*all));
	char *name;

	if (!all)
		return NULL;
	if (asprintf(&name, "%s (%d)", tree->options.root->comm, tree->options.root->pid) < 0)
		name = NULL;
	all[count++] = (struct ap_record_process){
		tree->root.key, name, &tree->options.root->table, root_jit};
	for (uint32_t i = 0; i < tree->count; i++)
		all[count++] = ap_tree_process_record(tree->processes[i], until_ns);
	for (uint32_t i = 0; i < tree->ended.count; i++)
		all[count++] = (struct ap_record_process){AP_ENDED_KEY(i),
			strdup(tree->ended.groups[i].name), &tree->ended.groups[i].table, NULL};
	*ret_count = count;
	for (size_t i = 0; i < count; i++) {
		if (all[i].name)
			continue;
		ap_record_processes_free(all, count);
		return NULL;
	}
	return all;
}

void ap_tree_close(struct ap_tree *tree)
{
	if (!tree)
		return;
	ap_tree_release(tree);
	for (uint32_t i = 0; i < tree->count; i++) {
		if (!tree->processes[i]->ended)
			ap_process_variables_restore(
				&tree->processes[i]->variables, &tree->processes[i]->target);
		ap_tree_process_free(&tree->options, tree->processes[i]);
	}
	free(tree->processes);
	ap_process_variables_clear(&tree->root.variables);
	ap_ended_clear(&tree->ended);
	free(tree);
}
