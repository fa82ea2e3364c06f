// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "mapping.h"

static int parse(const char *text, struct ap_maps_line *ret)
{
	static char line[512];

	snprintf(line, sizeof(line), "%s", text);
	return ap_maps_line_parse(line, ret);
}

static void test_lines(void **state)
{
	struct ap_maps_line line;

	assert_int_equal(
		parse("7f5e8a000000-7f5e8a022000 r-xp 00001000 08:02 173521   /usr/lib/libc.so\n",
			&line),
		0);
	assert_int_equal(line.start, 0x7f5e8a000000);
	assert_int_equal(line.end, 0x7f5e8a022000);
	assert_int_equal(line.offset, 0x1000);
	assert_int_equal(line.device, makedev(8, 2));
	assert_int_equal(line.inode, 173521);
	assert_true(line.executable);
	assert_string_equal(line.path, "/usr/lib/libc.so");

	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0 \n", &line), 0);
	assert_string_equal(line.path, "");
	assert_false(line.executable);
	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0", &line), 0);
	assert_string_equal(line.path, "");
	assert_int_equal(
		parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", &line),
		0);
	assert_string_equal(line.path, "[vsyscall]");
	assert_int_equal(parse("1000-2000 r-xp 00000000 08:02 5 /a b (deleted)", &line), 0);
	assert_string_equal(line.path, "/a b (deleted)");
}

static void test_damaged_lines(void **state)
{
	static const char *const bad[] = {"", "\n", "1000", "1000-", "1000-2000", "1000-2000 r-xp",
		"2000-1000 r-xp 0 0:0 0 ", "1000-1000 r-xp 0 0:0 0 ", "-2000 r-xp 0 0:0 0 ",
		"1000-2000 r-xp 0 0:0", "1000-2000 r-xp 0 00 0 ", "1000-2000 r-xpp 0 0:0 0 ",
		"g-2000 r-xp 0 0:0 0 ", "11111111111111111-2 r-xp 0 0:0 0 ",
		"1000-2000 r-xp 0 0:0 x ", " 1000-2000 r-xp 0 0:0 0 "};
	struct ap_maps_line line;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse(bad[i], &line), -EINVAL);
}

/* This very program: its code is found, with a file that can be read, and once only. */
static void test_self(void **state)
{
	struct ap_mapping_table table = {0};
	struct ap_mapping *mapping;
	size_t count, objects;
	char magic[4];

	assert_int_equal(ap_mapping_table_read(&table, getpid()), 0);
	mapping = ap_mapping_find(&table, (uintptr_t)test_self);
	assert_non_null(mapping);
	assert_non_null(mapping->object);
	assert_non_null(strstr(mapping->name, "test_mapping"));
	assert_int_equal(pread(mapping->object->fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	assert_true(mapping->object->build_id[0]);
	assert_null(ap_mapping_find(&table, 0));

	count = table.count;
	objects = table.object_count;
	assert_int_equal(ap_mapping_table_read(&table, getpid()), 0);
	assert_int_equal(table.count, count);
	assert_int_equal(table.object_count, objects);
	ap_mapping_table_clear(&table);
}

/* Another mapping at an address that had one before: the newest answers, the old one stays. */
static void test_replaced(void **state)
{
	struct ap_mapping_table table = {0};
	struct ap_maps_line line = {.executable = 1, .path = ""};
	struct ap_mapping *before, *after;
	char *page = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(ap_mapping_table_read(&table, getpid()), 0);
	before = ap_mapping_find(&table, (uintptr_t)page);
	assert_non_null(before);
	assert_string_equal(before->name, "[anon]");
	munmap(page, 8192);
	assert_ptr_equal(mmap(page, 4096, PROT_READ | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		page);
	assert_int_equal(ap_mapping_table_read(&table, getpid()), 0);
	after = ap_mapping_find(&table, (uintptr_t)page);
	assert_ptr_not_equal(before, after);
	assert_ptr_equal(table.mappings[before->id], before);
	/* As told by an event, and then seen in the file: still one. */
	line.start = after->start;
	line.end = after->end;
	line.offset = after->offset;
	assert_int_equal(ap_mapping_table_add(&table, getpid(), &line), 0);
	assert_ptr_equal(ap_mapping_find(&table, (uintptr_t)page), after);
	munmap(page, 4096);
	ap_mapping_table_clear(&table);
}

static void test_no_process(void **state)
{
	struct ap_mapping_table table = {0};

	assert_int_equal(ap_mapping_table_read(&table, INT32_MAX), -ESRCH);
	assert_int_equal(table.count, 0);
	ap_mapping_table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
