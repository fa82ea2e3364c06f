/* SPDX-License-Identifier: MIT */
/*
 * The BPF side of a recording: programs and maps loaded, probes attached, counters read. All of it
 * is held by file descriptors of this process: when it dies, however it dies, the kernel takes the
 * probes out, lowers the semaphores and frees the maps.
 */
#ifndef ALLOCPROF_SESSION_H
#define ALLOCPROF_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <allocprof/abi.h>

#include "error.h"
#include "mapping.h"
#include "preflight.h"
#include "snapshot.h"
#include "unwind_table.h"
#include "usdt.h"

struct ap_process_watch;

struct ap_session_options {
	uint32_t max_stacks;  /* 2 KiB of kernel memory each, with its sites */
	uint32_t max_live;    /* live sampled blocks that are remembered: 112 bytes each */
	uint32_t max_threads; /* threads whose names are kept, with by_thread: 80 bytes each */
	uint32_t max_depth;   /* innermost frames that are kept of a stack, at most AP_FRAMES */
	bool by_thread;	      /* a stack's threads are sites of their own */
	uint64_t min_size, max_size; /* of recorded requests, in bytes, both included */
	uint32_t max_inside;	     /* threads in the probe at once, if it cannot hold the CPU */
	uint64_t hash_mask;	     /* bits of stack hashes that are used; tests clear some */
	/*
	 * All processes of this watch, which follows children, are recorded. NULL:
	 * only the one process.
	 */
	const struct ap_process_watch *tree;
	/* Gets libbpf's messages, whole lines; NULL: they are dropped. */
	void (*log)(const char *text);
	bool log_debug; /* its debug messages, too */
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

/* What the kernel has, which decides how the session works. */
const struct ap_preflight *ap_session_kernel(const struct ap_session *session);

/*
 * Attaches to the probes of a file in the process of a thread: for all its threads, those to come
 * included. The file need not be mapped yet. Does nothing if the file is attached by this thread
 * already; by another thread, it replaces that attachment. The object must outlive the session. 0,
 * or a negative errno with the error filled in when nothing has changed.
 */
int ap_session_attach(struct ap_session *session, const struct ap_object *object,
	const struct ap_usdt *usdt, pid_t tid, struct ap_error *error);

/*
 * Brings the unwind tables up to date with the mappings. Until then, stacks through code that is
 * new end early. 0, or a negative errno when only a part could be added.
 */
int ap_session_unwind(struct ap_session *session, const struct ap_mapping_table *table);

/* The unwind tables themselves, for the lists of other processes of a tree. */
struct ap_unwind *ap_session_tables(struct ap_session *session);

/* Sets who is told of each table that is made; NULL: nobody. */
void ap_session_set_work(struct ap_session *session, struct ap_work *work);

/* How many tables there are, and how large. */
const struct ap_unwind_counts *ap_session_unwind_counts(const struct ap_session *session);

/*
 * The requests of the BPF programs, struct ap_wish. The descriptor is readable when there are some.
 * Taking them brings in memory that the target, or another process of the tree, does not have
 * resident, and returns whether the target's mappings have to be read again. For another process,
 * `mapped` is told whether its mappings have to be, and returns its files or NULL; a `mapped` of
 * NULL: there are no others.
 */
int ap_session_wish_fd(const struct ap_session *session);
typedef const struct ap_process_files *ap_session_mapped_fn(
	void *context, pid_t pid, bool wants_mappings);
bool ap_session_wishes_take(struct ap_session *session, const struct ap_process_files *files,
	ap_session_mapped_fn *mapped, void *context);

/*
 * AP_PROCESS_EXEC times the number of programs that the process has executed since the session was
 * opened; added to its pid, this is the process as it stands in keys. 0 for a tree. Each exec also
 * makes a request, which wakes the caller.
 */
uint32_t ap_session_executed(const struct ap_session *session);

/*
 * How many requests found the ring buffer full. Nothing is lost with them: the next sample there
 * repeats them.
 */
uint64_t ap_session_wishes_lost(const struct ap_session *session);

/*
 * Takes the probes out and waits until no BPF program runs any more; from then on the sums
 * are exact. 0; -ETIMEDOUT: a thread is still inside a program after some seconds; or
 * another negative errno.
 */
int ap_session_detach(struct ap_session *session);

/* The totals as they are now. 0 or a negative errno. */
int ap_session_totals(const struct ap_session *session, struct ap_totals *ret);

/* The reserved sites as they are now, by enum ap_loss. 0 or a negative errno. */
int ap_session_losses(const struct ap_session *session, struct ap_site ret[AP_LOSSES]);

/* The descriptors of the maps, which stay the session's. */
struct ap_snapshot_maps ap_session_maps(const struct ap_session *session);

/* A snapshot of everything, to be cleared with ap_snapshot_clear(). 0 or a negative errno. */
int ap_session_snapshot(const struct ap_session *session, struct ap_snapshot *ret);

void ap_session_close(struct ap_session *session); /* NULL is fine */

#endif
