/* SPDX-License-Identifier: MIT */
/*
 * The sites of processes that have ended, taken out of the kernel's maps to make room for others.
 * What such a process still held is gone with it, and counts as freed. A pool starts as {0}.
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
	struct ap_site losses[AP_LOSSES]; /* to be added to those in the kernel */
	struct ap_counters released; /* what counts as freed in this way; it is in the sites, too */
};

/* The key in the pool for a process, as it stands in keys; 0: it lives, and is not taken. */
typedef uint32_t ap_site_pool_owner_fn(void *context, uint32_t process);

/*
 * Takes all sites of the processes for which `owner` gives a key; these must not run any more. 0,
 * or a negative errno: what could not be taken stays in the kernel's maps.
 */
int ap_site_pool_take(struct ap_site_pool *pool, const struct ap_snapshot_maps *maps,
	ap_site_pool_owner_fn *owner, void *context, uint64_t now_ns);

/* Adds the pool to a snapshot. 0 or -ENOMEM. */
int ap_site_pool_add(const struct ap_site_pool *pool, struct ap_snapshot *snapshot);

void ap_site_pool_clear(struct ap_site_pool *pool);

#endif
