// SPDX-License-Identifier: MIT
/* jitdump files that are made here, record by record, right ones and damaged ones. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "jit_dump.h"

#define V8 0xdeadbeef

struct fixture {
	struct ap_jit_code code;
	int fd;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->fd = memfd_create("jit-1.dump", MFD_CLOEXEC);
	assert_true(fixture->fd >= 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_jit_code_clear(&fixture->code);
	close(fixture->fd);
	free(fixture);
	return 0;
}

static void put(const struct fixture *fixture, const void *bytes, size_t length)
{
	assert_int_equal(write(fixture->fd, bytes, length), length);
}

static void put32(const struct fixture *fixture, uint32_t number)
{
	put(fixture, &number, sizeof(number));
}

static void put64(const struct fixture *fixture, uint64_t number)
{
	put(fixture, &number, sizeof(number));
}

static void header_put(const struct fixture *fixture, uint32_t padding, uint64_t flags)
{
	put32(fixture, 0x4a695444);
	put32(fixture, 1);
	put32(fixture, 40);
	put32(fixture, 62);
	put32(fixture, padding);
	put32(fixture, 1);
	put64(fixture, 0);
	put64(fixture, flags);
}

static void prefix_put(const struct fixture *fixture, uint32_t kind, size_t size, uint64_t time)
{
	put32(fixture, kind);
	put32(fixture, 16 + size);
	put64(fixture, time);
}

static void load_put(const struct fixture *fixture, uint64_t time, uint64_t address, uint64_t size,
	uint64_t index, const char *name)
{
	static const char code[4096] = {0};

	prefix_put(fixture, 0, 40 + strlen(name) + 1 + size, time);
	put64(fixture, 1);
	put64(fixture, address);
	put64(fixture, address);
	put64(fixture, size);
	put64(fixture, index);
	put(fixture, name, strlen(name) + 1);
	put(fixture, code, size);
}

static void move_put(const struct fixture *fixture, uint64_t time, uint64_t from, uint64_t to,
	uint64_t size, uint64_t index)
{
	prefix_put(fixture, 1, 48, time);
	put64(fixture, 1);
	put64(fixture, to);
	put64(fixture, from);
	put64(fixture, to);
	put64(fixture, size);
	put64(fixture, index);
}

/* Two lines of a file, the second by the sign for "the same file". */
static void lines_put(
	const struct fixture *fixture, uint64_t address, uint64_t first, uint64_t second)
{
	prefix_put(fixture, 2, 16 + 2 * 16 + sizeof("a.js") + 2, 0);
	put64(fixture, address);
	put64(fixture, 2);
	put64(fixture, first);
	put32(fixture, 7);
	put32(fixture, 0);
	put(fixture, "a.js", sizeof("a.js"));
	put64(fixture, second);
	put32(fixture, 9);
	put32(fixture, 0);
	put(fixture, "\xff", 2);
}

static void expect_line(struct fixture *fixture, uint64_t address, const char *file, uint32_t line)
{
	const struct ap_jit_symbol *symbol = ap_jit_code_find(&fixture->code, address);
	const struct ap_jit_line *found;

	assert_non_null(symbol);
	found = ap_jit_code_line(&fixture->code, symbol, address);
	if (!file) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found->file, file);
	assert_int_equal(found->line, line);
}

static void expect(struct fixture *fixture, uint64_t address, const char *name)
{
	const struct ap_jit_symbol *symbol = ap_jit_code_find(&fixture->code, address);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
}

static void dump_read(struct fixture *fixture, uint64_t until)
{
	assert_int_equal(ap_jit_dump_read(&fixture->code, fixture->fd, until), 0);
	assert_int_equal(ap_jit_code_sort(&fixture->code), 0);
}

static void names_by_address(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	load_put(fixture, 1, 0x1000, 0x100, 0, "first");
	load_put(fixture, 2, 0x1100, 0x80, 1, "second");
	dump_read(fixture, 10);
	expect(fixture, 0xfff, NULL);
	expect(fixture, 0x1000, "first");
	expect(fixture, 0x10ff, "first");
	expect(fixture, 0x1100, "second");
	expect(fixture, 0x1180, NULL);
	expect_line(fixture, 0x1000, NULL, 0);
}

/* Code that was put over other code hides just that part of it. */
static void memory_used_again(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	load_put(fixture, 1, 0x1000, 0x1000, 0, "large");
	for (int i = 0; i < 100; i++)
		load_put(fixture, 2, 0x1200, 8 + i % 8, i + 1, i < 99 ? "small" : "last");
	load_put(fixture, 3, 0x1f00, 0x200, 200, "across the end");
	dump_read(fixture, 10);
	expect(fixture, 0x11ff, "large");
	expect(fixture, 0x1200, "last");
	expect(fixture, 0x120a, "last");
	expect(fixture, 0x120b, "small");
	expect(fixture, 0x120e, "small");
	expect(fixture, 0x120f, "large");
	expect(fixture, 0x1eff, "large");
	expect(fixture, 0x1f00, "across the end");
	expect(fixture, 0x20ff, "across the end");
	expect(fixture, 0x2100, NULL);
}

