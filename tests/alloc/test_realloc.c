// SPDX-License-Identifier: MIT
/* realloc and reallocarray: contents are kept, whatever the block's size was and becomes. */
#include "block_sizes.h"

/* gcc must not know what these do. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void *) = free;
static void *(*volatile do_realloc)(void *, size_t) = realloc;

/* From every size to every other, over all the boundaries: content is kept. */
static void test_realloc_sizes(void **state)
{
	for (size_t i = 0; i < size_count; i++) {
		for (size_t k = 0; k < size_count; k++) {
			size_t from = sizes[i], to = sizes[k];
			unsigned char *block;

			if (to == 0 || (from > MIB && k % 8 != i % 8) ||
				(from > 2 * MIB && to > MIB && k % 3))
				continue;
			block = do_malloc(from);
			pattern_write(block, 0, from, i);
			block = do_realloc(block, to);
			assert_non_null(block);
			assert_int_equal((uintptr_t)block % 16, 0);
			assert_true(malloc_usable_size(block) >= to);
			pattern_verify(block, from < to ? from : to, from, i);
			pattern_write(block, 0, to, k);
			do_free(block);
		}
	}
}

/* A block that grows and shrinks by steps, as vectors and string builders have it. */
static void test_realloc_steps(void **state)
{
	static const size_t steps[] = {1, 17, 1000, 70000, 3 * MIB};

	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		size_t step = steps[s], k;
		unsigned char *block = NULL;

		for (k = 1; k <= 60; k++) {
			block = do_realloc(block, k * step);
			assert_non_null(block);
			block[k * step - 1] = k;
		}
		for (k = 60; k >= 2; k--) {
			for (size_t before = 1; before <= k; before++)
				assert_int_equal(block[before * step - 1], before);
			block = do_realloc(block, (k - 1) * step);
			assert_non_null(block);
		}
		assert_int_equal(block[step - 1], 1);
		do_free(block);
	}
}

static void test_reallocarray(void **state)
{
	int *numbers = NULL;

	for (size_t count = 1; count < 100000; count = count * 3 / 2 + 1) {
		numbers = reallocarray(numbers, count, sizeof(int));
		assert_non_null(numbers);
		numbers[count - 1] = (int)count;
	}
	assert_int_equal(numbers[0], 1);
	do_free(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_realloc_sizes),
		cmocka_unit_test(test_realloc_steps),
		cmocka_unit_test(test_reallocarray),
	};

	return cmocka_run_group_tests(tests, sizes_make, NULL);
}
