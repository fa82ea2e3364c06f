// SPDX-License-Identifier: MIT
/* The numbers of JSON and their errors; report.sh reads the whole with a parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "estimate.h"
#include "format.h"
#include "sample_profile.h"

/* Behind `key`, which must be there, as a number. */
static double number_behind(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	if (!found)
		fail_msg("no %s", key);
	return strtod(found + strlen(key), NULL);
}

static struct ap_profile *one_site(int64_t objects, int64_t size)
{
	struct ap_profile *profile = ap_profile_new();
	uint32_t site = sample_location(profile, -1, 0x1000, "site", NULL);
	const int64_t value[AP_VALUES] = {objects, objects * size, objects, objects * size};

	profile->info.period = 65536;
	assert_true(ap_profile_add_sample(profile, &site, 1, value) >= 0);
	return profile;
}

static void test_totals(void **state)
{
	struct ap_profile *profile = sample_profile();
	char *text = written(ap_format_json_write, profile,
		&(struct ap_format_options){.value = AP_INUSE_SPACE});

	assert_memory_equal(text, "{\"schema\":1,", 12);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_non_null(strstr(text, "\"total\":{\"alloc_objects\":{\"value\":30,\"low\":"));
	assert_true(number_behind(text, "\"inuse_space\":{\"value\":") == 2028);
	assert_non_null(strstr(text, "\"shown\":\"inuse_space\""));
	assert_non_null(strstr(text, "\"start\":\"2026-11-30T"));
	/* The name of a function that attacks, whole and harmless. */
	assert_non_null(
		strstr(text, "\"evil;\\\"name\\\" <script>\\u000a\\u001b[31m \\\\ 100 \\ufffd\""));
	for (const char *c = text; c[1]; c++)
		assert_in_range(*c, ' ', '~');
	free(text);
	ap_profile_free(profile);
}

static void test_errors(void **state)
{
	struct ap_profile *profile = one_site(4000, 1000), *base = one_site(1000, 1000);
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	struct ap_estimate now = {0}, before = {0};
	double low, high;
	char *text = written(ap_format_json_write, profile, &options);

	ap_estimate_add(&now, profile, &profile->samples[0], AP_INUSE_SPACE);
	ap_estimate_range(&now, &low, &high);
	assert_true(low < 4e6 && high > 4e6);
	assert_float_equal(
		number_behind(text, "\"inuse_space\":{\"value\":4000000,\"low\":"), low, 0.01);
	free(text);

	options.base = base;
	text = written(ap_format_json_write, profile, &options);
	ap_estimate_add(&before, base, &base->samples[0], AP_INUSE_SPACE);
	assert_float_equal(
		number_behind(text, "\"inuse_space\":{\"value\":4000000,\"base\":1000000,"
				    "\"change\":3000000,\"error\":"),
		ap_estimate_interval(now.variance + before.variance), 0.01);
	free(text);

	/* Nobody knows how it was sampled. */
	profile->info.period = 0;
	options.base = NULL;
	text = written(ap_format_json_write, profile, &options);
	assert_null(strstr(text, "\"low\""));
	free(text);
	ap_profile_free(profile);
	ap_profile_free(base);
}

/* Recursion: a function counts once in a stack. */
static void test_recursion(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	uint32_t again = sample_location(profile, -1, 0x1000, "again", NULL);
	uint32_t stack[] = {again, again, again};
	char *text;

	assert_true(ap_profile_add_sample(profile, stack, 3, (int64_t[]){1, 7, 1, 7}) >= 0);
	text = written(ap_format_json_write, profile,
		&(struct ap_format_options){.value = AP_INUSE_SPACE});
	assert_non_null(
		strstr(text, "\"name\":\"again\",\"file\":null,\"library\":null,\"self\":{"
			     "\"alloc_objects\":{\"value\":1},\"alloc_space\":{\"value\":7},"
			     "\"inuse_objects\":{\"value\":1},\"inuse_space\":{\"value\":7}},"
			     "\"total\":{\"alloc_objects\":{\"value\":1},"));
	free(text);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
