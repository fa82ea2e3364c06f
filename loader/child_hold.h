/* SPDX-License-Identifier: MIT */
/*
 * Holds the child of `run` after its exec, at the moment when its libraries are mapped but only the
 * dynamic linker has run, until its unwind tables are made. Otherwise what the constructors of
 * large libraries allocate would come before anybody can unwind their stacks.
 *
 * A script executes the real program a moment later: the child is held again there, until
 * ap_child_hold_end(). In the meantime every signal to the child stops it, so the caller has to
 * call ap_child_hold_follow() at each SIGCHLD without delay.
 *
 * This uses ptrace. When this process ends, however it ends, the kernel lets the child go. Once let
 * go the child is not traced any more, and a debugger may attach to it.
 *
 * All calls must come from one thread, since a tracer is a thread, and in the order below.
 */
#ifndef ALLOCPROF_CHILD_HOLD_H
#define ALLOCPROF_CHILD_HOLD_H

#include <stdbool.h>
#include <sys/types.h>

struct ap_child_hold {
	pid_t pid; /* 0: it is not traced, and the functions below do nothing */
	bool is_held;
	bool ends; /* it has been told to stop, to be let go for good */
};

/*
 * Begins to trace a child that has not executed its program yet. Does nothing without
 * CAP_SYS_PTRACE: a setuid program would not get its rights while somebody without it traces it.
 */
void ap_child_hold_begin(struct ap_child_hold *hold, pid_t pid);

/* Waits for its exec, or its end. */
void ap_child_hold_exec(struct ap_child_hold *hold);

/*
 * Lets it run until its libraries are mapped. A child that has none, or that gets a signal, is let
 * go for good.
 */
void ap_child_hold_libraries(struct ap_child_hold *hold);

/* Lets it run until it executes something else. */
void ap_child_hold_go(struct ap_child_hold *hold);

/*
 * To be called after each SIGCHLD: delivers the signals that have stopped the child, without
 * waiting. Returns whether it is held again, with the libraries of another program mapped.
 */
bool ap_child_hold_follow(struct ap_child_hold *hold);

/*
 * Lets it go for good, for which it has to stop first. A child that waits for a disk, or for what
 * it has vforked, does not stop soon: this waits patience_ms at most, after which it still has to
 * be followed.
 */
void ap_child_hold_end(struct ap_child_hold *hold, unsigned int patience_ms);
void ap_child_hold_wait(struct ap_child_hold *hold); /* the same, for as long as it takes */

#endif
