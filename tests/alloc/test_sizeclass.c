// SPDX-License-Identifier: MIT
/* Every size has the smallest class that holds it, and the entries of the classes adjoin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sizeclass.h"
#include "span.h"

static void test_class_is_the_smallest(void **state)
{
	for (size_t size = 1; size <= MEDIUM_MAX; size++) {
		unsigned class = class_of(size);

		assert_true(class < CLASSES);
		assert_true(class_size(class) >= size);
		assert_true(class == 0 || class_size(class - 1) < size);
	}
}

static void test_waste_is_bounded(void **state)
{
	for (unsigned class = 1; class < CLASSES; class ++) {
		size_t size = class_size(class), smallest = class_size(class - 1) + 1;

		assert_int_equal(size % 16, 0);
		if (smallest > 128)
			assert_true((size - smallest) * (size <= SMALL_MAX ? 8 : 5) < size);
	}
	assert_int_equal(class_size(CLASSES - 1), MEDIUM_MAX);
}

/* What is left behind the last block of a span: of one slice less than a block, of more 1/32. */
static void test_spans_are_used_up(void **state)
{
	for (unsigned class = 0; class < CLASSES; class ++) {
		size_t size = class_size(class), bytes = (size_t)class_slices(class) << SLICE_SHIFT;

		assert_true(bytes / size >= 8);
		if (size > SMALL_MAX)
			assert_true(bytes % size <= bytes / 32);
	}
}

static void test_entries_adjoin(void **state)
{
	assert_int_equal(class_first_entry(0), 0);
	for (unsigned class = 0; class + 1 < CLASSES; class ++)
		assert_int_equal(class_last_entry(class) + 1, class_first_entry(class + 1));
	assert_int_equal(class_last_entry(CLASSES - 1), ENTRIES - 1);
	/* What malloc computes for a small size is an entry of the size's class. */
	for (size_t size = 0; size <= DIRECT_MAX; size++) {
		size_t entry = (size + 15) >> GRAIN_SHIFT;
		unsigned class = class_of(size ? size : 1);

		assert_true(class_first_entry(class) <= entry && entry <= class_last_entry(class));
	}
}

/* The blocks of the class that a multiple of an alignment has are so aligned. */
static void test_multiples_have_aligned_classes(void **state)
{
	for (size_t align = 16; align <= MEDIUM_MAX; align *= 2)
		for (size_t multiple = align; multiple <= MEDIUM_MAX; multiple += align)
			assert_int_equal(class_size(class_of(multiple)) % align, 0);
}

/*
 * Division by multiplication: for every class, every number of blocks that have been cut (of small
 * numbers, and the largest), and every offset that a span can have.
 */
static void test_starts_are_recognized(void **state)
{
	for (unsigned class = 0; class < CLASSES; class ++) {
		size_t size = class_size(class), bytes = (size_t)class_slices(class) << SLICE_SHIFT;
		bool small = class_slices(class) == 1;
		struct ap_span span = {.block_size = size,
			.kind = small ? SPAN_SMALL : SPAN_MEDIUM,
			.magic = span_magic(size, !small)};

		for (uint32_t carved = 0; carved <= bytes / size; carved++) {
			if (carved > 3 && carved < bytes / size)
				continue;
			span_set_carved(&span, carved);
			for (size_t offset = 0; offset < bytes; offset++) {
				bool start = small ? span_has_start(&span, (void *)offset)
						   : medium_has_start(&span, offset);

				if (start != (offset % size == 0 && offset / size < carved))
					fail_msg("%u blocks of %zu bytes: offset %zu", carved, size,
						offset);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_is_the_smallest),
		cmocka_unit_test(test_waste_is_bounded),
		cmocka_unit_test(test_spans_are_used_up),
		cmocka_unit_test(test_entries_adjoin),
		cmocka_unit_test(test_multiples_have_aligned_classes),
		cmocka_unit_test(test_starts_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
