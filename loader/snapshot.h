/* SPDX-License-Identifier: MIT */
/*
 * The kernel maps at one moment, in memory. Differences of two snapshots are what happened between
 * them: every counter only grows.
 */
#ifndef ALLOCPROF_SNAPSHOT_H
#define ALLOCPROF_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <allocprof/abi.h>

struct ap_snapshot {
	struct ap_totals totals;
	struct ap_site losses[AP_LOSSES];
	/* Parallel arrays; stacks sorted by id, sites by stack id, and then those of processes of a
	 * tree that have ended. */
	struct ap_site_key *site_keys;
	struct ap_site *sites;
	size_t site_count;
	uint64_t *stack_ids;
	struct ap_stack *stacks;
	size_t stack_count;
	/* The blocks that were live a little before the sites were read; in no order. */
	struct ap_live_key *live_keys;
	struct ap_live *live;
	size_t live_count;
	uint32_t *thread_ids;
	struct ap_thread *threads; /* names, not necessarily ended by a NUL */
	size_t thread_count;
	uint64_t begin_ns, read_ns; /* CLOCK_MONOTONIC: of the first attach, and now */
};

/* A whole hash map, in the order in which the kernel has it. */
struct ap_map_dump {
	char *keys, *values; /* to be freed, also after an error */
	size_t count;
};

/* 0 or a negative errno. A dump starts as {0}. */
int ap_map_dump_read(int map, uint32_t key_size, uint32_t value_size, struct ap_map_dump *dump);

/* The bytes that a process, as it stands in keys, holds by that map. */
uint64_t ap_live_weight(int live, uint32_t process);

/* The descriptors of the maps that a snapshot reads. */
struct ap_snapshot_maps {
	int totals, losses, sites, stacks, live, threads;
};

/* All but begin_ns. 0 or a negative errno; *ret is empty then. */
int ap_snapshot_read(struct ap_snapshot *ret, const struct ap_snapshot_maps *maps);

/* NULL: no stack has this id. */
const struct ap_stack *ap_snapshot_stack(const struct ap_snapshot *snapshot, uint64_t id);

void ap_snapshot_clear(struct ap_snapshot *snapshot);

void ap_counters_add(struct ap_counters *sum, const struct ap_counters *more);
void ap_lifetime_add(struct ap_lifetime *sum, const struct ap_lifetime *more);

/* What to say of a loss and of a stack's end: "stack map full". */
const char *ap_loss_name(enum ap_loss loss);
const char *ap_end_name(enum ap_end end);

#endif
