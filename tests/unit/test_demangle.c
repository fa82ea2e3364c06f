// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

static void expect_demangled(const char *mangled, const char *expected)
{
	char *demangled = ap_demangle(mangled);

	if (expected)
		assert_string_equal(demangled, expected);
	else
		assert_null(demangled);
	free(demangled);
}

static void names_are_demangled(void **state)
{
	char *deep = malloc(200001);

	expect_demangled("main", NULL);
	expect_demangled("_Znwm", "operator new(unsigned long)");
	expect_demangled("_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
	expect_demangled("_ZN3foo3barIiEEvT_", "foo::bar<int>(int)");
	expect_demangled("_ZN3foo3barEv.cold", "foo::bar() [clone .cold]");
	/* Rust's older names, whose hash is of no use to a reader, and the newer ones. */
	expect_demangled("_ZN4core3ptr18real_drop_in_place17h0123456789abcdefE",
		"core::ptr::real_drop_in_place");
	expect_demangled("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
			 "4drop17h0123456789abcdefE",
		"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
	expect_demangled("_RNvC6_123foo3bar", "123foo::bar");
	expect_demangled("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	/* D's; Qg stands for what is six bytes before it. */
	expect_demangled("_Dmain", "D main");
	expect_demangled("_D3foo3bar4testFPxaZi", "foo.bar.test(const(char)*)");
	expect_demangled("_D4core4stdc5errnoQgFZi", "core.stdc.errno.errno()");
	expect_demangled("_DYNAMIC", NULL);
	expect_demangled("_Z", NULL);
	expect_demangled("_ZN", NULL);

	/* Deep nesting must not use up the stack, at any length. */
	assert_non_null(deep);
	for (size_t length = 500; length <= 200000; length = length * 3 / 2) {
		memset(deep, 'P', length);
		memcpy(deep, "_Z1f", 4);
		memcpy(deep + length - 1, "i", 2);
		free(ap_demangle(deep));
		memset(deep, 'F', length);
		memcpy(deep, "_Z1f", 4);
		free(ap_demangle(deep));
		memset(deep, 'I', length);
		memcpy(deep, "_ZN1f", 5);
		free(ap_demangle(deep));
		memset(deep, 'T', length);
		memcpy(deep, "_RINvC1a1b", 10);
		free(ap_demangle(deep));
		memset(deep, 'R', length);
		memcpy(deep, "_RINvC1a1b", 10);
		free(ap_demangle(deep));
		memset(deep, 'P', length);
		memcpy(deep, "_D1fF", 5);
		free(ap_demangle(deep));
	}
	free(deep);
}

/* Some hundred bytes that stand for 2^60: each parameter is a pair of the one before. */
static void names_out_of_proportion(void **state)
{
	char name[1024] = "_Z1f1pIiiE", piece[32];

	strcat(name, "S_IS0_S0_E");
	for (int i = 1; i < 60; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char number[4] = "";

		if (i < 36)
			snprintf(number, sizeof(number), "%c", digits[i]);
		else
			snprintf(number, sizeof(number), "%c%c", digits[i / 36], digits[i % 36]);
		snprintf(piece, sizeof(piece), "S_IS%s_S%s_E", number, number);
		strcat(name, piece);
	}
	free(ap_demangle(name));
}

/* The same in D, where references are distances: tuples of twice the one before. */
static void d_names_out_of_proportion(void **state)
{
	for (int levels = 1; levels < 60; levels++) {
		char name[1024] = "_D1fFB2ii";

		for (int i = 0; i < levels; i++)
			strcat(name, i ? "B2QiQk" : "B2QgQi");
		strcat(name, "Zi");
		free(ap_demangle(name));
	}
	expect_demangled("_D1fFB2iiB2QgQiB2QiQkZi",
		"f(Tuple!(int, int), Tuple!(Tuple!(int, int), Tuple!(int, int)), "
		"Tuple!(Tuple!(Tuple!(int, int), Tuple!(int, int)), "
		"Tuple!(Tuple!(int, int), Tuple!(int, int))))");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_demangled),
		cmocka_unit_test(names_out_of_proportion),
		cmocka_unit_test(d_names_out_of_proportion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
