// SPDX-License-Identifier: MIT
/* What the interface tells of the whole heap, and how memory is asked back from it. */
#include "common.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* mallinfo */

/* gcc must not know what these do. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void *) = free;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;

#define MIB ((size_t)1 << 20)

/* mallinfo2 follows what is allocated, within what a span of each class may hide. */
static void test_mallinfo(void **state)
{
	const size_t count = 10000, size = 1000, slack = 4 * MIB;
	struct mallinfo2 before = mallinfo2(), with, after;
	struct mallinfo narrow;
	void **blocks = do_calloc(count, sizeof(*blocks)), *huge = do_malloc(100 * MIB);

	for (size_t i = 0; i < count; i++)
		blocks[i] = do_malloc(size);
	with = mallinfo2();
	assert_in_range(
		with.uordblks - before.uordblks, count * size, count * size * 5 / 4 + slack);
	assert_in_range(with.hblkhd - before.hblkhd, 100 * MIB, 100 * MIB + 4096);
	assert_int_equal(with.hblks, before.hblks + 1);
	assert_int_equal(with.uordblks + with.fordblks, with.arena);
	narrow = mallinfo();
	assert_int_equal(narrow.hblks, (int)with.hblks);
	for (size_t i = 0; i < count; i++)
		do_free(blocks[i]);
	do_free(blocks);
	do_free(huge);
	after = mallinfo2();
	assert_true(after.uordblks <= before.uordblks + slack);
	assert_int_equal(after.hblkhd, before.hblkhd);
}

static void test_malloc_info(void **state)
{
	size_t length = 0, depth = 0;
	char *text = NULL;
	FILE *file = open_memstream(&text, &length);

	assert_int_equal(malloc_info(1, file), EINVAL);
	assert_int_equal(malloc_info(0, file), 0);
	fclose(file);
	/* Well-formed as far as counting goes: every element that is opened is closed. */
	for (char *at = text; (at = strchr(at, '<')); at++) {
		char *end = strchr(at, '>');

		assert_non_null(end);
		if (at[1] == '/')
			depth--;
		else if (end[-1] != '/')
			depth++;
	}
	assert_int_equal(depth, 0);
	assert_non_null(strstr(text, "<malloc version=\"1\">"));
	assert_non_null(strstr(text, "<system type=\"current\" size=\""));
	assert_non_null(strstr(text, "</malloc>\n"));
	free(text);
}

static void stats_child(void *argument)
{
	void *block = do_malloc(333), *huge = do_malloc(100 * MIB);

	do_free(huge);
	malloc_stats();
	do_free(block);
}

static void test_malloc_stats(void **state)
{
	struct ending ending = child_run(stats_child, NULL, 10);

	assert_true(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0);
	assert_non_null(strstr(ending.stderr_, "of 352 bytes"));
	assert_non_null(strstr(ending.stderr_, "huge blocks in use: 0 with 0 bytes\n"));
	/* What readers of glibc's text look for. */
	assert_non_null(strstr(ending.stderr_, "\nTotal (incl. mmap):\nsystem bytes     = "));
	assert_non_null(strstr(ending.stderr_, "\nmax mmap regions = 1\n"));
	assert_non_null(strstr(ending.stderr_, "\nmax mmap bytes   = 104857600\n"));
}

/* malloc_trim gives back what was freed, at once, and says so. */
static void test_malloc_trim(void **state)
{
	const size_t count = 64 * MIB / 4096;
	void **blocks = do_calloc(count, sizeof(*blocks));
	size_t peak, rest;

	for (size_t i = 0; i < count; i++) {
		blocks[i] = do_malloc(4096);
		memset(blocks[i], 1, 4096);
	}
	peak = rss_bytes();
	for (size_t i = 0; i < count; i++)
		do_free(blocks[i]);
	do_free(blocks);
	assert_int_equal(malloc_trim(0), 1);
	rest = rss_bytes();
	assert_true(peak - rest >= 60 * MIB);
	assert_int_equal(malloc_trim(0), 0);
}

static void test_mallopt(void **state)
{
	assert_int_equal(mallopt(M_ARENA_MAX, 1), 1);
	assert_int_equal(mallopt(M_MMAP_THRESHOLD, 65536), 1);
	assert_int_equal(mallopt(M_TRIM_THRESHOLD, 65536), 1);
	assert_int_equal(mallopt(12345, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mallinfo),
		cmocka_unit_test(test_malloc_info),
		cmocka_unit_test(test_malloc_stats),
		cmocka_unit_test(test_malloc_trim),
		cmocka_unit_test(test_mallopt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
