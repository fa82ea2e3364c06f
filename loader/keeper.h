/* SPDX-License-Identifier: MIT */
/*
 * Another process that has our descriptors too while we close them, so that the last of each is
 * closed by that one's exit.
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
	pid_t pid; /* -1: there is none, and closing is as safe as it can be without */
	int end;   /* that it waits to see closed */
};

void ap_keeper_start(struct ap_keeper *keeper);

/* Lets it go, and waits until it is gone: what we have closed since the start is closed then. */
void ap_keeper_end(struct ap_keeper *keeper);

#endif
