// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "intern.h"
#include "printable.h"
#include "profile.h"

static int setup(void **state)
{
	*state = ap_profile_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	ap_profile_free(*state);
	return 0;
}

/* A location of one function at an address in a mapping. */
static uint32_t location(
	struct ap_profile *profile, int mapping, uint64_t address, const char *name)
{
	int function = ap_profile_add_function(profile, name, name, "file.c", 1);
	struct ap_line line = {.function = (uint32_t)function, .line = (int64_t)address};
	int index = ap_profile_add_location(profile, mapping, address, &line, 1);

	assert_true(function >= 0);
	assert_true(index >= 0);
	return (uint32_t)index;
}

static void strings_are_interned(void **state)
{
	struct ap_profile *profile = *state;
	char a[] = "the same", b[] = "the same";

	assert_ptr_equal(
		ap_profile_string(profile, a, strlen(a)), ap_profile_string(profile, b, strlen(b)));
	assert_ptr_not_equal(ap_profile_string(profile, a, strlen(a)),
		ap_profile_string(profile, b, strlen(b) - 1));
	assert_string_equal(ap_profile_string(profile, "a\0b", 3), "a");
}

static void interned_strings_stay(void **state)
{
	struct ap_intern set = {0};
	const char **kept = calloc(20000, sizeof(*kept));
	char *large = malloc(100000);
	char text[32];

	assert_non_null(kept);
	assert_non_null(large);
	memset(large, 'x', 100000);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		kept[i] = ap_intern(&set, text, sizeof(text));
		if (i % 5000 == 0)
			assert_non_null(ap_intern(&set, large, (size_t)(50000 + i)));
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		assert_string_equal(kept[i], text);
		assert_ptr_equal(ap_intern(&set, text, sizeof(text)), kept[i]);
	}
	assert_int_equal(set.count, 20004);
	assert_int_equal(ap_intern_index(&set, "new", 3), 20004);
	ap_intern_clear(&set);
	free(kept);
	free(large);
}

static void strings_become_utf8(void **state)
{
	struct ap_profile *profile = *state;
	char *large = malloc(1000001);
	const char *kept;

	assert_string_equal(ap_profile_string(profile, "a\xff\xc0\xafz", 5),
		"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	/* A surrogate, and a character that the end cuts. */
	assert_string_equal(ap_profile_string(profile, "\xed\xa0\x80", 3),
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(ap_profile_string(profile, "\xe2\x82", 2), "\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(ap_profile_string(profile, "\xe2\x82\xac", 3), "\xe2\x82\xac");

	assert_non_null(large);
	memset(large, 'n', 1000000);
	large[1000000] = '\0';
	kept = ap_profile_string(profile, large, 1000000);
	assert_int_equal(strlen(kept), AP_STRING_MAX);
	memset(large, '\xff', 1000000);
	kept = ap_profile_string(profile, large, 1000000);
	assert_in_range(strlen(kept), AP_STRING_MAX - 3, AP_STRING_MAX);
	free(large);
}

static void equal_things_are_one(void **state)
{
	struct ap_profile *profile = *state;
	struct ap_line two[] = {{0, 10}, {1, 20}};

	assert_int_equal(ap_profile_add_mapping(profile, 1, 2, 3, "file", NULL), 0);
	assert_int_equal(ap_profile_add_mapping(profile, 1, 2, 3, "file", "ab"), 1);
	assert_int_equal(ap_profile_add_mapping(profile, 1, 2, 3, "file", ""), 0);
	assert_int_equal(ap_profile_add_function(profile, "f", "f", NULL, 0), 0);
	assert_int_equal(ap_profile_add_function(profile, "f", "f", "x.c", 0), 1);
	assert_int_equal(ap_profile_add_function(profile, "f", "f", "", 0), 0);
	assert_int_equal(ap_profile_add_location(profile, 0, 100, two, 2), 0);
	assert_int_equal(ap_profile_add_location(profile, 0, 100, two, 1), 1);
	assert_int_equal(ap_profile_add_location(profile, -1, 100, two, 2), 2);
	two[1].line = 21;
	assert_int_equal(ap_profile_add_location(profile, 0, 100, two, 2), 3);
	two[1].line = 20;
	assert_int_equal(ap_profile_add_location(profile, 0, 100, two, 2), 0);
	assert_int_equal(profile->location_count, 4);
}

static void equal_stacks_are_added_up(void **state)
{
	struct ap_profile *profile = *state;
	uint32_t stack[] = {
		location(profile, -1, 1, "leaf"),
		location(profile, -1, 2, "middle"),
		location(profile, -1, 3, "root"),
	};
	int64_t value[] = {2, 3, 5, 7};

	assert_int_equal(ap_profile_add_sample(profile, stack, 3, value), 0);
	assert_int_equal(ap_profile_add_sample(profile, stack, 2, value), 1);
	assert_int_equal(ap_profile_add_sample(profile, stack, 0, value), 2);
	assert_int_equal(ap_profile_add_sample(profile, stack, 3, value), 0);
	assert_int_equal(profile->sample_count, 3);
	for (int i = 0; i < AP_VALUES; i++) {
		assert_int_equal(profile->samples[0].value[i], 2 * value[i]);
		assert_int_equal(profile->total[i], 4 * value[i]);
	}
}

static void sums_do_not_wrap(void **state)
{
	struct ap_profile *profile = *state;
	uint32_t leaf = location(profile, -1, 1, "leaf");
	int64_t value[] = {INT64_MAX, INT64_MAX, INT64_MIN, 1};

	ap_profile_add_sample(profile, &leaf, 1, value);
	ap_profile_add_sample(profile, &leaf, 1, value);
	assert_true(profile->total[AP_ALLOC_SPACE] == INT64_MAX);
	assert_true(profile->total[AP_INUSE_OBJECTS] == INT64_MIN);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 2);
}

static void many_samples(void **state)
{
	struct ap_profile *profile = *state;
	uint32_t locations[1000];
	int64_t value[] = {1, 2, 3, 4};

	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		locations[i] = location(profile, -1, (uint64_t)i + 1, name);
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100000; i++) {
			uint32_t stack[] = {locations[i % 1000], locations[i / 1000], locations[7]};

			assert_int_equal(ap_profile_add_sample(profile, stack, 3, value), i);
		}
	}
	assert_int_equal(profile->sample_count, 100000);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 800000);
}

