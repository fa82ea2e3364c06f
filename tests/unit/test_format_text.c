// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample_profile.h"

static void table_of_sites(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE, .top = 2};
	char *text = written(ap_format_text_write, profile, &options);

	assert_string_equal(text, "live 2.0 KiB of 3.1 KiB allocated in 31 samples, 5 stacks; 94% "
				  "of samples have a whole stack; "
				  "2 samples lost their stack\n"
				  "      1007 B   49.7%  [stack map full]\n"
				  "       757 B   37.3%  inlined                           i.h:5\n"
				  "       264 B  in 2 more sites\n");
	free(text);
	options = (struct ap_format_options){.value = AP_ALLOC_OBJECTS};
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "allocated 30 objects in 31 samples"));
	free(text);
	options = (struct ap_format_options){.value = AP_INUSE_OBJECTS};
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "live 18 of 30 objects allocated in 31 samples"));
	free(text);
	options = (struct ap_format_options){.value = AP_ALLOC_OBJECTS};
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "           5   16.7%  main"));
	/* Nothing that a terminal would obey. */
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "evil;\"name\" <script>\\x0a\\x1b[31m"));
	free(text);
	ap_profile_free(profile);
}

static void names_are_short(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	uint32_t insert = sample_location(profile, -1, 3,
		"Cache<int, std::allocator<int> >::insert(std::vector<int> const&)", "cache.h");
	char *text;

	ap_profile_add_sample(profile, &insert, 1, (int64_t[]){1, 1009, 1, 1009});
	text = written(ap_format_text_write, profile, &options);
	assert_string_equal(text,
		"live 1009 B of 1009 B allocated in 1 stack\n"
		"      1009 B  100.0%  Cache::insert                     cache.h:3\n");
	free(text);
	ap_profile_free(profile);
}

static void table_of_a_difference(void **state)
{
	struct ap_profile *profile = sample_profile(), *base = sample_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE, .difference = true};
	uint32_t grown = sample_location(profile, -1, 0x99, "grown", NULL);
	uint32_t gone = sample_location(base, -1, 0x98, "gone", NULL);
	char *text;

	ap_profile_add_sample(profile, &grown, 1, (int64_t[]){1, 3000, 1, 3000});
	ap_profile_add_sample(base, &gone, 1, (int64_t[]){1, 4000, 1, 4000});
	assert_int_equal(ap_profile_merge(profile, base, -1), 0);
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "live -1000 B"));
	assert_non_null(strstr(text, "  -3.9 KiB  gone\n"));
	assert_non_null(strstr(text, "  +2.9 KiB  grown\n"));
	assert_null(strstr(text, "left"));
	free(text);
	ap_profile_free(profile);
	ap_profile_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_of_sites),
		cmocka_unit_test(names_are_short),
		cmocka_unit_test(table_of_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
