/* SPDX-License-Identifier: MIT */
/* One process of a recorded tree: what is known of it, and how that is found out. */
#ifndef ALLOCPROF_TREE_PROCESS_H
#define ALLOCPROF_TREE_PROCESS_H

#include "death.h"
#include "jit.h"
#include "process_tree.h"
#include "process_variables.h"
#include "target.h"

struct ap_tree_process {
	struct ap_target target;
	struct ap_jit jit;
	uint32_t key;	     /* as it stands in keys, by now */
	uint32_t list;	     /* of mappings, or AP_LIST_NONE */
	uint64_t scan_ns;    /* when it is to be looked at again, CLOCK_MONOTONIC */
	uint64_t scanned_ns; /* and when it was */
	uint64_t pause_ns;   /* between the two */
	bool executed;	     /* a program, and has not been looked at since */
	bool is_held;
	uint32_t before; /* the key of what the programs before this one have left; 0: none */
	bool ended, crashed;
	struct ap_death death;
	struct ap_process_variables variables;
};

/* NULL: out of memory. */
struct ap_tree_process *ap_tree_process_new(const struct ap_tree_options *options, pid_t pid);

/*
 * Gives a new one what it has from its parent, whose target may stand elsewhere: the name, if it is
 * too short-lived to be asked, and variables, unless it was in its parent's memory until it executed.
 */
void ap_tree_process_inherit(struct ap_tree_process *process, const struct ap_tree_process *parent,
	const struct ap_target *target);

/* Gives it the list of mappings that another one has, and the table that the list is of. */
void ap_tree_process_share_list(const struct ap_tree_options *options,
	struct ap_tree_process *process, const struct ap_tree_process *owner,
	const struct ap_target *target);

/* Brings its list of mappings to what the table has. 0 or a negative errno. */
int ap_tree_process_unwind(const struct ap_tree_options *options, struct ap_tree_process *process,
	const struct ap_mapping_table *table);
void ap_tree_process_leave_list(
	const struct ap_tree_options *options, struct ap_tree_process *process);

/*
 * Looks at what it has mapped, by which its samples are unwound from then on, and sets its
 * variables. One that cannot be looked at has ended, as a rule: nothing is lost but names.
 */
void ap_tree_process_read(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint64_t now_ns);

/* It has executed another program. */
void ap_tree_process_renew(
	const struct ap_tree_options *options, struct ap_tree_process *process, uint32_t key);

/*
 * As it stands in a profile: "nginx (4711)", or with how it crashed, to be freed. A name of NULL: out
 * of memory. Its names of code that was made are read until that moment.
 */
struct ap_record_process ap_tree_process_record(struct ap_tree_process *process, uint64_t until_ns);

void ap_tree_process_free(const struct ap_tree_options *options, struct ap_tree_process *process);

#endif
