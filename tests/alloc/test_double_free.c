// SPDX-License-Identifier: MIT
/*
 * Blocks freed twice, by whomever and with whatever in between: each must end in SIGABRT after one
 * line that names the pointer; never in silent reuse.
 */
#include "damage.h"

static void double_free_at_once(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, size <= MEDIUM_MAX ? class_for(size) : 0);
	do_free(block);
	do_free(block);
	do_free(neighbour);
}

/* With others of the class freed and allocated in between, but not this one. */
static void double_free_later(void *argument)
{
	size_t size = *(size_t *)argument;
	void *blocks[40];

	for (int i = 0; i < 40; i++)
		blocks[i] = do_malloc(size);
	expect(blocks[20], class_for(size));
	do_free(blocks[20]);
	for (int i = 0; i < 20; i++)
		do_free(blocks[i]);
	for (int i = 0; i < 20; i++) {
		void *block = do_malloc(size);

		if (block == blocks[20]) {
			/* Handed out again: put it aside, and back where it was. */
			do_free(block);
			break;
		}
	}
	do_free(blocks[20]);
}

static void double_free_of_all(void *argument)
{
	size_t size = *(size_t *)argument;
	void *blocks[600];

	/* More than a span holds, so that spans are released meanwhile. */
	for (int i = 0; i < 600; i++)
		blocks[i] = do_malloc(size);
	for (int i = 0; i < 600; i++)
		do_free(blocks[i]);
	malloc_trim(0);
	expect(blocks[300], 0);
	do_free(blocks[300]);
}

static void double_free_across_realloc(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *moved = do_realloc(block, size * 4 + 200000);

	if (moved == block) /* nothing wrong to do */
		abort();
	expect(block, 0);
	do_free(block);
}

static void *free_it_twice(void *block)
{
	do_free(block);
	do_free(block);
	return NULL;
}

/* The line is written and the process ends also when the thread has been cancelled. */
static void *cancelled(void *argument)
{
	pthread_cancel(pthread_self());
	double_free_at_once(argument);
	return NULL;
}

static void double_free_in_cancelled(void *argument)
{
	in_thread(cancelled, argument);
}

/* Freed by its owner, and then by another thread: the owner finds out when it collects. */
static void double_free_by_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	do_free(block);
	in_thread(free_it, block);
	use_up(size);
	do_free(neighbour);
}

static void double_free_after_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	in_thread(free_it, block);
	do_free(block);
	use_up(size);
	do_free(neighbour);
}

static void double_free_in_other(void *argument)
{
	size_t size = *(size_t *)argument;
	void *block = do_malloc(size), *neighbour = do_malloc(size);

	expect(block, class_for(size));
	in_thread(free_it_twice, block);
	use_up(size);
	do_free(neighbour);
}

static void *allocate(void *argument)
{
	size_t size = *(size_t *)argument;
	static void *blocks[3];

	for (int i = 0; i < 3; i++)
		blocks[i] = do_malloc(size);
	return blocks;
}

/* The thread that allocated has ended. */
static void double_free_of_orphan(void *argument)
{
	size_t size = *(size_t *)argument;
	pthread_t thread;
	void *result, **blocks;

	if (pthread_create(&thread, NULL, allocate, argument))
		_exit(1);
	pthread_join(thread, &result);
	blocks = result;
	expect(blocks[1], class_for(size));
	do_free(blocks[1]);
	do_free(blocks[1]);
}

static void test_double_free(void **state)
{
	FOR_EACH(size, all_sizes)
	check_death("double free at once", *size, double_free_at_once, (void *)size);
	FOR_EACH(size, span_sizes)
	{
		check_death(
			"double free, cancelled", *size, double_free_in_cancelled, (void *)size);
		check_death("double free later", *size, double_free_later, (void *)size);
		check_death("double free of all", *size, double_free_of_all, (void *)size);
		check_death("across realloc", *size, double_free_across_realloc, (void *)size);
		check_death("by another thread", *size, double_free_by_other, (void *)size);
		check_death("after another thread", *size, double_free_after_other, (void *)size);
		check_death("in another thread", *size, double_free_in_other, (void *)size);
		check_death("of an orphan", *size, double_free_of_orphan, (void *)size);
	}
	no_complaints();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_double_free),
	};

	return cmocka_run_group_tests(tests, expected_map, NULL);
}
