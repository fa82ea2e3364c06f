/* SPDX-License-Identifier: MIT */
/*
 * A helper process that shares the descriptors of this one while it closes them, so that the last
 * reference to each is dropped by the exit of the helper.
 *
 * The kernel takes a probe out where its last descriptor is closed, and for that reads and writes
 * the target's memory, which it refuses to a process with a fatal signal pending: one that is
 * killed inside its close() leaves the probe in and the semaphore up for good (Linux 6.18: "failed
 * to unregister, leaking uprobe"). A process that exits has no such signal pending any more, killed
 * or not. The keeper does nothing but that, whoever kills us or it.
 */
#ifndef ALLOCPROF_KEEPER_H
#define ALLOCPROF_KEEPER_H

#include <sys/types.h>

struct ap_keeper {
	pid_t pid; /* -1: there is none, and a kill while closing may leave a probe in */
	int end;   /* write end of the pipe whose end of file it waits for */
};

void ap_keeper_start(struct ap_keeper *keeper);

/* Lets it exit, and waits for that: what was closed since the start is really closed then. */
void ap_keeper_end(struct ap_keeper *keeper);

#endif
