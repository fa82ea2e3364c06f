// SPDX-License-Identifier: MIT
/* Filters: what they leave out is in no total any more, and the header tells how much it was. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "filter.h"
#include "labeled_profile.h"

/*
 * Applies a filter to a new profile, and checks that totals plus what was left out
 * are the old totals.
 */
static struct ap_profile *filtered(struct ap_filter *filter)
{
	struct ap_profile *whole = labeled_profile(), *profile = labeled_profile();
	struct ap_error error;

	assert_int_equal(ap_filter_apply(filter, profile, &error), 0);
	for (int v = 0; v < AP_VALUES; v++) {
		int64_t sum = 0;

		assert_int_equal(profile->total[v] + profile->info.left_out[v], whole->total[v]);
		for (uint32_t i = 0; i < profile->sample_count; i++)
			sum += profile->samples[i].value[v];
		assert_int_equal(sum, profile->total[v]);
	}
	ap_filter_clear(filter);
	ap_profile_free(whole);
	return profile;
}

static void regex_add(struct ap_filter *filter, const char *text, bool excludes)
{
	char reason[64];

	assert_int_equal(ap_filter_add_regex(filter, text, excludes, reason, sizeof(reason)), 0);
}

static void nothing_is_left_out_by_nothing(void **state)
{
	struct ap_filter filter = {0};
	struct ap_profile *profile;

	assert_true(ap_filter_is_empty(&filter));
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 40500);
	assert_null(profile->info.filter);
	ap_profile_free(profile);
}

static void leaks_are_old(void **state)
{
	struct ap_filter filter = {.leak = 1};
	struct ap_profile *profile = filtered(&filter);

	/* The young block goes; what was lost may be old. */
	assert_int_equal(profile->total[AP_INUSE_SPACE], 10000 + 500);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 40500);
	assert_string_equal(profile->info.filter, "--leak=10%");
	ap_profile_free(profile);
	filter.leak = 9;
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 6000 + 500);
	ap_profile_free(profile);
}

static void functions_by_regex(void **state)
{
	struct ap_filter filter = {0};
	struct ap_profile *profile;

	regex_add(&filter, "^(le|nothing)", false);
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 10000);
	assert_string_equal(profile->info.filter, "-I ^(le|nothing)");
	ap_profile_free(profile);
	regex_add(&filter, "leak", false);
	regex_add(&filter, "churn", false);
	regex_add(&filter, "urn$", true);
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 10000);
	ap_profile_free(profile);
	regex_add(&filter, "e", true);
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 30000);
	ap_profile_free(profile);
}

static void bad_regex_says_why(void **state)
{
	struct ap_filter filter = {0};
	char reason[64] = "";

	assert_int_equal(
		ap_filter_add_regex(&filter, "a(", false, reason, sizeof(reason)), -EINVAL);
	assert_true(*reason);
	assert_int_equal(filter.regex_count, 0);
	ap_filter_clear(&filter);
}

/* malloc itself is hidden, so it is in no stack that is looked at, unless it is shown. */
static void hidden_frames_do_not_match(void **state)
{
	struct ap_profile *profile = sample_profile();
	struct ap_filter filter = {0};
	struct ap_error error;

	regex_add(&filter, "^malloc$", true);
	assert_int_equal(ap_filter_apply(&filter, profile, &error), 0);
	assert_int_equal(profile->info.left_out[AP_ALLOC_SPACE], 0);
	filter.show_allocator = true;
	assert_int_equal(ap_filter_apply(&filter, profile, &error), 0);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 1007);
	ap_filter_clear(&filter);
	ap_profile_free(profile);
}

static void threads_by_name_and_number(void **state)
{
	static const char *const names[] = {"first", "11", "f*", "[!s]*"};
	struct ap_filter filter = {0};
	struct ap_profile *profile;

	for (int i = 0; i < 4; i++) {
		filter.thread = names[i];
		profile = filtered(&filter);
		assert_int_equal(profile->total[AP_ALLOC_SPACE], 35000);
		assert_int_equal(profile->total[AP_INUSE_SPACE], 6000);
		ap_profile_free(profile);
	}
	filter.thread = "nobody";
	profile = filtered(&filter);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 0);
	ap_profile_free(profile);
}

static void two_filters_add_up(void **state)
{
	struct ap_filter leak = {.leak = 1}, thread = {.thread = "first"};
	struct ap_profile *profile = labeled_profile();
	struct ap_error error;

	assert_int_equal(ap_filter_apply(&leak, profile, &error), 0);
	assert_int_equal(ap_filter_apply(&thread, profile, &error), 0);
	assert_int_equal(profile->total[AP_INUSE_SPACE], 6000);
	assert_int_equal(profile->info.left_out[AP_INUSE_SPACE], 1000 + 4000 + 500);
	assert_string_equal(profile->info.filter, "--leak=10% --thread first");
	ap_profile_free(profile);
}

/* A profile of somebody else's, with live bytes of unknown age and thread. */
static void what_is_not_known_is_an_error(void **state)
{
	struct ap_filter leak = {.leak = 1}, thread = {.thread = "first"};
	struct ap_profile *profile = sample_profile();
	struct ap_error error;

	assert_int_equal(ap_filter_apply(&leak, profile, &error), -ENODATA);
	assert_non_null(strstr(error.what, "how old"));
	assert_int_equal(ap_filter_apply(&thread, profile, &error), -ENODATA);
	assert_non_null(strstr(error.hint, "--by-thread"));
	assert_null(profile->info.filter);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_out_by_nothing),
		cmocka_unit_test(leaks_are_old),
		cmocka_unit_test(functions_by_regex),
		cmocka_unit_test(bad_regex_says_why),
		cmocka_unit_test(hidden_frames_do_not_match),
		cmocka_unit_test(threads_by_name_and_number),
		cmocka_unit_test(two_filters_add_up),
		cmocka_unit_test(what_is_not_known_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
