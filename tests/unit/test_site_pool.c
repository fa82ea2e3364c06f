// SPDX-License-Identifier: MIT
/* From real BPF maps into a pool, and from there into a snapshot: nothing is lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <bpf/bpf.h>

#include "site_pool.h"

#define STACK	100
#define NOW	(3600 * 1000000000ULL)
#define SECOND	1000000000ULL
#define OBJECTS ((uint64_t)1 << AP_OBJECT_SHIFT)
#define SQUARES 9 /* of a sample; any number */

/* Processes in keys: those of one group, another one, and one that lives. */
enum { FIRST = 0x1007, LAST = 0x1009, OTHER = 0x100b, LIVING = 0x1010 };
enum { GROUP = 1 << 24, OTHER_GROUP = 2 << 24 };

static uint32_t owner_of(void *context, uint32_t process)
{
	if (process == LIVING)
		return 0;
	return process == OTHER ? OTHER_GROUP : GROUP;
}

static int map_create(uint32_t key_size, uint32_t value_size)
{
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "test", key_size, value_size, 64, NULL);

	if (map == -EPERM)
		skip();
	assert_true(map >= 0);
	return map;
}

static int setup(void **state)
{
	static struct ap_snapshot_maps maps;

	maps = (struct ap_snapshot_maps){-1, -1, -1, -1, -1, -1};
	*state = &maps;
	return 0;
}

static void maps_create(struct ap_snapshot_maps *maps)
{
	maps->sites = map_create(sizeof(struct ap_site_key), sizeof(struct ap_site));
	maps->live = map_create(sizeof(struct ap_live_key), sizeof(struct ap_live));
}

static int teardown(void **state)
{
	struct ap_snapshot_maps *maps = *state;

	if (maps->sites >= 0)
		close(maps->sites);
	if (maps->live >= 0)
		close(maps->live);
	return 0;
}

/* A site of blocks of 64 to 127 bytes. */
static struct ap_site_key site_key(uint32_t process)
{
	return (struct ap_site_key){.stack = STACK, .process = process, .size_class = 6};
}

static void site_set(int map, uint32_t process, uint64_t samples)
{
	struct ap_site_key key = site_key(process);
	struct ap_site site = {
		.allocated = {samples, samples * 10 * OBJECTS, samples * 100, samples * 1000,
			samples * SQUARES},
		.freed = {1, 10 * OBJECTS, 100, 1000, SQUARES},
		.lifetime[3] = {1, 10 * OBJECTS, 1000, SQUARES},
	};

	assert_int_equal(bpf_map_update_elem(map, &key, &site, BPF_NOEXIST), 0);
}

static void block_set(int map, uint32_t process, struct ap_live live)
{
	static uint64_t pointer = 0x1000;
	struct ap_live_key key = {.pointer = pointer, .process = process};

	pointer += 16;
	assert_int_equal(bpf_map_update_elem(map, &key, &live, BPF_NOEXIST), 0);
}

static size_t map_count(int map, uint32_t key_size, uint32_t value_size)
{
	struct ap_map_dump dump = {0};

	assert_int_equal(ap_map_dump_read(map, key_size, value_size, &dump), 0);
	free(dump.keys);
	free(dump.values);
	return dump.count;
}

static void assert_left(const struct ap_snapshot_maps *maps, size_t sites, size_t blocks)
{
	assert_int_equal(
		map_count(maps->sites, sizeof(struct ap_site_key), sizeof(struct ap_site)), sites);
	assert_int_equal(
		map_count(maps->live, sizeof(struct ap_live_key), sizeof(struct ap_live)), blocks);
}

static const struct ap_site *site_of(const struct ap_site_pool *pool, uint32_t process)
{
	for (uint32_t i = 0; i < pool->count; i++)
		if (pool->keys[i].process == process)
			return &pool->sites[i];
	fail_msg("no site of %x", process);
	return NULL;
}

static void assert_counters(
	const struct ap_counters *got, uint64_t samples, uint64_t bytes, uint64_t weight)
{
	assert_int_equal(got->samples, samples);
	assert_int_equal(got->bytes, bytes);
	assert_int_equal(got->weight, weight);
}

/* Sites of one group are added up; those of a living process stay in the map. */
static void sites_are_added_up(void **state)
{
	const struct ap_snapshot_maps *maps = *state;
	struct ap_site_pool pool = {0};

	maps_create(*state);
	site_set(maps->sites, FIRST, 5);
	site_set(maps->sites, LAST, 7);
	site_set(maps->sites, OTHER, 2);
	site_set(maps->sites, LIVING, 3);
	assert_int_equal(ap_site_pool_take(&pool, maps, owner_of, NULL, NOW), 0);
	assert_int_equal(pool.count, 2);
	assert_counters(&site_of(&pool, GROUP)->allocated, 12, 1200, 12000);
	assert_int_equal(site_of(&pool, GROUP)->allocated.objects, 120 * OBJECTS);
	assert_counters(&site_of(&pool, GROUP)->freed, 2, 200, 2000);
	assert_int_equal(site_of(&pool, GROUP)->lifetime[3].samples, 2);
	assert_int_equal(site_of(&pool, GROUP)->lifetime[3].weight, 2000);
	assert_int_equal(site_of(&pool, GROUP)->allocated.squares, 12 * SQUARES);
	assert_int_equal(site_of(&pool, GROUP)->freed.squares, 2 * SQUARES);
	assert_int_equal(site_of(&pool, GROUP)->lifetime[3].squares, 2 * SQUARES);
	assert_counters(&site_of(&pool, OTHER_GROUP)->allocated, 2, 200, 2000);
	assert_left(maps, 1, 0);

	/* One more of the group ends later. */
	site_set(maps->sites, FIRST, 1);
	assert_int_equal(ap_site_pool_take(&pool, maps, owner_of, NULL, NOW), 0);
	assert_int_equal(pool.count, 2);
	assert_counters(&site_of(&pool, GROUP)->allocated, 13, 1300, 13000);
	assert_counters(&pool.released, 0, 0, 0);
	ap_site_pool_clear(&pool);
	assert_int_equal(pool.count, 0);
}

