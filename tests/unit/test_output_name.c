// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "output_name.h"

/* 2026-11-30 14:02:11 UTC */
#define TIME 1796047331000000000LL

static void test_check(void **state)
{
	assert_null(ap_output_name_check("plain.html"));
	assert_null(ap_output_name_check("%n/%p-%t-100%%.html"));
	assert_string_equal(ap_output_name_check("%n-%x.html"), "%x.html");
	assert_string_equal(ap_output_name_check("ends in %"), "%");
	assert_string_equal(ap_output_name_check("%%%"), "%");
}

static void test_fill(void **state)
{
	static const struct {
		const char *path, *name, *filled;
	} cases[] = {
		{"plain.html", "nginx", "plain.html"},
		{"%n-%p-%t.pb.gz", "nginx", "nginx-4127-20261130T140211Z.pb.gz"},
		{"100%%/%n", "a.out", "100%/a.out"},
		/* What a target calls itself leads nowhere else. */
		{"%n/x", "..", "_./x"},
		{"%n", "../etc/passwd", "_._etc_passwd"},
		{"%n", "a b;c\n%p", "a_b_c__p"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *filled = ap_output_name_fill(cases[i].path, cases[i].name, 4127, TIME);

		assert_string_equal(filled, cases[i].filled);
		free(filled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
