// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"

static void test_nesting(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct ap_json json = {.out = out};

	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_array(&json, "list");
	ap_json_number(&json, NULL, INT64_MIN);
	ap_json_object(&json, NULL);
	ap_json_close(&json);
	ap_json_array(&json, NULL);
	ap_json_close(&json);
	ap_json_close(&json);
	ap_json_bool(&json, "yes", true);
	ap_json_bool(&json, "no", false);
	ap_json_real(&json, "half", 0.5);
	ap_json_real(&json, "none", NAN);
	ap_json_text(&json, "null", NULL);
	ap_json_close(&json);
	fclose(out);
	assert_string_equal(text,
		"{\"schema\":1,\"list\":[-9223372036854775808,{},[]],\"yes\":true,\"no\":false,"
		"\"half\":0.5,\"none\":null,\"null\":null}\n");
	free(text);
}

/* What a target may be named: nothing but printable ASCII comes out, and all of it. */
static void test_texts(void **state)
{
	static const struct {
		const char *text, *written;
	} cases[] = {
		{"", "\"\""},
		{"a\"b\\c</script>", "\"a\\\"b\\\\c</script>\""},
		{"\x1b[31m\n\t\x7f", "\"\\u001b[31m\\u000a\\u0009\\u007f\""},
		{"\xc3\xa9\xe2\x80\xae", "\"\\u00e9\\u202e\""},
		{"\xf0\x9f\x94\xa5", "\"\\ud83d\\udd25\""},
		{"bad\xff\xc3", "\"bad\\ufffd\\ufffd\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		struct ap_json json = {.out = out};

		ap_json_text(&json, NULL, cases[i].text);
		fclose(out);
		assert_string_equal(text, cases[i].written);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
