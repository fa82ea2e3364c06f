/* SPDX-License-Identifier: MIT */
/*
 * A copy of the kernel maps at one moment. Every counter only grows, so the difference of two
 * snapshots is what happened between them.
 */
#ifndef ALLOCPROF_SNAPSHOT_H
#define ALLOCPROF_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <allocprof/abi.h>

struct ap_snapshot {
	struct ap_totals totals;
	struct ap_site losses[AP_LOSSES];
	/*
	 * Parallel arrays. Stacks are sorted by id, and sites by the id of their stack; sites of
	 * ended processes of a tree come after these.
	 */
	struct ap_site_key *site_keys;
	struct ap_site *sites;
	size_t site_count;
	uint64_t *stack_ids;
	struct ap_stack *stacks;
	size_t stack_count;
	/* The blocks that were live shortly before the sites were read; unsorted. */
	struct ap_live_key *live_keys;
	struct ap_live *live;
	size_t live_count;
	uint32_t *thread_ids;
	struct ap_thread *threads; /* names, not necessarily ended by a NUL */
	size_t thread_count;
	uint64_t begin_ns, read_ns; /* CLOCK_MONOTONIC: of the first attach, and of this snapshot */
};

/* The content of a hash map, unsorted. */
struct ap_map_dump {
	char *keys, *values; /* parallel arrays, which the caller frees, also after an error */
	size_t count;
};

/* Reads a whole hash map. A dump starts as {0}. 0 or a negative errno. */
int ap_map_dump_read(int map, uint32_t key_size, uint32_t value_size, struct ap_map_dump *dump);

/* The estimated bytes that a process, as it stands in keys, holds by that map of live blocks. */
uint64_t ap_live_weight(int live, uint32_t process);

/* The descriptors of the maps that a snapshot reads. */
struct ap_snapshot_maps {
	int totals, losses, sites, stacks, live, threads;
};

/* Reads all but begin_ns. 0, or a negative errno when *ret is empty. */
int ap_snapshot_read(struct ap_snapshot *ret, const struct ap_snapshot_maps *maps);

/* The stack with this id, or NULL. */
const struct ap_stack *ap_snapshot_stack(const struct ap_snapshot *snapshot, uint64_t id);

void ap_snapshot_clear(struct ap_snapshot *snapshot);

void ap_counters_add(struct ap_counters *sum, const struct ap_counters *more);
void ap_lifetime_add(struct ap_lifetime *sum, const struct ap_lifetime *more);

/* The text for a loss, and for the end of a stack: "stack map full". */
const char *ap_loss_name(enum ap_loss loss);
const char *ap_end_name(enum ap_end end);

#endif
