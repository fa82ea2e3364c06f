/* SPDX-License-Identifier: MIT */
/* The command of `run`: forked first, held before its exec until the probes wait for it. */
#ifndef ALLOCPROF_CHILD_H
#define ALLOCPROF_CHILD_H

#include <sys/types.h>

#include "child_hold.h"
#include "error.h"

struct ap_child {
	pid_t pid;  /* 0: none */
	int go;	    /* our end of the pipe on which it waits; -1: not open */
	int failed; /* whence comes the errno of an exec that failed; -1: not open */
	struct ap_child_hold hold;
};

/*
 * Forks a child that will run the command with `library` preloaded, after what is preloaded
 * already, and without the rights that sudo or ambient capabilities have given us. It waits. 0 or a
 * negative errno.
 */
int ap_child_fork(struct ap_child *child, char **command, const char *library);

/*
 * Lets it go as far as its libraries are mapped, or for good where it cannot be held there. 0 when
 * the command is running or held; a negative errno when it could not be executed, with the error
 * filled in.
 */
int ap_child_exec(struct ap_child *child, const char *name, struct ap_error *error);

/* Waits for its end: its exit status as a shell would have it, 128 + the signal's number. */
int ap_child_wait(struct ap_child *child);

/* A child that still waits to be let go ends. A child starts as {.go = -1, .failed = -1}. */
void ap_child_clear(struct ap_child *child);

#endif
