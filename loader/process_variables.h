/* SPDX-License-Identifier: MIT */
/*
 * The sampling periods and guards of a process of a tree, set for the time of a recording and set
 * back at its end. Like ap_variable, but without a descriptor for each: they are written through
 * the target's files, of which a tree has hundreds open anyway.
 */
#ifndef ALLOCPROF_PROCESS_VARIABLES_H
#define ALLOCPROF_PROCESS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

struct ap_process_variable {
	uint64_t address;
	size_t size; /* bytes: 4 or 8 */
	uint64_t before, now;
};

/* Of one program of the process; starts as {0}. */
struct ap_process_variables {
	struct ap_process_variable *items; /* what has been set */
	uint32_t count, room;
};

/*
 * Sets the period, unless that is 0, and the guard, if wanted, of every allocator that the target
 * has and that lets us. What cannot be written stays as it is.
 */
void ap_process_variables_set(struct ap_process_variables *variables,
	const struct ap_target *target, uint64_t period, bool guard);

/*
 * Notes a variable that was set by somebody else, to be set back here. Out of memory, it will not
 * be set back.
 */
void ap_process_variables_note(
	struct ap_process_variables *variables, const struct ap_process_variable *variable);

/*
 * Notes for a child what was set in its parent: until it executes something it has a copy of the
 * parent's memory, in which nothing tells what the values were before.
 */
void ap_process_variables_inherit(
	struct ap_process_variables *child, const struct ap_process_variables *parent);

/* Sets back what was changed, unless somebody else has changed it since. */
void ap_process_variables_restore(
	struct ap_process_variables *variables, const struct ap_target *target);

void ap_process_variables_clear(struct ap_process_variables *variables);

#endif
