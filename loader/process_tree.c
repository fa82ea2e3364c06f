// SPDX-License-Identifier: MIT
#include "process_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "descendants.h"
#include "ended_processes.h"
#include "process_variables.h"
#include "table.h"

/* How soon a process is looked at again: it loads its libraries when it has just begun. */
#define PAUSE_LEAST_NS (20 * AP_MILLISECOND_NS)
#define PAUSE_MOST_NS  (10000 * AP_MILLISECOND_NS)

/* Reading all sites and live blocks takes some 20 ms. */
#define SWEEP_PAUSE_NS (1000 * AP_MILLISECOND_NS)

/* Crashed processes whose memory stays in the profile as they left it. */
#define CRASHED_MAX 16

struct process {
	struct ap_target target;
	struct ap_jit jit;
	uint32_t key;  /* as it stands in keys, by now */
	uint32_t list; /* of mappings */
	uint64_t scan_ns, pause_ns;
	uint32_t before; /* the key of what the programs before this one have left; 0: none */
	bool ended, crashed;
	struct ap_death death;
	struct ap_process_variables variables;
};

struct ap_tree {
	struct ap_tree_options options;
	struct process root; /* its target stays empty */
	struct process **processes;
	uint32_t count, room, crashed;
	struct ap_ended ended;
	bool wants_sweep;
	uint64_t swept_ns, now_ns;
};

static struct process *process_find(const struct ap_tree *tree, pid_t pid)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->processes[i]->target.pid == pid)
			return tree->processes[i];
	return NULL;
}

/* ---- Mappings ---- */

/*
 * A list that several have is never changed: who has other mappings than it gets a list of his own.
 */
static int list_update(
	struct ap_tree *tree, struct process *process, const struct ap_mapping_table *table)
{
	struct ap_unwind *tables = ap_session_tables(tree->options.session);
	uint32_t list = process->list;
	int err;

	if (ap_unwind_list_fits(tables, list, table))
		return 0;
	if (ap_unwind_list_is_shared(tables, list)) {
		list = ap_unwind_list_new(tables);
		if (list == AP_LIST_NONE)
			return -ENOSPC;
	}
	err = ap_unwind_update(tables, list, table);
	if (list != process->list) {
		ap_process_watch_set_list(tree->options.watch, process->key, list);
		ap_unwind_list_leave(tables, process->list);
		process->list = list;
	}
	ap_unwind_settle(tables, list);
	return err;
}

int ap_tree_unwind_root(struct ap_tree *tree)
{
	return list_update(tree, &tree->root, &tree->options.root->table);
}

/* What it has executed meanwhile has another name, and has its turn later. */
static bool process_open(struct ap_tree *tree, struct process *process)
{
	struct ap_target *target = &process->target;
	char inherited[sizeof(target->comm)];
	struct ap_error error;
	struct ap_process now;

	memcpy(inherited, target->comm, sizeof(inherited));
	if (ap_target_open(target, target->pid, &error))
		return false;
	if (ap_process_watch_get(tree->options.watch, target->pid, &now) &&
		now.process != process->key)
		memcpy(target->comm, inherited, sizeof(inherited));
	return true;
}

/* What cannot be looked at has ended, as a rule: nothing is lost but names. */
static void process_scan(struct ap_tree *tree, struct process *process)
{
	struct ap_target *target = &process->target;
	struct ap_error error;

	process->scan_ns = tree->now_ns + process->pause_ns;
	process->pause_ns *= 2;
	if (process->pause_ns > PAUSE_MOST_NS)
		process->pause_ns = PAUSE_MOST_NS;
	if (target->pidfd < 0 && !process_open(tree, process))
		return;
	if (ap_target_scan(target, &error))
		return;
	if (process->jit.folder < 0)
		ap_jit_open(&process->jit, &target->table.files, target->pid);
	list_update(tree, process, &target->table);
	for (size_t i = 0; i < target->probed_count; i++)
		if (target->probed[i].usdt.count)
			ap_session_attach(tree->options.session, target->probed[i].object,
				&target->probed[i].usdt, target->pid, &error);
	ap_process_variables_set(
		&process->variables, target, tree->options.period, tree->options.guard);
}