static void reserved_locations(void **state)
{
	struct ap_profile *profile = *state;
	int index = ap_profile_reserved(profile, "[stack map full]");

	assert_true(index >= 0);
	assert_int_equal(ap_profile_reserved(profile, "[stack map full]"), index);
	assert_int_not_equal(ap_profile_reserved(profile, "[truncated]"), index);
	assert_int_equal(profile->locations[index].mapping, -1);
	assert_string_equal(profile->functions[profile->locations[index].line->function].name,
		"[stack map full]");
}

/* A run whose program was loaded at `base`. */
static struct ap_profile *run_at(uint64_t base, int64_t bytes)
{
	struct ap_profile *profile = ap_profile_new();
	int64_t value[] = {1, bytes, 1, bytes};
	uint32_t stack[2];
	int mapping;

	assert_non_null(profile);
	mapping = ap_profile_add_mapping(profile, base, base + 0x1000, 0, "/bin/x", "abcd");
	for (uint32_t i = 0; i < 2; i++) {
		struct ap_line line = {.line = 10 * i};

		line.function = (uint32_t)ap_profile_add_function(
			profile, i ? "main" : "leaf", NULL, NULL, 0);
		stack[i] = (uint32_t)ap_profile_add_location(
			profile, mapping, base + 16 * i + 8, &line, 1);
	}
	ap_profile_add_sample(profile, stack, 2, value);
	return profile;
}

static void runs_at_other_addresses_are_merged(void **state)
{
	struct ap_profile *one = run_at(0x10000, 1000), *two = run_at(0x7f0000, 300);

	assert_int_equal(ap_profile_merge(one, two, 1), 0);
	assert_int_equal(one->sample_count, 1);
	assert_int_equal(one->mapping_count, 1);
	assert_int_equal(one->total[AP_INUSE_SPACE], 1300);
	assert_int_equal(ap_profile_merge(one, two, -1), 0);
	assert_int_equal(ap_profile_merge(one, two, -1), 0);
	assert_int_equal(one->samples[0].value[AP_INUSE_SPACE], 700);
	assert_int_equal(one->total[AP_INUSE_OBJECTS], 0);
	ap_profile_free(one);
	ap_profile_free(two);
}

static void what_is_only_in_the_other_comes_negative(void **state)
{
	struct ap_profile *profile = *state, *base = run_at(0x10000, 1000);

	assert_int_equal(ap_profile_merge(profile, base, -1), 0);
	assert_int_equal(profile->sample_count, 1);
	assert_int_equal(profile->total[AP_INUSE_SPACE], -1000);
	assert_int_equal(profile->locations[1].address, 0x10018);
	ap_profile_free(base);
}

