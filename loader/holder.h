/* SPDX-License-Identifier: MIT */
/*
 * A process of ours that holds programs which the children of `run` have just executed, when their
 * libraries are mapped and no code but the dynamic linker's has run, until their tables are made.
 *
 * By ptrace, but only from a moment after the exec to that one: before and after they are not
 * traced, so that they may trace each other, or look whether they are traced, as leak checkers do;
 * setuid is what it is; and signals are theirs. A program that is traced already, or that is found
 * in code of its own, goes on. It is a race with the linker, which takes longer than we do; what
 * loses it is recorded, too, with stacks that end early.
 *
 * Another process, because it must not be late, and because a tracee can be let go only where it has
 * stopped, which one that waits for a disk does not do soon. When it ends, or when we do, however
 * that is, the kernel lets all of them go.
 */
#ifndef ALLOCPROF_HOLDER_H
#define ALLOCPROF_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct ap_holder {
	pid_t pid;  /* 0: there is none, and nothing is held */
	int socket; /* readable when there is an answer; -1: none */
};

#define AP_HOLDER_NONE       \
	(struct ap_holder)   \
	{                    \
		.socket = -1 \
	}

/*
 * For what descendants of a process execute from now on, which has one thread yet. 0 or a negative
 * errno: there is none then.
 */
int ap_holder_start(struct ap_holder *holder, pid_t pid);

/* The next answer that is there: which process is held, or goes on. False: there is none. */
struct ap_held {
	pid_t pid;
	bool is_held;
};
bool ap_holder_next(struct ap_holder *holder, struct ap_held *ret);

/* Lets one go. It does not wait longer than some seconds for that. */
void ap_holder_go(struct ap_holder *holder, pid_t pid);

void ap_holder_end(struct ap_holder *holder); /* all are let go; ending twice is fine */

#endif