const struct ap_process_files *ap_tree_mapped(void *context, pid_t pid, bool wants_mappings)
{
	struct ap_tree *tree = context;
	struct process *process = process_find(tree, pid);

	if (!process)
		return NULL;
	if (wants_mappings && !process->ended) {
		process->pause_ns = PAUSE_LEAST_NS;
		if (process->scan_ns > tree->now_ns + PAUSE_LEAST_NS)
			process->scan_ns = tree->now_ns + PAUSE_LEAST_NS;
	}
	return &process->target.table.files;
}

void ap_tree_set_period(struct ap_tree *tree, uint64_t period)
{
	tree->options.period = period;
	for (uint32_t i = 0; i < tree->count; i++) {
		struct process *process = tree->processes[i];

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

static void process_free(struct ap_tree *tree, struct process *process)
{
	ap_unwind_list_leave(ap_session_tables(tree->options.session), process->list);
	ap_jit_clear(&process->jit);
	ap_process_variables_clear(&process->variables);
	ap_target_clear(&process->target);
	free(process);
}

/* From its parent it has the mappings, and the name if it is too short-lived to be asked. */
static struct process *process_add(struct ap_tree *tree, pid_t pid, uint32_t parent_key)
{
	struct ap_unwind *tables = ap_session_tables(tree->options.session);
	struct process *parent = process_find(tree, (pid_t)AP_PROCESS_PID(parent_key));
	const struct ap_target *from = parent ? &parent->target : NULL;
	struct process *process;

	if ((pid_t)AP_PROCESS_PID(parent_key) == tree->options.root->pid) {
		parent = &tree->root;
		from = tree->options.root;
	}
	if (ap_array_grow(
		    (void **)&tree->processes, tree->count, &tree->room, sizeof(*tree->processes)))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->target = (struct ap_target){.pid = pid, .pidfd = -1};
	process->target.table.shared = tree->options.files;
	process->jit = AP_JIT_NONE;
	process->key = (uint32_t)pid;
	process->list = AP_LIST_NONE;
	process->pause_ns = PAUSE_LEAST_NS;
	if (from) {
		memcpy(process->target.comm, from->comm, sizeof(from->comm));
		if (!ap_mapping_table_fork(&process->target.table, &from->table)) {
			process->list = parent->list;
			ap_unwind_list_share(tables, process->list);
		}
		ap_process_variables_inherit(&process->variables, &parent->variables);
	}
	tree->processes[tree->count++] = process;
	return process;
}

/* It has executed another program. */
static void process_renew(struct ap_tree *tree, struct process *process, uint32_t key)
{
	ap_process_watch_remove_list(tree->options.watch, process->key);
	ap_unwind_list_leave(ap_session_tables(tree->options.session), process->list);
	process->list = AP_LIST_NONE;
	process->before = ap_ended_of(&tree->ended, &process->target);
	process->key = key;
	process->scan_ns = 0;
	process->pause_ns = PAUSE_LEAST_NS;
	ap_process_files_close(&process->target.table.files);
	ap_process_variables_clear(&process->variables);
	ap_jit_clear(&process->jit);
	process->jit = AP_JIT_NONE;
	ap_target_read_names(&process->target);
	tree->wants_sweep = true;
}

/* The root's list of mappings goes on as it was: its table has all its programs. */
static void root_renew(struct ap_tree *tree, uint32_t key)
{
	ap_process_watch_set_list(tree->options.watch, key, tree->root.list);
	ap_process_watch_remove_list(tree->options.watch, tree->root.key);
	tree->root.before = ap_ended_of(&tree->ended, tree->options.root);
	tree->root.key = key;
	ap_process_files_close(&tree->options.root->table.files);
	ap_process_variables_clear(&tree->root.variables);
	ap_target_read_names(tree->options.root);
	tree->wants_sweep = true;
}

static uint64_t live_of(struct ap_tree *tree, uint32_t key)
{
	struct ap_snapshot_maps maps = ap_session_maps(tree->options.session);
	struct ap_map_dump dump = {0};
	uint64_t live = 0;

	if (!ap_map_dump_read(maps.live, sizeof(struct ap_live_key), sizeof(struct ap_live), &dump))
		for (size_t i = 0; i < dump.count; i++)
			if (((struct ap_live_key *)dump.keys)[i].process == key)
				live += ((struct ap_live *)dump.values)[i].weight;
	free(dump.keys);
	free(dump.values);
	return live;
}

static void process_end(
	struct ap_tree *tree, struct process *process, ap_tree_tell_fn *tell, void *context)
{
	struct ap_tree_death death = {.pid = process->target.pid, .name = process->target.comm};

	process->ended = true;
	process->death = ap_process_watch_death(tree->options.watch, process->target.pid);
	tree->wants_sweep = true;
	if (!ap_death_is_crash(&process->death))
		return;
	process->crashed = tree->crashed < CRASHED_MAX;
	tree->crashed += process->crashed;
	death.death = process->death;
	death.live = live_of(tree, process->key);
	tell(context, &death);
}

static void process_look(struct ap_tree *tree, pid_t pid, ap_tree_tell_fn *tell, void *context)
{
	struct process *process = process_find(tree, pid);
	struct ap_process now;

	if (!ap_process_watch_get(tree->options.watch, pid, &now) || now.borrows)
		return;
	if (pid == tree->options.root->pid) {
		if (now.process != tree->root.key)
			root_renew(tree, now.process);
		return;
	}
	if (!process)
		process = process_add(tree, pid, now.parent);
	if (!process || process->ended)
		return;
	if (now.process != process->key)
		process_renew(tree, process, now.process);
	if (now.ended_ns)
		process_end(tree, process, tell, context);
	else if (process->scan_ns <= tree->now_ns)
		process_scan(tree, process);
}

/* ---- What is left of them ---- */

static uint32_t ended_owner(void *context, uint32_t key)
{
	struct ap_tree *tree = context;
	pid_t pid = (pid_t)AP_PROCESS_PID(key);
	struct process *process =
		pid == tree->options.root->pid ? &tree->root : process_find(tree, pid);

	/* A number in a damaged key is nobody's. */
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
		struct process *process = tree->processes[i];

		if (!process->ended || process->crashed) {
			tree->processes[kept++] = process;
			continue;
		}
		ap_process_watch_remove(tree->options.watch, process->target.pid);
		ap_process_watch_remove_list(tree->options.watch, process->key);
		process_free(tree, process);
	}
	tree->count = kept;
}

void ap_tree_follow(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context)
{
	const struct ap_process_watch *watch = tree->options.watch;
	uint32_t most = AP_PROCESSES;

	tree->now_ns = now_ns;
	ap_process_watch_read(tree->options.watch);
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

/* ---- All of it ---- */

int ap_tree_take_descendants(struct ap_tree *tree)
{
	return ap_descendants_watch(tree->options.watch);
}

int ap_tree_open(struct ap_tree **ret, const struct ap_tree_options *options)
{
	struct ap_tree *tree = calloc(1, sizeof(*tree));
	int err;

	if (!tree)
		return -ENOMEM;
	tree->options = *options;
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

static char *process_name(const struct process *process)
{
	char *name, death[AP_DEATH_TEXT];
	int length;

	if (process->crashed)
		length = asprintf(&name, "%s (%d, %s)", process->target.comm, process->target.pid,
			ap_death_format(death, &process->death));
	else
		length = asprintf(&name, "%s (%d)", process->target.comm, process->target.pid);
	return length < 0 ? NULL : name;
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
	for (uint32_t i = 0; i < tree->count; i++) {
		struct process *process = tree->processes[i];

		ap_jit_read_map(&process->jit);
		ap_jit_read_dumps(&process->jit, &process->target.table, until_ns);
		all[count++] = (struct ap_record_process){
			process->key, process_name(process), &process->target.table, &process->jit};
	}
	for (uint32_t i = 0; i < tree->ended.count; i++)
		all[count++] = (struct ap_record_process){AP_ENDED_KEY(i),
			strdup(tree->ended.groups[i].name), &tree->ended.groups[i].table, NULL};
	*ret_count = count;
	for (size_t i = 0; i < count; i++) {
		if (all[i].name)
			continue;
		ap_tree_processes_free(all, count);
		return NULL;
	}
	return all;
}

void ap_tree_processes_free(struct ap_record_process *processes, size_t count)
{
	for (size_t i = 0; processes && i < count; i++)
		free((char *)processes[i].name);
	free(processes);
}

void ap_tree_close(struct ap_tree *tree)
{
	if (!tree)
		return;
	for (uint32_t i = 0; i < tree->count; i++) {
		if (!tree->processes[i]->ended)
			ap_process_variables_restore(
				&tree->processes[i]->variables, &tree->processes[i]->target);
		process_free(tree, tree->processes[i]);
	}
	free(tree->processes);
	ap_process_variables_clear(&tree->root.variables);
	ap_ended_clear(&tree->ended);
	free(tree);
}
