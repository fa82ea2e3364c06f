/* SPDX-License-Identifier: MIT */
/*
 * Finds the descendants that the watched processes have already; those born later are added by the
 * BPF programs.
 */
#ifndef ALLOCPROF_DESCENDANTS_H
#define ALLOCPROF_DESCENDANTS_H

struct ap_process_watch;

/* Adds them all to the watch. 0; -ENOSPC: there are too many; or another negative errno. */
int ap_descendants_watch(struct ap_process_watch *watch);

#endif
