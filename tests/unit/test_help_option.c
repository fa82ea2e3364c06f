// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "help_option.h"

static void test_options(void **state)
{
	static const char *const help[] = {
		"usage: allocprof x [OPTIONS]\n--not an option, but text\n",
		"  -o, --output FILE        write this:\n"
		"                           --and this goes on\n"
		"      --show live|allocated   one or the other\n",
		"",
		"      --leak[=SHARE]       older: 10%\n"
		"  -q, --quiet              say little\n",
		NULL,
	};
	static const struct ap_help_option expected[] = {
		{'o', "output", "FILE", false, "write this:"},
		{0, "show", "live|allocated", false, "one or the other"},
		{0, "leak", "SHARE", true, "older: 10%"},
		{'q', "quiet", "", false, "say little"},
	};
	struct ap_help_option option;
	const char *at = NULL;

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_true(ap_help_option_next(help, &at, &option));
		assert_int_equal(option.letter, expected[i].letter);
		assert_string_equal(option.name, expected[i].name);
		assert_string_equal(option.value, expected[i].value);
		assert_int_equal(option.is_optional, expected[i].is_optional);
		assert_string_equal(option.description, expected[i].description);
	}
	assert_false(ap_help_option_next(help, &at, &option));
}

static void test_choices(void **state)
{
	char word[AP_HELP_TEXT];

	assert_false(ap_help_choice("FILE", 0, word));
	assert_true(ap_help_choice("bash|zsh|fish", 0, word));
	assert_string_equal(word, "bash");
	assert_true(ap_help_choice("bash|zsh|fish", 2, word));
	assert_string_equal(word, "fish");
	assert_false(ap_help_choice("bash|zsh|fish", 3, word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
