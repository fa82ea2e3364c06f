/* SPDX-License-Identifier: MIT */
/*
 * The BPF side of a recording: programs and maps loaded, probes attached, counters read. All of it
 * hangs on file descriptors of this process: when it dies, however it dies, the kernel takes the
 * probes out, lowers the semaphores and frees the maps.
 */
#ifndef ALLOCPROF_SESSION_H
#define ALLOCPROF_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <allocprof/abi.h>

#include "error.h"
#include "preflight.h"
#include "snapshot.h"
#include "target.h"
#include "unwind_table.h"

struct ap_process_watch;

struct ap_session_options {
	uint32_t max_stacks; /* 2 KiB of kernel memory each, with its sites */
	uint32_t max_live;   /* sampled blocks that are followed until their free: 112 bytes each */
	uint32_t max_threads;	     /* whose names are kept, with by_thread: 80 bytes each */
	uint32_t max_depth;	     /* frames that are kept of a stack, at most AP_FRAMES */
	bool by_thread;		     /* a stack's threads are sites of their own */
	uint64_t min_size, max_size; /* of the requests that are recorded */
	uint32_t max_inside;	     /* threads inside the probe at one moment */
	uint64_t hash_mask;	     /* of stack hashes; fewer bits force collisions */
	/* Follows children: all its processes are recorded. NULL: the one process is. */
	const struct ap_process_watch *tree;
	/* Gets libbpf's messages, whole lines; NULL: they are dropped. */
	void (*log)(const char *text);
	bool log_debug; /* also what only tells what it does */
};

#define AP_SESSION_DEFAULTS                                                        \
	{                                                                          \
		.max_stacks = 16384, .max_live = 65536, .max_threads = 4096,       \
		.max_depth = AP_FRAMES, .max_size = UINT64_MAX, .max_inside = 512, \
		.hash_mask = ~0ULL                                                 \
	}

struct ap_session;
struct ap_work;

/* Loads the programs. 0 and *ret, or a negative errno with the error filled in. */
int ap_session_open(struct ap_session **ret, pid_t pid, const struct ap_session_options *options,
	struct ap_error *error);

/* What the kernel has, and by that how the session does its work. */
const struct ap_preflight *ap_session_kernel(const struct ap_session *session);

/*
 * Attaches to the probes of a file on behalf of a thread, which stands for its whole process,
 * threads to come included; before the file is mapped, too. The same file again is nothing to do,
 * and on behalf of another thread replaces the first attachment. The object must stay. 0, or a
 * negative errno with the error filled in, when nothing has changed.
 */
int ap_session_attach(struct ap_session *session, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, struct ap_error *error);

/*
 * Brings the unwind tables to what the table of mappings has. Before it, and for code that was
 * mapped later, stacks end early. 0 or a negative errno; what could be added is there then.
 */
int ap_session_unwind(struct ap_session *session, const struct ap_mapping_table *table);

/* The tables themselves, for lists of more processes. */
struct ap_unwind *ap_session_tables(struct ap_session *session);

/* Who is told of the tables that are made; NULL: nobody. */
void ap_session_set_work(struct ap_session *session, struct ap_work *work);

/* What the tables have come to. */
const struct ap_unwind_counts *ap_session_unwind_counts(const struct ap_session *session);

/*
 * What the programs wish for. The descriptor is readable when there is something. Taking it brings
 * in the memory that the target, or another process of the tree, does not have resident, and
 * returns whether the target's mappings are to be read again. Of another process `mapped` is told
 * that, and gives its files, or NULL; a `mapped` of NULL: there are none.
 */
int ap_session_wish_fd(const struct ap_session *session);
typedef const struct ap_process_files *ap_session_mapped_fn(
	void *context, pid_t pid, bool wants_mappings);
bool ap_session_wishes_take(struct ap_session *session, const struct ap_process_files *files,
	ap_session_mapped_fn *mapped, void *context);

/*
 * AP_PROCESS_EXEC for each program that the process has executed since the session was opened: with
 * its number that makes what stands in keys. 0 of a tree. A wish comes with it.
 */
uint32_t ap_session_executed(const struct ap_session *session);

/* How many found the ring buffer full. What they stood for is in the stacks' ends as well. */
uint64_t ap_session_wishes_lost(const struct ap_session *session);

/*
 * Takes the probes out and waits until no program runs any more: the sums are exact then.
 * -ETIMEDOUT: a thread still stands in a program after some seconds.
 */
int ap_session_detach(struct ap_session *session);

/* The totals by now. 0 or a negative errno. */
int ap_session_totals(const struct ap_session *session, struct ap_totals *ret);

/* The reserved sites by now, by enum ap_loss. 0 or a negative errno. */
int ap_session_losses(const struct ap_session *session, struct ap_site ret[AP_LOSSES]);

/* The maps, of which the session stays the owner. */
struct ap_snapshot_maps ap_session_maps(const struct ap_session *session);

/* Everything by now. 0 or a negative errno. Cleared with ap_snapshot_clear(). */
int ap_session_snapshot(const struct ap_session *session, struct ap_snapshot *ret);

void ap_session_close(struct ap_session *session); /* NULL is fine */

#endif
