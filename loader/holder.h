/* SPDX-License-Identifier: MIT */
/*
 * A helper process that holds the programs which the children of `run` execute, at the
 * moment when their libraries are mapped but only the dynamic linker has run, until their
 * unwind tables are made.
 *
 * It uses ptrace, but only from shortly after the exec to that moment. Before and after, the
 * programs are not traced: they may trace each other, or look whether they are traced, as
 * leak checkers do; setuid works; and their signals are not touched. A program that somebody
 * else traces, or that already runs code of its own, is not held. This is a race with the
 * dynamic linker, which takes longer than the holder; a program that wins it is recorded with
 * stacks that end early.
 *
 * It is a process of its own because it must not be late, and because a tracee can only be let go
 * once it has stopped, which one that waits for a disk does not do soon. When the holder or this
 * process ends, however that happens, the kernel lets all of them go.
 */
#ifndef ALLOCPROF_HOLDER_H
#define ALLOCPROF_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct ap_holder {
	pid_t pid;  /* 0: there is none, and nothing is held */
	int socket; /* readable when ap_holder_next() has something; -1: there is none */
};

#define AP_HOLDER_NONE       \
	(struct ap_holder)   \
	{                    \
		.socket = -1 \
	}

/*
 * Starts it for what the descendants of a process execute from now on; that process must still have
 * only one thread. 0, or a negative errno when there is no holder.
 */
int ap_holder_start(struct ap_holder *holder, pid_t pid);

/*
 * Takes the next message, without waiting: a process is held now, or is held no longer. False:
 * there is none.
 */
struct ap_held {
	pid_t pid;
	bool is_held;
};
bool ap_holder_next(struct ap_holder *holder, struct ap_held *ret);

/* Lets a process go. One that is never let go is held for some seconds only. */
void ap_holder_go(struct ap_holder *holder, pid_t pid);

void ap_holder_end(struct ap_holder *holder); /* lets all go; ending twice is fine */

#endif