/* What it held died with it, as old as it was. */
static void blocks_count_as_freed(void **state)
{
	const struct ap_snapshot_maps *maps = *state;
	struct ap_site_pool pool = {0};
	const struct ap_site *site;

	maps_create(*state);
	site_set(maps->sites, FIRST, 5);
	site_set(maps->sites, LIVING, 5);
	block_set(maps->live, FIRST, (struct ap_live){STACK, 100, 1000, NOW - 999999, 0, 0});
	block_set(maps->live, FIRST, (struct ap_live){STACK, 64, 640, NOW - 1000000, 0, 0});
	block_set(maps->live, LAST, (struct ap_live){STACK, 127, 127, NOW - SECOND, 0, 0});
	block_set(maps->live, LAST, (struct ap_live){STACK, 100, 100, 0, 0, 0});
	block_set(maps->live, LIVING, (struct ap_live){STACK, 100, 1000, NOW, 0, 0});
	block_set(maps->live, LAST, (struct ap_live){STACK, 100, 1 << 20, NOW, 0, 0});
	/* A loss has no site in the map; a block of another class has none at all. */
	block_set(maps->live, FIRST, (struct ap_live){AP_LOSSES - 1, 50, 500, NOW, 0, 0});
	block_set(maps->live, FIRST, (struct ap_live){STACK, 128, 128, NOW, 0, 0});
	assert_int_equal(ap_site_pool_take(&pool, maps, owner_of, NULL, NOW), 0);
	assert_left(maps, 1, 1);
	site = site_of(&pool, GROUP);
	assert_counters(&site->freed, 1 + 5, 100 + 491, 1000 + 1867 + (1 << 20));
	assert_int_equal(site->freed.objects,
		(10 + 10 + 10 + 1 + 1) * OBJECTS + ap_objects_of(100, 1 << 20));
	assert_int_equal(site->lifetime[0].weight, 1000 + (1 << 20));
	assert_int_equal(
		site->lifetime[0].squares, ap_square_of(100, 1000) + ap_square_of(100, 1 << 20));
	assert_int_equal(site->lifetime[1].weight, 640);
	/* A second is the first of the decade from 1 to 10 s; the last has no end. */
	assert_int_equal(site->lifetime[4].weight, 127);
	assert_int_equal(site->lifetime[AP_SITE_LIFETIMES - 1].weight, 100);
	assert_counters(&pool.losses[AP_LOSSES - 1].freed, 1, 50, 500);
	assert_int_equal(pool.losses[AP_LOSSES - 1].freed.objects, 10 * OBJECTS);
	assert_counters(&pool.released, 6, 541, 2367 + (1 << 20));
	ap_site_pool_clear(&pool);
}

static void snapshot_has_both(void **state)
{
	const struct ap_snapshot_maps *maps = *state;
	struct ap_snapshot snapshot = {.losses[0].freed = {1, OBJECTS, 10, 10, 5}};
	struct ap_site_pool pool = {0};

	maps_create(*state);
	assert_int_equal(ap_site_pool_add(&pool, &snapshot), 0);
	assert_int_equal(snapshot.site_count, 0);
	site_set(maps->sites, FIRST, 5);
	block_set(maps->live, FIRST, (struct ap_live){0, 50, 500, NOW, 0, 0});
	assert_int_equal(ap_site_pool_take(&pool, maps, owner_of, NULL, NOW), 0);
	snapshot.totals.freed = (struct ap_counters){2, 2 * OBJECTS, 20, 20, 5};
	assert_int_equal(ap_site_pool_add(&pool, &snapshot), 0);
	assert_int_equal(snapshot.site_count, 1);
	assert_int_equal(snapshot.site_keys[0].process, GROUP);
	assert_counters(&snapshot.sites[0].allocated, 5, 500, 5000);
	assert_counters(&snapshot.losses[0].freed, 2, 60, 510);
	assert_counters(&snapshot.totals.freed, 3, 70, 520);
	/* The pool still has it, for the next one, and the next one is added after the first. */
	assert_int_equal(ap_site_pool_add(&pool, &snapshot), 0);
	assert_int_equal(snapshot.site_count, 2);
	assert_counters(&snapshot.sites[1].allocated, 5, 500, 5000);
	ap_snapshot_clear(&snapshot);
	ap_site_pool_clear(&pool);
}

/* Maps of another program: an error, and they keep what they have. */
static void other_maps_are_refused(void **state)
{
	struct ap_snapshot_maps *maps = *state;
	struct ap_site_pool pool = {0};

	maps_create(maps);
	site_set(maps->sites, FIRST, 5);
	assert_int_equal(
		ap_site_pool_take(&pool,
			&(struct ap_snapshot_maps){.sites = maps->live, .live = maps->sites},
			owner_of, NULL, NOW),
		-EINVAL);
	assert_left(maps, 1, 0);
	assert_int_equal(pool.count, 0);
	ap_site_pool_clear(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_are_added_up, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_count_as_freed, setup, teardown),
		cmocka_unit_test_setup_teardown(snapshot_has_both, setup, teardown),
		cmocka_unit_test_setup_teardown(other_maps_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
