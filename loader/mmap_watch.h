/* SPDX-License-Identifier: MIT */
/*
 * Executable mappings as a process makes them, from the kernel's perf events: a command that ends
 * after some milliseconds leaves nothing in /proc to look at. For a process that has one thread
 * yet; those that it starts are watched too.
 */
#ifndef ALLOCPROF_MMAP_WATCH_H
#define ALLOCPROF_MMAP_WATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "mapping.h"

struct ap_mmap_ring; /* one for each CPU */

struct ap_mmap_watch {
	int ready; /* readable when there is something to read; -1: not open */
	struct ap_mmap_ring *rings;
	size_t count;
};

#define AP_MMAP_WATCH_NONE     \
	(struct ap_mmap_watch) \
	{                      \
		.ready = -1    \
	}

/* 0 or a negative errno; it is not open then. */
int ap_mmap_watch_open(struct ap_mmap_watch *watch, pid_t pid);

/* Adds what process pid has mapped since the last call to the table. 0 or a negative errno. */
int ap_mmap_watch_read(struct ap_mmap_watch *watch, pid_t pid, struct ap_mapping_table *table);

void ap_mmap_watch_close(struct ap_mmap_watch *watch);

#endif
