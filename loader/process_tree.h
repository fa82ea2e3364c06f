/* SPDX-License-Identifier: MIT */
/*
 * The processes of a recorded tree but the first one: those that are born of it, what they execute,
 * how they end. The programs enter a child before its first instruction and count its samples from
 * there; this opens its files, gives it a list of mappings of its own once it has others than its
 * parent, and takes what is of it out of the kernel's maps when it has ended.
 */
#ifndef ALLOCPROF_PROCESS_TREE_H
#define ALLOCPROF_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "jit.h"
#include "process_variables.h"
#include "process_watch.h"
#include "record.h"
#include "session.h"
#include "target.h"

struct ap_tree;

struct ap_tree_options {
	struct ap_process_watch *watch; /* that follows; the session shares its maps */
	struct ap_session *session;
	struct ap_target *root;	     /* the first one, which others look after */
	struct ap_object_set *files; /* of all tables, also the root's */
	uint64_t period;	     /* to be set where it can be; 0: as it is */
	bool guard;
};

/* What there is to say of one that has ended. */
struct ap_tree_death {
	pid_t pid;
	const char *name;
	struct ap_death death;
	uint64_t live; /* bytes that it held */
};
typedef void ap_tree_tell_fn(void *context, const struct ap_tree_death *death);

/* The options' parts must outlive the tree. 0 and *ret, or a negative errno. */
int ap_tree_open(struct ap_tree **ret, const struct ap_tree_options *options);

/*
 * From now on holds what they execute, until its tables are there: see holder.h. 0 or a negative
 * errno: then it goes on without. The descriptor is readable when the tree is to be followed; -1:
 * nothing is held. The root, if held, goes on when its list of mappings has been brought up. The
 * last one ends it, before the tree is closed if need be.
 */
int ap_tree_hold(struct ap_tree *tree);
int ap_tree_held_fd(const struct ap_tree *tree);
bool ap_tree_root_is_held(const struct ap_tree *tree);
void ap_tree_release(struct ap_tree *tree);

/*
 * Looks at what has changed; `tell` is called for each that has crashed. To be called when the
 * watch is readable, and now and then.
 */
void ap_tree_follow(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context);

/* The same when the recording is over, for the last time. */
void ap_tree_settle(struct ap_tree *tree, uint64_t now_ns, ap_tree_tell_fn *tell, void *context);

/* When one is to be looked at again: CLOCK_MONOTONIC. */
uint64_t ap_tree_due(const struct ap_tree *tree);

/* Brings the root's list of mappings to what its table has. 0 or a negative errno. */
int ap_tree_unwind_root(struct ap_tree *tree);

/* An ap_session_mapped_fn. */
const struct ap_process_files *ap_tree_mapped(void *tree, pid_t pid, bool wants_mappings);

/* Sets the period of all but the root. */
void ap_tree_set_period(struct ap_tree *tree, uint64_t period);

/* Something has been set in the root, which the children that it has from now on inherit. */
void ap_tree_root_variable(struct ap_tree *tree, const struct ap_process_variable *variable);

/* How many live but the root. */
size_t ap_tree_living(const struct ap_tree *tree);

/* What has been freed because its process has ended, beside what the programs have counted. */
const struct ap_counters *ap_tree_released(const struct ap_tree *tree);

/* Takes what is of processes that have ended into the snapshot. 0 or a negative errno. */
int ap_tree_snapshot(struct ap_tree *tree, struct ap_snapshot *snapshot);

/*
 * Everybody, the root first, to be freed with ap_record_processes_free(). NULL: out of memory. Their
 * names of code that was made are read until that moment of CLOCK_MONOTONIC.
 */
struct ap_record_process *ap_tree_processes(
	struct ap_tree *tree, const struct ap_jit *root_jit, uint64_t until_ns, size_t *ret_count);

/* Sets periods and guards back, as far as it can. NULL is fine. */
void ap_tree_close(struct ap_tree *tree);

#endif