static void scaling(void **state)
{
	struct ap_profile *profile = run_at(0x10000, 1001);
	int64_t value[] = {1, INT64_MAX, 1, INT64_MAX};

	ap_profile_scale(profile, AP_INUSE_SPACE, 1.5);
	assert_int_equal(profile->samples[0].value[AP_INUSE_SPACE], 1502);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 1502);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 1001);
	ap_profile_add_sample(profile, NULL, 0, value);
	ap_profile_scale(profile, AP_ALLOC_SPACE, 1e300);
	assert_true(profile->samples[1].value[AP_ALLOC_SPACE] == INT64_MAX);
	ap_profile_scale(profile, AP_ALLOC_SPACE, -1e300);
	assert_true(profile->total[AP_ALLOC_SPACE] == INT64_MIN);
	ap_profile_free(profile);
}

/* Expects the names of a sample's frames, joined by spaces. */
static void expect_frames(struct ap_profile *profile, const uint32_t *stack, uint32_t depth,
	bool show_allocator, const char *expected)
{
	struct ap_shown_frames frames = {0};
	struct ap_sample sample = {.location = (uint32_t *)stack, .depth = depth};
	char names[512] = "";

	assert_int_equal(ap_profile_frames(profile, &sample, show_allocator, &frames), 0);
	for (uint32_t i = 0; i < frames.count; i++) {
		strcat(names, i ? " " : "");
		strcat(names, profile->functions[frames.frame[i].function].name);
	}
	assert_string_equal(names, expected);
	free(frames.frame);
}

static void allocator_frames_are_hidden(void **state)
{
	struct ap_profile *profile = *state;
	int lib = ap_profile_add_mapping(profile, 1, 2, 0, "/usr/lib/liballocprof.so", NULL);
	uint32_t probe = location(profile, lib, 1, "site_fire");
	uint32_t inner = location(profile, -1, 2, "ap_span_refill");
	uint32_t malloc_ = location(profile, -1, 3, "malloc");
	uint32_t new_ = location(profile, -1, 4, "operator new(unsigned long)");
	uint32_t apache = location(profile, -1, 5, "ap_process_request");
	uint32_t caller = location(profile, -1, 6, "caller");
	uint32_t main_ = location(profile, -1, 7, "main");
	uint32_t slow = location(profile, -1, 8, "ap_malloc_slow");

	expect_frames(
		profile, (uint32_t[]){probe, malloc_, caller, main_}, 4, false, "caller main");
	expect_frames(
		profile, (uint32_t[]){probe, malloc_, caller}, 3, true, "site_fire malloc caller");
	expect_frames(profile, (uint32_t[]){inner, malloc_, new_, caller}, 4, false, "caller");
	/* malloc has jumped to its slow path, in a program that is linked with liballocprof.a. */
	expect_frames(profile, (uint32_t[]){inner, slow, caller}, 3, false, "caller");
	/* Apache's functions begin with ap_ as well. */
	expect_frames(profile, (uint32_t[]){inner, malloc_, apache, main_}, 4, false,
		"ap_process_request main");
	expect_frames(profile, (uint32_t[]){apache, main_}, 2, false, "ap_process_request main");
	/* A malloc further out is somebody's own and stays. */
	expect_frames(profile, (uint32_t[]){probe, caller, malloc_, main_}, 4, false,
		"caller malloc main");
	/* Something is left of every stack. */
	expect_frames(profile, (uint32_t[]){probe, malloc_}, 2, false, "malloc");
	expect_frames(profile, NULL, 0, false, "");
}

static void inlined_functions_are_frames(void **state)
{
	struct ap_profile *profile = *state;
	struct ap_line lines[] = {
		{(uint32_t)ap_profile_add_function(
			 profile, "operator new(unsigned long)", NULL, NULL, 0),
			1},
		{(uint32_t)ap_profile_add_function(profile, "inlined", NULL, NULL, 0), 2},
		{(uint32_t)ap_profile_add_function(profile, "outer", NULL, NULL, 0), 3},
	};
	uint32_t stack = (uint32_t)ap_profile_add_location(profile, -1, 9, lines, 3);

	expect_frames(profile, &stack, 1, true, "operator new(unsigned long) inlined outer");
	expect_frames(profile, &stack, 1, false, "inlined outer");
	/* What is inlined into malloc is the allocator's whatever its name. */
	lines[0] = lines[1];
	lines[1].function = (uint32_t)ap_profile_add_function(profile, "malloc", NULL, NULL, 0);
	stack = (uint32_t)ap_profile_add_location(profile, -1, 10, lines, 3);
	expect_frames(profile, &stack, 1, false, "outer");
}

/* The name of the site of a stack. */
static const char *site(struct ap_profile *profile, const uint32_t *stack, uint32_t depth)
{
	struct ap_shown_frames frames = {0};
	struct ap_sample sample = {.location = (uint32_t *)stack, .depth = depth};
	const char *name;

	assert_int_equal(ap_profile_frames(profile, &sample, false, &frames), 0);
	name = profile->functions[frames.frame[ap_site_frame(profile, frames.frame, frames.count)]
					  .function]
		       .name;
	free(frames.frame);
	return name;
}

