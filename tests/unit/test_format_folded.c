// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "sample_profile.h"

static void lines_add_up(void **state)
{
	struct ap_profile *profile = sample_profile();

	for (int value = 0; value < AP_VALUES; value++) {
		for (int show = 0; show < 2; show++) {
			struct ap_format_options options = {
				.value = value, .show_allocator = show != 0};
			char *text = written(ap_format_folded_write, profile, &options);
			int64_t sum = 0;
			char *line, *rest = text, *last = NULL;

			while ((line = strsep(&rest, "\n")) && *line) {
				char *space = strrchr(line, ' '), *end;
				int64_t number = strtoll(space + 1, &end, 10);

				assert_string_equal(end, "");
				assert_int_not_equal(number, 0);
				sum += number;
				*space = '\0';
				assert_true(!last || strcmp(last, line) < 0);
				last = line;
			}
			assert_int_equal(sum, profile->total[value]);
			free(text);
		}
	}
	ap_profile_free(profile);
}

static void names_do_not_break_lines(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text = written(ap_format_folded_write, profile, &options);

	assert_non_null(
		strstr(text, "main;evil:\"name\" <script>??[31m \\ 100 \xef\xbf\xbd 211\n"));
	assert_non_null(strstr(text, "main;left 53\n"));
	assert_non_null(strstr(text, "[stack map full] 1007\n"));
	assert_non_null(strstr(text, "L;inlined 757\n"));
	assert_null(strstr(text, "malloc"));
	free(text);
	options.show_allocator = true;
	text = written(ap_format_folded_write, profile, &options);
	assert_non_null(strstr(text, "main;left;malloc 53\n"));
	free(text);
	ap_profile_free(profile);
}

static void nothing_and_no_stack(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_format_options options = {.value = AP_ALLOC_SPACE};
	char *text = written(ap_format_folded_write, profile, &options);

	assert_string_equal(text, "");
	free(text);
	ap_profile_add_sample(profile, NULL, 0, (int64_t[]){1, 17, 0, 0});
	text = written(ap_format_folded_write, profile, &options);
	assert_string_equal(text, "[no stack] 17\n");
	free(text);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_add_up),
		cmocka_unit_test(names_do_not_break_lines),
		cmocka_unit_test(nothing_and_no_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
