/* SPDX-License-Identifier: MIT */
/*
 * Executable mappings at the moment when a process makes them, from the kernel's perf events: of a
 * command that ends after some milliseconds nothing would be left in /proc to look at.
 */
#ifndef ALLOCPROF_MMAP_WATCH_H
#define ALLOCPROF_MMAP_WATCH_H

#include <sys/types.h>

#include "mapping.h"
#include "perf_rings.h"

/*
 * Opens the rings for a process, which must still have only one thread. 0, or a negative errno when
 * they are not open.
 */
int ap_mmap_watch_open(struct ap_perf_rings *rings, pid_t pid);

/* Adds what process pid has mapped since the last call to the table. 0 or a negative errno. */
int ap_mmap_watch_read(struct ap_perf_rings *rings, pid_t pid, struct ap_mapping_table *table);

#endif
