// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

static void equals(const char *text, const char *expected)
{
	char *out = NULL;
	size_t length;
	FILE *memory = open_memstream(&out, &length);

	assert_non_null(memory);
	ap_base64_put(memory, text, strlen(text));
	fclose(memory);
	assert_string_equal(out, expected);
	free(out);
}

/* The vectors of RFC 4648, and the two digits that they lack. */
static void vectors(void **state)
{
	equals("", "");
	equals("f", "Zg==");
	equals("fo", "Zm8=");
	equals("foo", "Zm9v");
	equals("foob", "Zm9vYg==");
	equals("fooba", "Zm9vYmE=");
	equals("foobar", "Zm9vYmFy");
	equals("\xfb\xef\xff", "++//");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
