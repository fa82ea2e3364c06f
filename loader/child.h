/* SPDX-License-Identifier: MIT */
/* The command of `run`: forked first, held before its exec until the probes wait for it. */
#ifndef ALLOCPROF_CHILD_H
#define ALLOCPROF_CHILD_H

#include <sys/types.h>

#include "child_hold.h"
#include "error.h"

struct ap_child {
	pid_t pid;  /* 0: none */
	int go;	    /* write end of the pipe on which it waits to be let go; -1: not open */
	int failed; /* read end of the pipe that brings the errno of a failed exec; -1: not open */
	struct ap_child_hold hold;
};

/*
 * Forks a child that will run the command with `library` preloaded, behind what LD_PRELOAD has
 * already, and without the rights that sudo or ambient capabilities gave this process. It waits for
 * ap_child_exec(). 0 or a negative errno.
 */
int ap_child_fork(struct ap_child *child, char **command, const char *library);

/*
 * Lets it execute the command, and holds it again when its libraries are mapped; where it cannot be
 * held it runs on. 0 when the command is held or running; a negative errno with the error filled in
 * when it could not be executed.
 */
int ap_child_exec(struct ap_child *child, const char *name, struct ap_error *error);

/*
 * Waits for its end. Returns its exit status as a shell does: of one ended by a
 * signal, 128 + its number.
 */
int ap_child_wait(struct ap_child *child);

/*
 * Closes the pipes, by which a child that still waits to be let go ends. A child starts as {.go =
 * -1, .failed = -1}.
 */
void ap_child_clear(struct ap_child *child);

#endif
