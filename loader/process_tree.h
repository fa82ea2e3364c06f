/* SPDX-License-Identifier: MIT */
/*
 * The processes of a recorded tree except the first, the root: their births, what they execute, and
 * how they end. The BPF programs enter a child before its first instruction and count its samples
 * from there on. This module opens its files, gives it a list of mappings of its own once they
 * differ from its parent's, and moves what it left out of the kernel's maps when it has ended.
 */
#ifndef ALLOCPROF_PROCESS_TREE_H
#define ALLOCPROF_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "death.h"
#include "jit.h"
#include "process_variables.h"
#include "record.h"
#include "session.h"
#include "target.h"

struct ap_process_watch;
struct ap_tree;

struct ap_tree_options {
	struct ap_process_watch *watch; /* opened to follow children; the session shares its maps */
	struct ap_session *session;
	struct ap_target *root;	     /* the first process, which the caller looks after */
	struct ap_object_set *files; /* of all tables, also the root's */
	uint64_t period;	     /* sampling period to set in each process; 0: leave it */
	bool guard;
};

/* What is told about a process that has crashed. */
struct ap_tree_death {
	pid_t pid;
	const char *name;
	struct ap_death death;
	uint64_t live; /* bytes that it still held */
};
typedef void ap_tree_tell_fn(void *context, const struct ap_tree_death *death);

/* What the options point to must outlive the tree. 0 and *ret, or a negative errno. */
int ap_tree_open(struct ap_tree **ret, const struct ap_tree_options *options);

/*
 * ap_tree_hold() begins to hold the programs that the processes execute until their unwind tables
 * are made, see holder.h. 0, or a negative errno when it goes on without that. ap_tree_held_fd() is
 * readable when ap_tree_follow() is to be called for a held program; -1: nothing is held. If the
 * root is held, ap_tree_unwind_root() lets it go. ap_tree_release() ends the holding, before
 * ap_tree_close() if need be.
 */
int ap_tree_hold(struct ap_tree *tree);
int ap_tree_held_fd(const struct ap_tree *tree);
bool ap_tree_root_is_held(const struct ap_tree *tree);
void ap_tree_release(struct ap_tree *tree);

/*
 * Brings the tree up to date; calls `tell` for each process that has crashed. To be called when the
 * descriptor of the watch is readable, and at ap_tree_due().
 */
void ap_tree_follow(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context);

/* The same for the last time, when the recording is over. */
void ap_tree_settle(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context);

/* When ap_tree_follow() has to be called next at the latest: CLOCK_MONOTONIC. */
uint64_t ap_tree_due(const struct ap_tree *tree);

/* Brings the root's list of mappings up to date with its table. 0 or a negative errno. */
int ap_tree_unwind_root(struct ap_tree *tree);

/* The ap_session_mapped_fn of a tree, which is the context. */
const struct ap_process_files *ap_tree_mapped(void *tree, pid_t pid, bool wants_mappings);

/* Sets the period of all but the root. */
void ap_tree_set_period(struct ap_tree *tree, uint64_t period);

/* Notes that a variable has been set in the root: children that it forks from now on inherit it. */
void ap_tree_root_variable(struct ap_tree *tree, const struct ap_process_variable *variable);

/* How many processes live, not counting the root. */
size_t ap_tree_living(const struct ap_tree *tree);

/*
 * What counts as freed because its process has ended; to be added to what the BPF
 * programs have counted.
 */
const struct ap_counters *ap_tree_released(const struct ap_tree *tree);

/* Adds what processes that have ended have left to the snapshot. 0 or a negative errno. */
int ap_tree_snapshot(struct ap_tree *tree, struct ap_snapshot *snapshot);

/*
 * All processes and groups of ended ones, the root first; to be freed with
 * ap_record_processes_free(). NULL: out of memory. Names of code that was made at run time are read
 * as of until_ns, CLOCK_MONOTONIC.
 */
struct ap_record_process *ap_tree_processes(
	struct ap_tree *tree, const struct ap_jit *root_jit, uint64_t until_ns, size_t *ret_count);

/* Sets periods and guards back where it can, and frees the tree. NULL is fine. */
void ap_tree_close(struct ap_tree *tree);

#endif
