/* SPDX-License-Identifier: MIT */
/*
 * The sites of processes that have ended, taken out of the kernel's maps to make room for others.
 * What such a process still held died with it: it counts as freed then.
 */
#ifndef ALLOCPROF_SITE_POOL_H
#define ALLOCPROF_SITE_POOL_H

#include "snapshot.h"
#include "table.h"

struct ap_site_pool {
	struct ap_site_key *keys;
	struct ap_site *sites;
	uint32_t count, room, keys_room;
	struct ap_table index;
	struct ap_site losses[AP_LOSSES]; /* to be added to the kernel's */
	struct ap_counters released;	  /* what has been freed in this way; also in the sites */
};

/* A pool starts as {0}. What a process, as it stands in keys, becomes in the pool; 0: it lives. */
typedef uint32_t ap_site_pool_owner_fn(void *context, uint32_t process);

/*
 * Takes everything that `owner` gives away. Nothing of it may run any more. 0 or a negative errno;
 * what could not be taken stays where it was.
 */
int ap_site_pool_take(struct ap_site_pool *pool, const struct ap_snapshot_maps *maps,
	ap_site_pool_owner_fn *owner, void *context, uint64_t now_ns);

/* Adds the pool to a snapshot. 0 or -ENOMEM. */
int ap_site_pool_add(const struct ap_site_pool *pool, struct ap_snapshot *snapshot);

void ap_site_pool_clear(struct ap_site_pool *pool);

#endif
