/* SPDX-License-Identifier: MIT */
/*
 * A child that is held while its first tables are made: after its exec, when the libraries that it
 * is linked with are mapped and no code but the dynamic linker's has run. Of a program with large
 * libraries the constructors allocate much, at a time when nobody could unwind their stacks yet.
 *
 * Scripts and the like execute the real program a moment later: it is held again there, as long as
 * it is followed. What comes of signals meanwhile is to be seen to at once; SIGCHLD tells.
 *
 * By ptrace, which the kernel ends with us: a child that we do not let go, it does. In the end it
 * runs as if nothing had been, and others may trace it.
 *
 * To be used by one thread, in this order.
 */
#ifndef ALLOCPROF_CHILD_HOLD_H
#define ALLOCPROF_CHILD_HOLD_H

#include <stdbool.h>
#include <sys/types.h>

struct ap_child_hold {
	pid_t pid; /* 0: not traced, then the others do nothing */
	bool is_held;
	bool ends; /* it is to stop, to be let go for good */
};

/*
 * Of a child that has not executed its program yet. Not of a program that would have other rights
 * for being traced, which a tracer without CAP_SYS_PTRACE does to those with setuid.
 */
void ap_child_hold_begin(struct ap_child_hold *hold, pid_t pid);

/* Waits for its exec, or its end. */
void ap_child_hold_exec(struct ap_child_hold *hold);

/* Lets it map its libraries, and waits for that. One that has none, or a signal, is let go. */
void ap_child_hold_libraries(struct ap_child_hold *hold);

/* Lets it run until it executes something else. */
void ap_child_hold_go(struct ap_child_hold *hold);

/*
 * After each SIGCHLD: hands it what has stopped it, does not wait. Whether it is held again, with
 * the libraries of another program.
 */
bool ap_child_hold_follow(struct ap_child_hold *hold);

/*
 * Lets it go for good. One that the kernel does not stop just now, as it waits for a disk or for
 * what it has spawned, is to be followed on: this waits for so long at the most.
 */
void ap_child_hold_end(struct ap_child_hold *hold, unsigned int patience_ms);
void ap_child_hold_wait(struct ap_child_hold *hold); /* for as long as it takes */

#endif
