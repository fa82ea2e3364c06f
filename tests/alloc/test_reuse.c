// SPDX-License-Identifier: MIT
/* Which block malloc hands out: freed ones before those that nobody has touched yet. */
#include "common.h"
#include "region.h"

#define SIZE	 1000 /* 64 of these in a span */
#define SPANFULS 3
#define BLOCKS	 (SPANFULS * 64)

static struct ap_span *span_of_block(void *block)
{
	struct ap_span *span = span_at(block);

	assert_non_null(span);
	return span;
}

/*
 * Of two spans, the first has blocks that were freed, and the second, in use, some that were never
 * cut: malloc turns to the first before it cuts more. So a program does not grow where it has room.
 */
static void test_freed_before_fresh(void **state)
{
	char *blocks[BLOCKS], *again;
	struct ap_span *first, *second;
	int count = 0;
	uint16_t carved;

	do {
		assert_int_not_equal(count, BLOCKS);
		blocks[count] = malloc(SIZE);
		first = span_of_block(blocks[0]);
		second = span_of_block(blocks[count++]);
	} while (first == second);
	while (second->free != &second->sentinel)
		blocks[count++] = malloc(SIZE);
	carved = second->carved;
	assert_true(carved < second->capacity);
	for (int i = 0; i < 10; i++)
		free(blocks[i]);
	for (int i = 0; i < 10; i++) {
		again = malloc(SIZE);
		assert_ptr_equal(span_of_block(again), first);
		blocks[i] = again;
	}
	assert_int_equal(second->carved, carved);
	again = malloc(SIZE);
	assert_ptr_equal(span_of_block(again), second);
	assert_int_not_equal(second->carved, carved);
	free(again);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_freed_before_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
