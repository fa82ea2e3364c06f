// SPDX-License-Identifier: MIT
#include "tree_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocprof/process.h>

#include "clock.h"
#include "process_watch.h"

/* How soon a process is scanned again: one that has just begun is loading its libraries. */
#define PAUSE_LEAST_NS (1 * AP_MILLISECOND_NS)
#define PAUSE_MOST_NS  (10000 * AP_MILLISECOND_NS)

struct ap_tree_process *ap_tree_process_new(const struct ap_tree_options *options, pid_t pid)
{
	struct ap_tree_process *process = calloc(1, sizeof(*process));
	uint32_t list;

	if (!process)
		return NULL;
	process->target = (struct ap_target){.pid = pid, .pidfd = -1};
	process->target.table.shared = options->files;
	process->jit = AP_JIT_NONE;
	process->key = (uint32_t)pid;
	process->list = AP_LIST_NONE;
	process->pause_ns = PAUSE_LEAST_NS;
	process->executed = !ap_process_watch_get_list(options->watch, process->key, &list);
	return process;
}

void ap_tree_process_inherit(struct ap_tree_process *process, const struct ap_tree_process *parent,
	const struct ap_target *target)
{
	memcpy(process->target.comm, target->comm, sizeof(target->comm));
	if (!process->executed)
		ap_process_variables_inherit(&process->variables, &parent->variables);
}

void ap_tree_process_share_list(const struct ap_tree_options *options,
	struct ap_tree_process *process, const struct ap_tree_process *owner,
	const struct ap_target *target)
{
	if (ap_mapping_table_fork(&process->target.table, &target->table))
		return;
	process->list = owner->list;
	ap_unwind_list_share(ap_session_tables(options->session), process->list);
	ap_process_watch_set_list(options->watch, process->key, process->list);
}

/*
 * A shared list is never changed: a process whose mappings differ from it gets a list of its own.
 */
int ap_tree_process_unwind(const struct ap_tree_options *options, struct ap_tree_process *process,
	const struct ap_mapping_table *table)
{
	struct ap_unwind *tables = ap_session_tables(options->session);
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
		ap_process_watch_set_list(options->watch, process->key, list);
		ap_unwind_list_leave(tables, process->list);
		process->list = list;
	}
	return err;
}

void ap_tree_process_leave_list(
	const struct ap_tree_options *options, struct ap_tree_process *process)
{
	ap_unwind_list_leave(ap_session_tables(options->session), process->list);
	process->list = AP_LIST_NONE;
}

/*
 * Opens the process. If it has executed another program meanwhile it has another name; that exec is
 * handled later.
 */
static bool process_open(const struct ap_tree_options *options, struct ap_tree_process *process)
{
	struct ap_target *target = &process->target;
	char inherited[sizeof(target->comm)];
	struct ap_error error;
	struct ap_process now;

	memcpy(inherited, target->comm, sizeof(inherited));
	if (ap_target_open(target, target->pid, &error))
		return false;
	if (ap_process_watch_get(options->watch, target->pid, &now) && now.process != process->key)
		memcpy(target->comm, inherited, sizeof(inherited));
	return true;
}

void ap_tree_process_read(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint64_t now_ns)
{
	struct ap_target *target = &process->target;
	struct ap_error error;

	process->scanned_ns = now_ns;
	process->scan_ns = now_ns + process->pause_ns;
	process->pause_ns *= 2;
	if (process->pause_ns > PAUSE_MOST_NS)
		process->pause_ns = PAUSE_MOST_NS;
	if (target->pidfd < 0 && !process_open(options, process))
		return;
	if (ap_target_scan(target, &error))
		return;
	if (process->jit.folder < 0)
		ap_jit_open(&process->jit, &target->table.files, target->pid);
	ap_tree_process_unwind(options, process, &target->table);
	for (size_t i = 0; i < target->probed_count; i++)
		if (target->probed[i].usdt.count)
			ap_session_attach(options->session, target->probed[i].object,
				&target->probed[i].usdt, target->pid, &error);
	ap_process_variables_set(&process->variables, target, options->period, options->guard);
}

void ap_tree_process_renew(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint32_t key)
{
	ap_process_watch_remove_list(options->watch, process->key);
	ap_tree_process_leave_list(options, process);
	process->key = key;
	process->executed = true;
	process->pause_ns = PAUSE_LEAST_NS;
	ap_process_files_close(&process->target.table.files);
	ap_process_variables_clear(&process->variables);
	ap_jit_clear(&process->jit);
	process->jit = AP_JIT_NONE;
	ap_target_read_names(&process->target);
}

static char *process_name(const struct ap_tree_process *process)
{
	const struct ap_target *target = &process->target;
	char *name, death[AP_DEATH_TEXT];
	int length;

	if (process->crashed)
		length = asprintf(&name, "%s (%d, %s)", target->comm, target->pid,
			ap_death_format(death, &process->death));
	else
		length = asprintf(&name, "%s (%d)", target->comm, target->pid);
	return length < 0 ? NULL : name;
}

struct ap_record_process ap_tree_process_record(struct ap_tree_process *process, uint64_t until_ns)
{
	const struct ap_mapping_table *table = &process->target.table;

	ap_jit_read_map(&process->jit);
	ap_jit_read_dumps(&process->jit, table, until_ns);
	return (struct ap_record_process){
		process->key, process_name(process), table, &process->jit};
}

void ap_tree_process_free(const struct ap_tree_options *options, struct ap_tree_process *process)
{
	ap_tree_process_leave_list(options, process);
	ap_jit_clear(&process->jit);
	ap_process_variables_clear(&process->variables);
	ap_target_clear(&process->target);
	free(process);
}
