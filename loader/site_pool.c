// SPDX-License-Identifier: MIT
#include "site_pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

static void site_add(struct ap_site *to, const struct ap_site *more)
{
	ap_counters_add(&to->allocated, &more->allocated);
	ap_counters_add(&to->freed, &more->freed);
	for (int i = 0; i < AP_SITE_LIFETIMES; i++)
		ap_lifetime_add(&to->lifetime[i], &more->lifetime[i]);
}

static bool key_equal(const void *array, uint32_t index, const void *key)
{
	return !memcmp((const struct ap_site_key *)array + index, key, sizeof(struct ap_site_key));
}

/* The pool's site with a key. NULL: there is none. */
static struct ap_site *site_find(const struct ap_site_pool *pool, const struct ap_site_key *key)
{
	int64_t index = ap_table_find(
		&pool->index, ap_hash(0, key, sizeof(*key)), key_equal, pool->keys, key);

	return index < 0 ? NULL : &pool->sites[index];
}

static int site_put(
	struct ap_site_pool *pool, const struct ap_site_key *key, const struct ap_site *site)
{
	struct ap_site *known = site_find(pool, key);

	if (!known) {
		if (ap_array_grow((void **)&pool->sites, pool->count, &pool->room, sizeof(*site)) ||
			ap_array_grow((void **)&pool->keys, pool->count, &pool->keys_room,
				sizeof(*key)) ||
			ap_table_add(&pool->index, ap_hash(0, key, sizeof(*key)), pool->count))
			return -ENOMEM;
		pool->keys[pool->count] = *key;
		known = &pool->sites[pool->count++];
		memset(known, 0, sizeof(*known));
	}
	site_add(known, site);
	return 0;
}

static int sites_take(
	struct ap_site_pool *pool, int map, ap_site_pool_owner_fn *owner, void *context)
{
	struct ap_map_dump dump = {0};
	int err = ap_map_dump_read(map, sizeof(*pool->keys), sizeof(*pool->sites), &dump);

	for (size_t i = 0; i < dump.count && !err; i++) {
		struct ap_site_key *kernel = (struct ap_site_key *)dump.keys + i;
		struct ap_site_key key = *kernel;

		key.process = owner(context, kernel->process);
		if (!key.process)
			continue;
		err = site_put(pool, &key, (struct ap_site *)dump.values + i);
		if (!err)
			bpf_map_delete_elem(map, kernel);
	}
	free(dump.keys);
	free(dump.values);
	return err;
}

/* The same as size_class() of the BPF programs: floor(log2(size)). */
static uint32_t size_class(uint64_t size)
{
	return size ? 63 - (uint32_t)__builtin_clzll(size) : 0;
}

static uint32_t lifetime_class(uint64_t age)
{
	uint64_t bound = AP_LIFETIME_SHORTEST_NS;
	uint32_t class = 0;

	for (; class < AP_SITE_LIFETIMES - 1 && age >= bound; class ++)
		bound *= 10;
	return class;
}

/* Counts a block as freed now. */
static void block_release(
	struct ap_site_pool *pool, const struct ap_live *live, uint32_t process, uint64_t now_ns)
{
	struct ap_site_key key = {
		.stack = live->stack,
		.process = process,
		.thread = live->thread,
		.size_class = size_class(live->size),
	};
	struct ap_site *site =
		live->stack < AP_LOSSES ? &pool->losses[live->stack] : site_find(pool, &key);
	struct ap_site freed = {
		.freed = {1, ap_objects_of(live->size, live->weight), live->size, live->weight,
			ap_square_of(live->size, live->weight)},
	};

	if (!site)
		return;
	freed.lifetime[lifetime_class(now_ns - live->born_ns)] =
		(struct ap_lifetime){1, freed.freed.objects, live->weight, freed.freed.squares};
	site_add(site, &freed);
	ap_counters_add(&pool->released, &freed.freed);
}

static int live_take(struct ap_site_pool *pool, int map, ap_site_pool_owner_fn *owner,
	void *context, uint64_t now_ns)
{
	struct ap_map_dump dump = {0};
	int err = ap_map_dump_read(map, sizeof(struct ap_live_key), sizeof(struct ap_live), &dump);

	for (size_t i = 0; i < dump.count && !err; i++) {
		struct ap_live_key *key = (struct ap_live_key *)dump.keys + i;
		uint32_t process = owner(context, key->process);

		if (process && !bpf_map_delete_elem(map, key))
			block_release(pool, (struct ap_live *)dump.values + i, process, now_ns);
	}
	free(dump.keys);
	free(dump.values);
	return err;
}

int ap_site_pool_take(struct ap_site_pool *pool, const struct ap_snapshot_maps *maps,
	ap_site_pool_owner_fn *owner, void *context, uint64_t now_ns)
{
	/* Sites before blocks, which are counted as freed at their sites. */
	int err = sites_take(pool, maps->sites, owner, context);

	return err ? err : live_take(pool, maps->live, owner, context, now_ns);
}

int ap_site_pool_add(const struct ap_site_pool *pool, struct ap_snapshot *snapshot)
{
	size_t count = snapshot->site_count + pool->count;
	struct ap_site_key *keys = reallocarray(snapshot->site_keys, count + 1, sizeof(*keys));
	struct ap_site *sites;

	if (!keys)
		return -ENOMEM;
	snapshot->site_keys = keys;
	sites = reallocarray(snapshot->sites, count + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	snapshot->sites = sites;
	if (pool->count) {
		memcpy(keys + snapshot->site_count, pool->keys, pool->count * sizeof(*keys));
		memcpy(sites + snapshot->site_count, pool->sites, pool->count * sizeof(*sites));
	}
	snapshot->site_count = count;
	for (int i = 0; i < AP_LOSSES; i++)
		site_add(&snapshot->losses[i], &pool->losses[i]);
	ap_counters_add(&snapshot->totals.freed, &pool->released);
	return 0;
}

void ap_site_pool_clear(struct ap_site_pool *pool)
{
	free(pool->keys);
	free(pool->sites);
	ap_table_clear(&pool->index);
	*pool = (struct ap_site_pool){0};
}
