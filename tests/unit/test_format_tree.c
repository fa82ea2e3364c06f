// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "sample_profile.h"

static uint32_t location(struct ap_profile *profile, const char *name)
{
	return sample_location(profile, -1, 0, name, NULL);
}

static void add(struct ap_profile *profile, const char *const names[], int64_t bytes)
{
	uint32_t stack[8];
	uint32_t depth = 0;

	for (; names[depth]; depth++)
		stack[depth] = location(profile, names[depth]);
	assert_true(
		ap_profile_add_sample(profile, stack, depth, (int64_t[]){1, bytes, 1, bytes}) >= 0);
}

static struct ap_profile *calls(void)
{
	struct ap_profile *profile = ap_profile_new();

	add(profile, (const char *const[]){"malloc", "grow", "parse", "main", NULL}, 700);
	add(profile, (const char *const[]){"malloc", "store", "serve", "main", NULL}, 290);
	add(profile, (const char *const[]){"malloc", "a", "serve", "main", NULL}, 6);
	add(profile, (const char *const[]){"malloc", "b", "serve", "main", NULL}, 4);
	return profile;
}

static void calls_are_a_tree(void **state)
{
	struct ap_profile *profile = calls();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text = written(ap_format_tree_write, profile, &options);

	assert_string_equal(text, "       1000 B  100.0%  main\n"
				  "        700 B   70.0%  |-parse\n"
				  "        700 B   70.0%  | grow\n"
				  "        300 B   30.0%  `-serve\n"
				  "        290 B   29.0%    |-store\n"
				  "         10 B    1.0%    `-(2 smaller)\n");
	free(text);
	options.show_allocator = true;
	options.value = AP_ALLOC_OBJECTS;
	text = written(ap_format_tree_write, profile, &options);
	assert_non_null(strstr(text, "            1   25.0%  | | malloc\n"));
	free(text);
	if (setlocale(LC_CTYPE, "C.UTF-8")) {
		text = written(ap_format_tree_write, profile, &options);
		assert_non_null(strstr(text, "  │ │ malloc\n"));
		assert_non_null(strstr(text, "  ├ serve\n"));
		free(text);
		setlocale(LC_CTYPE, "C");
	}
	ap_profile_free(profile);
}

static void a_difference_has_signs(void **state)
{
	struct ap_profile *profile = calls(), *base = ap_profile_new();
	struct ap_format_options options = {.value = AP_INUSE_SPACE, .difference = true};
	char *text;

	add(base, (const char *const[]){"malloc", "grow", "parse", "main", NULL}, 700);
	add(base, (const char *const[]){"malloc", "gone", "parse", "main", NULL}, 400);
	assert_int_equal(ap_profile_merge(profile, base, -1), 0);
	text = written(ap_format_tree_write, profile, &options);
	assert_string_equal(text, "       -100 B  main\n"
				  "       -400 B  |-parse\n"
				  "       -400 B  | gone\n"
				  "       +300 B  `-serve\n"
				  "       +290 B    |-store\n"
				  "         +6 B    |-a\n"
				  "         +4 B    `-b\n");
	free(text);
	ap_profile_free(base);
	ap_profile_free(profile);
}

static void names_are_made_printable(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text = written(ap_format_tree_write, profile, &options);

	assert_non_null(strstr(text, "  evil;\"name\" <script>\\x0a\\x1b[31m"));
	assert_non_null(strstr(text, "[stack map full]\n"));
	assert_null(strchr(text, '\033'));
	free(text);
	ap_profile_free(profile);
}

/* A file may have any depth, with a branch at each level. */
static void deep_trees_end(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	uint32_t down = location(profile, "down"), aside = location(profile, "aside");
	enum { DEPTH = 2000 };
	uint32_t stack[DEPTH];
	char *text;

	for (uint32_t depth = 1; depth < DEPTH; depth++) {
		for (uint32_t i = 0; i < depth; i++)
			stack[i] = i ? down : aside;
		ap_profile_add_sample(profile, stack, depth, (int64_t[]){0, 0, 0, 1000 * depth});
	}
	text = written(ap_format_tree_write, profile, &options);
	assert_non_null(strstr(text, "down\n"));
	free(text);
	ap_profile_free(profile);
}

static void nothing_is_no_line(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text = written(ap_format_tree_write, profile, &options);

	assert_string_equal(text, "");
	free(text);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_a_tree),
		cmocka_unit_test(a_difference_has_signs),
		cmocka_unit_test(names_are_made_printable),
		cmocka_unit_test(deep_trees_end),
		cmocka_unit_test(nothing_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
