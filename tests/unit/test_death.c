// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "death.h"

/* 2026-11-30 14:02:11 UTC */
#define TIME 1796047331000000000LL

static void test_format(void **state)
{
	static const struct {
		struct ap_death death;
		const char *text;
	} cases[] = {
		{{.known = false}, "exited"},
		{{.known = true, .status = 3 << 8, .at_ns = TIME}, "exited with status 3"},
		{{.known = true, .status = SIGSEGV, .at_ns = TIME},
			"was killed by SIGSEGV at 14:02:11 UTC"},
		{{.known = true, .status = SIGABRT | 0x80, .at_ns = TIME},
			"was killed by SIGABRT at 14:02:11 UTC (core dumped)"},
		{{.known = true, .oom = true, .status = SIGKILL, .at_ns = TIME},
			"was killed by the OOM killer at 14:02:11 UTC"},
		{{.known = true, .status = SIGKILL}, "was killed by SIGKILL"},
		{{.known = true, .status = 63}, "was killed by signal 63"},
	};
	char text[AP_DEATH_TEXT];

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(ap_death_format(text, &cases[i].death), cases[i].text);
}

static void test_crash(void **state)
{
	assert_true(ap_death_is_crash(&(struct ap_death){.known = true, .status = SIGSEGV}));
	assert_true(ap_death_is_crash(
		&(struct ap_death){.known = true, .oom = true, .status = SIGKILL}));
	assert_false(ap_death_is_crash(&(struct ap_death){.known = true, .status = SIGKILL}));
	assert_false(ap_death_is_crash(&(struct ap_death){.known = true, .status = 1 << 8}));
	assert_false(ap_death_is_crash(&(struct ap_death){.known = false}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
