/* SPDX-License-Identifier: MIT */
/* One process of a recorded tree: what is known of it, and how that is found out. */
#ifndef ALLOCPROF_TREE_PROCESS_H
#define ALLOCPROF_TREE_PROCESS_H

#include "death.h"
#include "jit.h"
#include "process_tree.h"
#include "process_variables.h"
#include "target.h"

/*
 * How it goes on when ap_tree_follow() looks at it. To scan it is ap_tree_process_read(), after
 * which the holder lets it go if it is held.
 *
 *   event                              what follows
 *
 *   forked, nothing executed since     shares the list that its parent had; scanned at once
 *   executes a program                 `executed`, until it is looked at a moment later:
 *     without a holder                   scanned at once
 *     with one                           scanned when that has spoken, or else after 5 ms
 *   the holder says: held; not held    is_held accordingly; scanned at once
 *   scan_ns is over                    scanned; next pause_ns later, which doubles up to 10 s
 *   a sample in no known mapping       if not held: due 20 ms after scanned_ns at the latest
 *   ends                               `ended`; of the first 16 crashes `crashed`; not scanned
 *   a sweep, 1 s after ends and execs  freed if `ended` and not `crashed`; the samples of what it
 *                                      was go to a group of ended_processes.h
 *
 * A child that has its parent's memory (vfork) is one from its exec on.
 */
struct ap_tree_process {
	struct ap_target target;
	struct ap_jit jit;
	uint32_t key;	     /* as it stands in keys now */
	uint32_t list;	     /* number of its list of mappings, or AP_LIST_NONE */
	uint64_t scan_ns;    /* when it is to be looked at again, CLOCK_MONOTONIC */
	uint64_t scanned_ns; /* and when it was */
	uint64_t pause_ns;   /* between the two */
	bool executed;	     /* it has executed a program, and has not been looked at since */
	bool is_held;
	uint32_t before; /* the key of what earlier programs of this process have left; 0: none */
	bool ended, crashed;
	struct ap_death death;
	struct ap_process_variables variables;
};

/* NULL: out of memory. */
struct ap_tree_process *ap_tree_process_new(const struct ap_tree_options *options, pid_t pid);

/*
 * Gives a new process what it has from its parent: the name, in case it is gone before it can be
 * asked, and the variables that were set, unless it shared its parent's memory (vfork) until it
 * executed something. `target` is the parent's: for the root it is not in `parent`.
 */
void ap_tree_process_inherit(struct ap_tree_process *process, const struct ap_tree_process *parent,
	const struct ap_target *target);

/*
 * Lets it share the list of mappings of another process, `owner`, whose target is given as above,
 * and copies the table that the list was made from.
 */
void ap_tree_process_share_list(const struct ap_tree_options *options,
	struct ap_tree_process *process, const struct ap_tree_process *owner,
	const struct ap_target *target);

/* Brings its list of mappings up to date with the table. 0 or a negative errno. */
int ap_tree_process_unwind(const struct ap_tree_options *options, struct ap_tree_process *process,
	const struct ap_mapping_table *table);
void ap_tree_process_leave_list(
	const struct ap_tree_options *options, struct ap_tree_process *process);

/*
 * Reads what it has mapped, by which its samples are unwound from then on, and sets its variables.
 * If it cannot be read it has ended, as a rule: then only names are lost.
 */
void ap_tree_process_read(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint64_t now_ns);

/* To be called when it has executed another program; `key`: as it stands in keys since. */
void ap_tree_process_renew(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint32_t key);

/*
 * The process for ap_record_tree(). Its name is "nginx (4711)", followed by how it crashed, if it
 * has; the caller frees it. A name of NULL: out of memory. Names of code that was made at run time
 * are read as of until_ns, CLOCK_MONOTONIC.
 */
struct ap_record_process ap_tree_process_record(struct ap_tree_process *process, uint64_t until_ns);

void ap_tree_process_free(const struct ap_tree_options *options, struct ap_tree_process *process);

#endif
