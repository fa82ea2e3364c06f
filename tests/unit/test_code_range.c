// SPDX-License-Identifier: MIT
/*
 * Mappings that were put over others since the maps were read. test_jit_dump.c
 * tests the same for code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "code_range.h"
#include "mapping.h"

#define MAPPINGS_MAX 64

struct fixture {
	struct ap_mapping mappings[MAPPINGS_MAX], *pointers[MAPPINGS_MAX];
	uint32_t current[MAPPINGS_MAX];
	struct ap_mapping_table table;
};

static void add(struct fixture *fixture, uint64_t start, uint64_t end)
{
	struct ap_mapping_table *table = &fixture->table;
	struct ap_mapping *mapping = &fixture->mappings[table->count];

	table->mappings = fixture->pointers;
	table->current = fixture->current;
	*mapping = (struct ap_mapping){.id = (uint32_t)table->count, .start = start, .end = end};
	table->mappings[table->count++] = mapping;
}

static void add_read(struct fixture *fixture, uint64_t start, uint64_t end)
{
	struct ap_mapping_table *table = &fixture->table;

	add(fixture, start, end);
	fixture->current[table->current_count++] = table->read_count++;
}

static void expect(
	const struct fixture *fixture, const struct ap_code_range *expected, size_t count)
{
	size_t got;
	struct ap_code_range *ranges = ap_code_ranges_get(&fixture->table, &got);

	assert_non_null(ranges);
	assert_int_equal(got, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ranges[i].start, expected[i].start);
		assert_int_equal(ranges[i].end, expected[i].end);
		assert_int_equal(ranges[i].id, expected[i].id);
	}
	free(ranges);
}

#define R(from, to, mapping)                                  \
	{                                                     \
		.start = (from), .end = (to), .id = (mapping) \
	}
#define EXPECT(fixture, ...)                                          \
	expect(fixture, (const struct ap_code_range[]){__VA_ARGS__},  \
		sizeof((const struct ap_code_range[]){__VA_ARGS__}) / \
			sizeof(struct ap_code_range))

static void test_apart(void **state)
{
	struct fixture fixture = {0};

	add_read(&fixture, 10, 20);
	add_read(&fixture, 20, 30);
	add(&fixture, 50, 60);
	add(&fixture, 40, 50);
	EXPECT(&fixture, R(10, 20, 0), R(20, 30, 1), R(40, 50, 3), R(50, 60, 2));
}

/* The range below holds again at both sides. */
static void test_in_the_middle(void **state)
{
	struct fixture fixture = {0};

	add_read(&fixture, 10, 100);
	add(&fixture, 40, 50);
	EXPECT(&fixture, R(10, 40, 0), R(40, 50, 1), R(50, 100, 0));
	add(&fixture, 45, 120);
	EXPECT(&fixture, R(10, 40, 0), R(40, 45, 1), R(45, 120, 2));
}

/* Found by the fuzzer: the last hid the rest of the first, and then overlapped the second. */
static void test_three_deep(void **state)
{
	struct fixture fixture = {0};

	add_read(&fixture, 16, 272);
	add(&fixture, 20, 30);
	add(&fixture, 9, 210);
	EXPECT(&fixture, R(9, 210, 2), R(210, 272, 0));
	add(&fixture, 0, UINT64_MAX);
	EXPECT(&fixture, R(0, UINT64_MAX, 3));
}

static void test_none(void **state)
{
	struct fixture fixture = {0};
	size_t count = 1;
	struct ap_code_range *ranges = ap_code_ranges_get(&fixture.table, &count);

	assert_non_null(ranges);
	assert_int_equal(count, 0);
	free(ranges);
}

/* Compares with an exhaustive look at every address. */
static void test_any(void **state)
{
	uint64_t random = 88172645463325252;

	for (int round = 0; round < 2000; round++) {
		struct fixture fixture = {0};
		int32_t holder[256];
		struct ap_code_range *ranges;
		size_t count, at = 0;

		memset(holder, -1, sizeof(holder));
		for (int i = 0; i < 1 + round % MAPPINGS_MAX; i++) {
			uint64_t start, end;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			start = random % 255;
			end = start + 1 + (random >> 16) % (255 - start);
			add(&fixture, start, end);
			for (uint64_t k = start; k < end; k++)
				holder[k] = i;
		}
		ranges = ap_code_ranges_get(&fixture.table, &count);
		assert_non_null(ranges);
		for (uint64_t k = 0; k < 256; k++) {
			while (at < count && ranges[at].end <= k)
				at++;
			assert_int_equal(
				at < count && ranges[at].start <= k ? (int32_t)ranges[at].id : -1,
				holder[k]);
		}
		free(ranges);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_in_the_middle),
		cmocka_unit_test(test_three_deep),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
