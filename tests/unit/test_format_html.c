// SPDX-License-Identifier: MIT
/* What can be said of the page without a browser; the rest is in tests/browser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "json.h"
#include "sample_profile.h"

static const struct ap_format_options options = {.value = AP_INUSE_SPACE};

/* Between two marks; the caller frees it. */
static char *between(const char *text, const char *from, const char *to)
{
	const char *start = strstr(text, from), *end;

	assert_non_null(start);
	start += strlen(from);
	end = strstr(start, to);
	assert_non_null(end);
	return strndup(start, (size_t)(end - start));
}

static void is_complete(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *page = written(ap_format_html_write, profile, &options);

	assert_null(strstr(page, "@@"));
	assert_non_null(strstr(page, "</html>"));
	assert_non_null(strstr(page, "<title>program (4127): memory</title>"));
	free(page);
	ap_profile_free(profile);
}

/* Whatever the names are, the page has the same elements. */
static void names_add_no_markup(void **state)
{
	struct ap_profile *profile = sample_profile(), *plain = ap_profile_new();
	char *page, *other;

	assert_int_equal(ap_profile_set(&profile->info.comm, "</title><script>"), 0);
	assert_int_equal(ap_profile_set(&profile->info.command, "\"></script><!--"), 0);
	page = written(ap_format_html_write, profile, &options);
	other = written(ap_format_html_write, plain, &options);
	assert_int_equal(occurrences(page, "<script"), occurrences(other, "<script"));
	assert_int_equal(occurrences(page, "</script"), occurrences(other, "</script"));
	assert_int_equal(occurrences(page, "<script"), occurrences(page, "</script"));
	assert_int_equal(occurrences(page, "<!--"), 0);
	assert_int_equal(occurrences(page, "</title"), 1);
	assert_int_equal(occurrences(page, "</noscript"), 1);
	for (const char *c = page; *c; c++)
		assert_true(*c == '\n' || *c == '\t' || (unsigned char)*c >= ' ');
	free(page);
	free(other);
	ap_profile_free(profile);
	ap_profile_free(plain);
}

/* Nothing is allowed but the page's own style and scripts, and there is one hash for each. */
static void policy_is_strict(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *page = written(ap_format_html_write, profile, &options);
	char *policy = between(page, "Content-Security-Policy\" content=\"", "\">");

	assert_non_null(strstr(policy, "default-src 'none'"));
	assert_null(strstr(policy, "unsafe"));
	assert_null(strstr(policy, "http"));
	assert_int_equal(occurrences(policy, "'sha256-"),
		occurrences(page, "<script>") + occurrences(page, "<style>"));
	assert_null(strstr(page, " style=\""));
	assert_null(strstr(page, "src=\""));
	free(policy);
	free(page);
	ap_profile_free(profile);
}

static void table_without_script_has_the_totals(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *page = written(ap_format_html_write, profile, &options);
	char *table = between(page, "<noscript>", "</noscript>");

	assert_non_null(
		strstr(table, "<td>all</td><td title=\"2028\">2.0 KiB</td>"
			      "<td title=\"18\">18</td>"
			      "<td title=\"3187\">3.1 KiB</td><td title=\"30\">30</td></tr>"));
	assert_non_null(strstr(table, "<td>[stack map full]</td><td title=\"1007\">1007 B</td>"));
	assert_non_null(strstr(table, "<th>live bytes</th>"));
	assert_non_null(strstr(table, "&lt;script&gt;"));
	assert_null(strstr(table, "<td>malloc</td>"));
	free(table);
	free(page);
	ap_profile_free(profile);
}

static void same_profile_same_file(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *one = written(ap_format_html_write, profile, &options);
	char *two = written(ap_format_html_write, profile, &options);

	assert_string_equal(one, two);
	free(one);
	free(two);
	ap_profile_free(profile);
}

static void names_are_written_once(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *page = written(ap_format_html_write, profile, &options);
	char *data = between(page, "id=\"profile\">", "</script>");

	/* "i.h" stands before it: the i is shared. */
	assert_int_equal(occurrences(data, "nlined"), 1);
	assert_int_equal(occurrences(data, "stack map full"), 1);
	free(data);
	free(page);
	ap_profile_free(profile);
}

static void comparison_has_both(void **state)
{
	struct ap_profile *profile = sample_profile(), *base = sample_profile();
	const struct ap_format_options compared = {.value = AP_INUSE_SPACE, .base = base};
	char *page = written(ap_format_html_write, profile, &compared);
	char *data = between(page, "id=\"profile\">", "</script>");

	assert_int_equal(occurrences(data, "\"self\":["), 2);
	assert_null(strstr(data, "\"base\":null"));
	free(data);
	free(page);
	ap_profile_free(profile);
	ap_profile_free(base);
}

static void json_is_safe_in_a_script(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ap_json_string(out, "a\"b\\c</script>&\n\xff\xe2\x80\xa8\xc3\xa9");
	fclose(out);
	assert_string_equal(text,
		"\"a\\\"b\\\\c\\u003c/script\\u003e\\u0026\\\\x0a\\\\xff\\\\u{2028}"
		"\xc3\xa9\"");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_complete),
		cmocka_unit_test(names_add_no_markup),
		cmocka_unit_test(policy_is_strict),
		cmocka_unit_test(table_without_script_has_the_totals),
		cmocka_unit_test(same_profile_same_file),
		cmocka_unit_test(names_are_written_once),
		cmocka_unit_test(comparison_has_both),
		cmocka_unit_test(json_is_safe_in_a_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
