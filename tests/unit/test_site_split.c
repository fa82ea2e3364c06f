// SPDX-License-Identifier: MIT
/* The parts of a site add up to it, whatever it holds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "site_split.h"

/* In units of abi.h, which do not matter here. */
#define SQUARES 7

#define OBJECT (1ULL << AP_OBJECT_SHIFT)

/* A sample of 2.4 objects of 100 bytes; `samples` of them. */
static struct ap_lifetime lifetime(uint64_t samples)
{
	return (struct ap_lifetime){
		.samples = samples,
		.objects = samples * ap_objects_of(100, 240),
		.weight = samples * 240,
		.squares = samples * SQUARES,
	};
}

static void counters_add(struct ap_counters *counters, uint64_t samples)
{
	struct ap_lifetime more = lifetime(samples);

	counters->samples += more.samples;
	counters->objects += more.objects;
	counters->bytes += 100 * samples;
	counters->weight += more.weight;
	counters->squares += more.squares;
}

static void sum(const struct ap_site_part *part, unsigned int count, int64_t value[AP_VALUES],
	uint64_t *samples)
{
	memset(value, 0, AP_VALUES * sizeof(*value));
	*samples = 0;
	for (unsigned int i = 0; i < count; i++) {
		for (int v = 0; v < AP_VALUES; v++)
			value[v] += part[i].value[v];
		*samples += part[i].samples;
	}
}

static double variance_sum(const struct ap_site_part *part, unsigned int count)
{
	double variance = 0;

	for (unsigned int i = 0; i < count; i++)
		variance += part[i].variance;
	return variance;
}

static void test_sums(void **state)
{
	struct ap_site_part part[AP_SITE_PARTS];
	int64_t value[AP_VALUES];
	uint64_t samples;
	bool is_negative;

	/* Five lifetimes of 1, 2, 3 ... samples, three ages, and a free of unknown lifetime. */
	for (uint64_t unknown = 0; unknown < 3; unknown++) {
		struct ap_site site = {0};
		struct ap_site_ages ages = {0};
		unsigned int count;

		for (uint64_t i = 0; i < 5; i++) {
			site.lifetime[i + 1] = lifetime(i + 1);
			counters_add(&site.allocated, i + 1);
			counters_add(&site.freed, i + 1);
		}
		for (uint64_t i = 0; i < 3; i++) {
			ages.age[3 * i] = lifetime(i + 1);
			counters_add(&site.allocated, i + 1);
		}
		counters_add(&site.allocated, unknown);
		counters_add(&site.freed, unknown);
		count = ap_site_split(&site, &ages, part, &is_negative);
		assert_false(is_negative);
		assert_int_equal(count, 5 + 3 + (unknown > 0));
		sum(part, count, value, &samples);
		assert_int_equal(samples, 15 + 6 + unknown);
		assert_int_equal(value[AP_ALLOC_SPACE], 240 * (21 + unknown));
		assert_int_equal(value[AP_INUSE_SPACE], 240 * 6);
		/* 2.4 objects each: rounded once, not eight times. */
		assert_int_equal(value[AP_ALLOC_OBJECTS], (24 * (21 + unknown) + 5) / 10);
		assert_in_range(value[AP_INUSE_OBJECTS], 14, 15);
		assert_true(variance_sum(part, count) ==
			    ldexp((double)(SQUARES * (21 + unknown)), AP_SQUARE_SHIFT));
		for (unsigned int i = 0; i < count; i++)
			assert_true(part[i].lifetime < 0 || part[i].age < 0);
	}
}