static void sites_are_not_of_the_standard_library(void **state)
{
	struct ap_profile *profile = *state;
	uint32_t grow = location(profile, -1, 1, "std::vector<int>::_M_realloc_insert()");
	uint32_t caller = location(profile, -1, 2, "fill");
	uint32_t cut = (uint32_t)ap_profile_reserved(profile, "[truncated: unreadable]");

	assert_string_equal(site(profile, (uint32_t[]){grow, caller, cut}, 3), "fill");
	assert_string_equal(site(profile, (uint32_t[]){grow, grow, cut}, 3),
		"std::vector<int>::_M_realloc_insert()");
}

static void a_process_is_no_site(void **state)
{
	struct ap_profile *profile = *state;
	uint32_t grow = location(profile, -1, 1, "std::vector<int>::_M_realloc_insert()");
	uint32_t cut = (uint32_t)ap_profile_reserved(profile, "[truncated: unreadable]");
	uint32_t process = (uint32_t)ap_profile_reserved(profile, "worker (4128)");

	assert_string_equal(
		site(profile, (uint32_t[]){cut, process}, 2), "[truncated: unreadable]");
	assert_string_equal(site(profile, (uint32_t[]){grow, cut, process}, 3),
		"std::vector<int>::_M_realloc_insert()");
}

static void sites_are_not_ones_own_malloc(void **state)
{
	static const char *const wrappers[] = {"xmalloc", "zmalloc_usable", "PyMem_RawRealloc",
		"g_strdup", "util::my_calloc<int>(unsigned long)"};
	static const char *const others[] = {
		"preallocate", "Malloc::Statistics::print()", "CallocationTable", "malice"};
	struct ap_profile *profile = *state;
	uint32_t caller = location(profile, -1, 1, "caller");
	uint32_t cut = (uint32_t)ap_profile_reserved(profile, "[truncated: unreadable]");

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++) {
		uint32_t wrapper = location(profile, -1, 10 + i, wrappers[i]);

		assert_string_equal(
			site(profile, (uint32_t[]){wrapper, wrapper, caller}, 3), "caller");
		assert_string_equal(site(profile, (uint32_t[]){wrapper, cut}, 2), wrappers[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		uint32_t other = location(profile, -1, 20 + i, others[i]);

		assert_string_equal(site(profile, (uint32_t[]){other, caller}, 2), others[i]);
	}
}

static void names_are_made_printable(void **state)
{
	char out[64], *large = malloc(1000001);

	ap_printable(out, sizeof(out), "plain \xe2\x82\xac");
	assert_string_equal(out, "plain \xe2\x82\xac");
	ap_printable(out, sizeof(out), "a\x1b[31m\n\x7f\xff");
	assert_string_equal(out, "a\\x1b[31m\\x0a\\x7f\\xff");
	/* A C1 control, and a right-to-left override. */
	ap_printable(out, sizeof(out), "\xc2\x9b\xe2\x80\xae");
	assert_string_equal(out, "\\u{9b}\\u{202e}");
	assert_int_equal(ap_printable(out, 16, "0123456789abcde"), 15);
	assert_string_equal(out, "0123456789abcde");
	ap_printable(out, 16, "0123456789abcdef");
	assert_string_equal(out, "0123456789ab...");
	/* The cut is between characters. */
	ap_printable(out, 16, "0123456789a\xe2\x82\xac\xe2\x82\xac");
	assert_string_equal(out, "0123456789a...");
	assert_non_null(large);
	memset(large, '\x1b', 1000000);
	large[1000000] = '\0';
	assert_in_range(ap_printable(out, sizeof(out), large), 50, 63);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strings_are_interned, setup, teardown),
		cmocka_unit_test(interned_strings_stay),
		cmocka_unit_test_setup_teardown(strings_become_utf8, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_things_are_one, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_stacks_are_added_up, setup, teardown),
		cmocka_unit_test_setup_teardown(sums_do_not_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(many_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(reserved_locations, setup, teardown),
		cmocka_unit_test(runs_at_other_addresses_are_merged),
		cmocka_unit_test_setup_teardown(
			what_is_only_in_the_other_comes_negative, setup, teardown),
		cmocka_unit_test(scaling),
		cmocka_unit_test_setup_teardown(allocator_frames_are_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_functions_are_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(
			sites_are_not_of_the_standard_library, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_is_no_site, setup, teardown),
		cmocka_unit_test_setup_teardown(sites_are_not_ones_own_malloc, setup, teardown),
		cmocka_unit_test(names_are_made_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