static void moment_of_the_end(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	load_put(fixture, 5, 0x1000, 0x100, 0, "before");
	load_put(fixture, 15, 0x1000, 0x100, 1, "after");
	dump_read(fixture, 10);
	expect(fixture, 0x1000, "before");
}

/* Ticks of the processor are not compared with nanoseconds. */
static void other_clock(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 1);
	load_put(fixture, 15, 0x1000, 0x100, 1, "any time");
	dump_read(fixture, 10);
	expect(fixture, 0x1000, "any time");
}

/* Samples from before the move still have their name. */
static void moved_code(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	lines_put(fixture, 0x1000, 0x1000, 0x1010);
	load_put(fixture, 1, 0x1000, 0x100, 77, "moves");
	move_put(fixture, 2, 0x1000, 0x5000, 0x100, 77);
	move_put(fixture, 2, 0x1000, 0x9000, 0x100, 78);
	dump_read(fixture, 10);
	expect(fixture, 0x1080, "moves");
	expect(fixture, 0x5080, "moves");
	expect_line(fixture, 0x5008, "a.js", 7);
	expect_line(fixture, 0x5010, "a.js", 9);
	expect(fixture, 0x9000, NULL);
}

static void lines_by_address(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	lines_put(fixture, 0x1000, 0x1004, 0x1010);
	load_put(fixture, 1, 0x1000, 0x100, 0, "with lines");
	load_put(fixture, 1, 0x2000, 0x100, 1, "without");
	dump_read(fixture, 10);
	expect_line(fixture, 0x1003, NULL, 0);
	expect_line(fixture, 0x1004, "a.js", 7);
	expect_line(fixture, 0x100f, "a.js", 7);
	expect_line(fixture, 0x10ff, "a.js", 9);
	expect_line(fixture, 0x2000, NULL, 0);
}

static void lines_of_v8(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, V8, 0);
	lines_put(fixture, 0x1000, 0x1040, 0x1050);
	load_put(fixture, 1, 0x1000, 0x100, 0, "JS:^with lines");
	lines_put(fixture, 0x2000, 0x2040, 0x2050);
	load_put(fixture, 1, 0x2000, 0x100, 1, "JS:*with those of others");
	dump_read(fixture, 10);
	expect_line(fixture, 0x1000, "a.js", 7);
	expect_line(fixture, 0x2000, NULL, 0);
	expect_line(fixture, 0x1010, "a.js", 9);
}

/* Lines of other code, lines out of order, and lines outside of the code are dropped. */
static void lines_that_do_not_fit(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	lines_put(fixture, 0x1000, 0x1000, 0x1010);
	load_put(fixture, 1, 0x2000, 0x100, 0, "other");
	lines_put(fixture, 0x3000, 0x3010, 0x3000);
	load_put(fixture, 1, 0x3000, 0x100, 1, "backwards");
	lines_put(fixture, 0x4000, 0x4000, 0x4101);
	load_put(fixture, 1, 0x4000, 0x100, 2, "outside");
	dump_read(fixture, 10);
	expect_line(fixture, 0x2000, NULL, 0);
	expect_line(fixture, 0x3010, NULL, 0);
	expect_line(fixture, 0x4000, NULL, 0);
	assert_int_equal(fixture->code.line_count, 0);
}

/* A record that makes no sense does not spoil those after it; a cut one is the end. */
static void damaged_records(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	load_put(fixture, 1, UINT64_MAX - 4, 0x100, 0, "beyond the end of memory");
	load_put(fixture, 1, 0x1000, 0, 1, "nothing");
	prefix_put(fixture, 0, 8, 1);
	put64(fixture, 0);
	prefix_put(fixture, 1, 0, 1);
	prefix_put(fixture, 2, 0, 1);
	prefix_put(fixture, 9, 8, 1);
	put64(fixture, 0);
	load_put(fixture, 1, 0x2000, 0x100, 2, "good");
	prefix_put(fixture, 0, 200, 1);
	put64(fixture, 1);
	dump_read(fixture, 10);
	assert_int_equal(fixture->code.count, 1);
	expect(fixture, 0x2000, "good");
}

static void records_after_an_end(void **state)
{
	struct fixture *fixture = *state;

	header_put(fixture, 0, 0);
	prefix_put(fixture, 3, 0, 1);
	load_put(fixture, 1, 0x1000, 0x100, 0, "after the close");
	dump_read(fixture, 10);
	assert_int_equal(fixture->code.count, 0);
}

static void not_a_dump(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ap_jit_dump_read(&fixture->code, fixture->fd, 10), -ENOEXEC);
	put(fixture, "\177ELF", 4);
	assert_int_equal(ap_jit_dump_read(&fixture->code, fixture->fd, 10), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(moment_of_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(other_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(moved_code, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_of_v8, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_that_do_not_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_records, setup, teardown),
		cmocka_unit_test_setup_teardown(records_after_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(not_a_dump, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