/* The blocks are read before the sites: some have been freed since, others are new. */
static void test_blocks_and_sites_differ(void **state)
{
	struct ap_site site = {0};
	struct ap_site_ages ages = {0};
	struct ap_site_part part[AP_SITE_PARTS];
	bool is_negative;

	counters_add(&site.allocated, 10);
	counters_add(&site.freed, 7);
	site.lifetime[2] = lifetime(7);
	ages.age[0] = lifetime(2);
	ages.age[9] = lifetime(2);
	assert_int_equal(ap_site_split(&site, &ages, part, &is_negative), 3);
	assert_int_equal(part[1].age, 9);
	assert_int_equal(part[1].value[AP_INUSE_SPACE], 2 * 240);
	assert_int_equal(part[2].age, 0);
	assert_int_equal(part[2].value[AP_INUSE_SPACE], 240);
	assert_int_equal(part[2].samples, 1);
	/* New ones are live and of no known age. */
	ages.age[0] = ages.age[9] = lifetime(1);
	assert_int_equal(ap_site_split(&site, &ages, part, &is_negative), 4);
	assert_int_equal(part[3].age, -1);
	assert_int_equal(part[3].value[AP_INUSE_SPACE], 240);
	assert_int_equal(part[3].value[AP_ALLOC_SPACE], 240);
}

static void test_hostile_counters(void **state)
{
	struct ap_site site = {0};
	struct ap_site_part part[AP_SITE_PARTS];
	bool is_negative;
	int64_t value[AP_VALUES];
	uint64_t samples;
	unsigned int count;

	assert_int_equal(ap_site_split(&site, NULL, part, &is_negative), 0);
	assert_false(is_negative);
	counters_add(&site.allocated, 1);
	counters_add(&site.freed, 2);
	count = ap_site_split(&site, NULL, part, &is_negative);
	assert_true(is_negative);
	sum(part, count, value, &samples);
	assert_int_equal(value[AP_ALLOC_SPACE], 240);
	assert_int_equal(value[AP_INUSE_SPACE], 0);
	/* More lived than was freed. */
	site.freed = (struct ap_counters){0};
	for (int i = 0; i < AP_LIFETIMES; i++)
		site.lifetime[i] =
			(struct ap_lifetime){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	count = ap_site_split(&site, NULL, part, &is_negative);
	sum(part, count, value, &samples);
	assert_int_equal(value[AP_ALLOC_SPACE], 240);
	assert_int_equal(value[AP_ALLOC_OBJECTS], 2);
	assert_int_equal(value[AP_INUSE_SPACE], 240);
}

static void test_ages(void **state)
{
	struct ap_site_key keys[2] = {{.stack = 64, .process = 7, .size_class = 6},
		{.stack = 64, .process = 7, .size_class = 6, .thread = 9}};
	struct ap_live_key live_keys[5] = {{1, 7, 0}, {2, 7, 0}, {3, 7, 0}, {4, 7, 0}, {5, 8, 0}};
	struct ap_live live[5] = {
		{.stack = 64, .size = 100, .weight = 200, .born_ns = 1000},
		{.stack = 64, .size = 100, .weight = 300, .born_ns = 1950, .thread = 9},
		{.stack = AP_LOSS_STACKS, .size = 100, .weight = 400, .born_ns = 1500},
		/* Born while it was read; of no site; of another process. */
		{.stack = 64, .size = 100, .weight = 500, .born_ns = 2100},
		{.stack = 64, .size = 100, .weight = 600, .born_ns = 1500},
	};
	struct ap_snapshot snapshot = {.site_keys = keys,
		.site_count = 2,
		.live_keys = live_keys,
		.live = live,
		.live_count = 5,
		.begin_ns = 1000,
		.read_ns = 2000};
	struct ap_site_ages *ages = ap_site_ages_new(&snapshot);

	assert_non_null(ages);
	assert_int_equal(ages[0].age[9].weight, 200);
	assert_int_equal(ages[0].age[0].weight, 500);
	assert_int_equal(ages[0].age[5].weight, 0);
	assert_int_equal(ages[1].age[0].weight, 300);
	assert_int_equal(ages[1].age[0].objects, 3 * OBJECT);
	assert_int_equal(ages[2 + AP_LOSS_STACKS].age[5].samples, 1);
	free(ages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_blocks_and_sites_differ),
		cmocka_unit_test(test_hostile_counters),
		cmocka_unit_test(test_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
