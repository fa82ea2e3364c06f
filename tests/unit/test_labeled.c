// SPDX-License-Identifier: MIT
/* The labels (sizes, lifetimes, ages, threads) in the outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "estimate.h"
#include "labeled_profile.h"

static void stacks_are_counted_once(void **state)
{
	struct ap_profile *profile = labeled_profile(), *sum = ap_profile_new();

	assert_int_equal(profile->sample_count, 6);
	assert_int_equal(profile->stack_count, 3);
	assert_int_equal(profile->samples[4].first, 2);
	assert_ptr_equal(profile->samples[4].location, profile->samples[2].location);
	assert_int_equal(profile->total[AP_ALLOC_SPACE], 40500);
	/* Also when they are merged, where threads have other numbers. */
	ap_profile_add_thread(sum, "other", 33);
	assert_int_equal(ap_profile_merge(sum, profile, 1), 0);
	assert_int_equal(ap_profile_merge(sum, profile, 1), 0);
	assert_int_equal(sum->sample_count, 6);
	assert_int_equal(sum->stack_count, 3);
	assert_int_equal(sum->thread_count, 3);
	assert_string_equal(sum->threads[sum->samples[0].labels.thread].name, "first");
	assert_int_equal(sum->samples[0].samples, 12);
	assert_int_equal(sum->total[AP_INUSE_SPACE], 2 * 11500);
	ap_profile_free(profile);
	ap_profile_free(sum);
}

static void table_has_threads_errors_and_blocks(void **state)
{
	struct ap_profile *profile = labeled_profile();
	struct ap_format_options options = {
		.value = AP_INUSE_SPACE, .lifetimes = true, .sizes = true};
	char *text = written(ap_format_text_write, profile, &options);

	assert_string_equal(text,
		"live 11.2 KiB +/-69% of 39.6 KiB allocated in 3 stacks\n"
		"     5.9 KiB  +/-110%   52.2%  first                11  leak                      "
		"        l.c:1\n"
		"              lived  live 100% (100% of it from the first half)\n"
		"              sizes from  64 B 100%\n"
		"     3.9 KiB  +/-134%   34.8%  se;cond              22  leak                      "
		"        l.c:1\n"
		"              lived  live 100% (100% of it from the first half)\n"
		"              sizes from  128 B 100%\n"
		"      1000 B  +/-387%    8.7%  se;cond              22  churn                     "
		"        c.c:2\n"
		"              sizes from  128 B 100%\n"
		"       500 B  +/-387%    4.3%  [live map full]\n");
	free(text);
	options = (struct ap_format_options){.value = AP_ALLOC_SPACE, .lifetimes = true, .top = 1};
	text = written(ap_format_text_write, profile, &options);
	assert_non_null(strstr(text, "lived  1-10ms 69%  10-100ms 31%\n"));
	free(text);
	ap_profile_free(profile);
}

/* Of 6 samples for 60 blocks of 6000 bytes V is 6000^2 (1/6 - 1/60), on both sides. */
static void difference_has_the_errors_of_both(void **state)
{
	struct ap_profile *profile = labeled_profile(), *difference = ap_profile_new();
	struct ap_format_options options = {
		.value = AP_INUSE_SPACE, .difference = true, .sizes = true};
	uint32_t location;
	char *text;

	assert_int_equal(ap_profile_merge(difference, profile, 1), 0);
	assert_int_equal(ap_profile_merge(difference, profile, -1), 0);
	location = difference->samples[0].location[0];
	labeled_add(difference, location, difference->samples[0].labels, 5, 5000, true, 0);
	text = written(ap_format_text_write, difference, &options);
	assert_string_equal(text, "live +4.9 KiB +/-8.4 KiB since the base, in 1 stack\n"
				  "    +4.9 KiB  +/-6.3 KiB      first                11  leak     "
				  "                         l.c:1\n");
	free(text);
	ap_profile_free(difference);
	ap_profile_free(profile);
}

/*
 * What was live at both moments of one recording adds nothing: of 6 new samples for 60 blocks of
 * 6000 bytes V is 6000^2 (1/6 - 1/60), of the 4 for 40 that were there 4000^2 (1/4 - 1/40).
 */
static void growth_has_the_error_of_what_is_new(void **state)
{
	const double new = 5.4e6, old = 3.6e6;
	struct ap_format_options options = {.value = AP_INUSE_SPACE, .difference = true};
	char expected[64];

	for (int64_t other_start = 0; other_start < 2; other_start++) {
		struct ap_profile *now = ap_profile_new(), *before = ap_profile_new();
		struct ap_profile *difference = ap_profile_new();
		struct ap_labels oldest = {-1, 6, -1, 9}, youngest = {-1, 6, -1, 0};
		double variance = other_start ? new + 2 * old : new;
		struct ap_estimate sum = {0};
		char *text;

		now->info.period = before->info.period = 4096;
		now->info.start_ns = 1000;
		now->info.duration_ns = 20000000000;
		before->info.start_ns = 1000 + other_start;
		before->info.duration_ns = 10000000000;
		labeled_add(
			now, sample_location(now, -1, 1, "leak", "l.c"), oldest, 40, 4000, true, 4);
		labeled_add(now, 0, youngest, 60, 6000, true, 6);
		/* There it was not old yet. */
		labeled_add(before, sample_location(before, -1, 1, "leak", "l.c"), youngest, 40,
			4000, true, 4);
		assert_int_equal(ap_profile_difference(difference, now, before), 0);
		for (uint32_t i = 0; i < difference->sample_count; i++)
			ap_estimate_add(&sum, difference, &difference->samples[i], AP_INUSE_SPACE);
		assert_true(sum.value == 6000);
		assert_float_equal(sum.variance, variance, 1);
		options.base = before;
		text = written(ap_format_json_write, now, &options);
		snprintf(expected, sizeof(expected), "\"change\":6000,\"error\":%d.",
			(int)ap_estimate_interval(variance));
		assert_non_null(strstr(text, expected));
		free(text);
		ap_profile_free(difference);
		ap_profile_free(before);
		ap_profile_free(now);
	}
}

static void a_moment_is_itself(void **state)
{
	struct ap_profile *now = ap_profile_new(), *difference = ap_profile_new();
	struct ap_labels young = {-1, 6, -1, 0};
	struct ap_estimate sum = {0};

	now->info.period = 4096;
	now->info.start_ns = 1000;
	now->info.duration_ns = 10000000000;
	labeled_add(now, sample_location(now, -1, 1, "leak", "l.c"), young, 40, 4000, true, 4);
	assert_int_equal(ap_profile_difference(difference, now, now), 0);
	ap_estimate_add(&sum, difference, &difference->samples[0], AP_INUSE_SPACE);
	assert_float_equal(sum.value, 0, 0);
	assert_float_equal(sum.variance, 0, 1e-6);
	ap_profile_free(difference);
	ap_profile_free(now);
}

static void folded_begins_with_the_thread(void **state)
{
	struct ap_profile *profile = labeled_profile();
	struct ap_format_options options = {.value = AP_ALLOC_SPACE};
	char *text = written(ap_format_folded_write, profile, &options);

	assert_string_equal(text, "[first tid=11];churn 29000\n"
				  "[first tid=11];leak 6000\n"
				  "[live map full] 500\n"
				  "[se:cond tid=22];churn 1000\n"
				  "[se:cond tid=22];leak 4000\n");
	free(text);
	ap_profile_free(profile);
}

static void page_has_the_parts_of_each_node(void **state)
{
	struct ap_profile *profile = labeled_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text;

	assert_int_equal(ap_profile_set(&profile->info.filter, "-X </script>"), 0);
	profile->info.left_out[AP_INUSE_SPACE] = 4711;
	text = written(ap_format_html_write, profile, &options);
	assert_non_null(strstr(text, "\"filter\":\"-X \\u003c/script\\u003e\""));
	assert_non_null(strstr(text, "\"left_out\":[0,0,0,4711]"));
	assert_non_null(strstr(text,
		"\"labels\":[6,-1,9,0,7,-1,8,1,6,1,-1,0,7,2,-1,0,7,-1,0,1,-1,-1,-1,-1],\n"
		"\"threads\":[\"first\",11,\"se;cond\",22],\n"));
	free(text);
	ap_profile_free(profile);
}

static void json_has_the_parts_of_each_stack(void **state)
{
	struct ap_profile *profile = labeled_profile();
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char *text;

	assert_int_equal(ap_profile_set(&profile->info.filter, "--leak=10%"), 0);
	profile->info.left_out[AP_INUSE_SPACE] = 4711;
	text = written(ap_format_json_write, profile, &options);
	assert_non_null(strstr(text,
		"\"parts\":[{\"size_from\":64,\"age_from_percent\":90,\"thread\":\"first\","
		"\"tid\":11,\"samples\":6,\"alloc_objects\":60,\"alloc_space\":6000,"
		"\"inuse_objects\":60,\"inuse_space\":6000},{"));
	assert_non_null(strstr(text, "\"size_from\":128,\"lifetime_from_s\":0.01,"));
	assert_non_null(strstr(text,
		"\"filter\":\"--leak=10%\",\"left_out\":{\"alloc_objects\":0,\"alloc_space\":0,"
		"\"inuse_objects\":0,\"inuse_space\":4711}"));
	free(text);
	ap_profile_free(profile);
}

/*
 * A site of 2 samples for 10 MiB in 320 blocks, one of them with four times the other's weight:
 * that is 2^2 + 8^2 square MiB less the part of the blocks that are sampled. Read back it is the
 * same; the page, which has the number of samples in its place, has of those of one weight as many
 * as make as much of it.
 */
static void the_variance_is_carried(void **state)
{
	struct ap_profile *profile = ap_profile_new(), *read = NULL;
	uint32_t location = sample_location(profile, -1, 1, "site", "s.c");
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	int64_t value[AP_VALUES] = {320, 10 << 20, 320, 10 << 20};
	double variance = 67.5 * 0x1p40, alike = 100 / (67.5 + 100 / 320.0);
	char number[32], reason[128] = "", *bytes = NULL, *text;
	struct ap_estimate sum = {0};
	size_t length;
	FILE *stream = open_memstream(&bytes, &length);

	labeled_add(profile, location, AP_LABELS_NONE, 320, 10 << 20, true, 2);
	ap_estimate_know(&profile->samples[0], value, variance);
	assert_int_equal(ap_format_pprof_write(stream, profile, &options), 0);
	fclose(stream);
	stream = fmemopen(bytes, length, "r");
	assert_int_equal(ap_format_pprof_read(stream, &read, reason, sizeof(reason)), 0);
	fclose(stream);
	assert_int_equal(read->samples[0].samples, 2);
	for (int v = 0; v < AP_VALUES; v++) {
		double share = v == AP_ALLOC_SPACE || v == AP_INUSE_SPACE ? 1 : 0x1p-15;

		assert_true(read->samples[0].variance[v] == variance * share * share);
	}
	/* Half of it is a quarter of that; of two that are added it is the sum. */
	ap_profile_scale(read, AP_INUSE_SPACE, 0.5);
	assert_int_equal(ap_profile_merge(read, profile, 1), 0);
	ap_estimate_add(&sum, read, &read->samples[0], AP_INUSE_SPACE);
	assert_float_equal(sum.variance / variance, 1.25, 1e-9);
	text = written(ap_format_html_write, profile, &options);
	snprintf(number, sizeof(number), "\"parts\":[1,1,%.4g,320,", alike);
	assert_non_null(strstr(text, number));
	free(text);
	free(bytes);
	ap_profile_free(read);
	ap_profile_free(profile);
}

static void pprof_brings_them_back(void **state)
{
	struct ap_profile *profile = labeled_profile(), *read = NULL;
	struct ap_format_options options = {.value = AP_INUSE_SPACE};
	char reason[128] = "";
	char *bytes = NULL;
	size_t length;
	FILE *stream = open_memstream(&bytes, &length);

	assert_int_equal(ap_profile_set(&profile->info.filter, "--leak=10% -X cache"), 0);
	profile->info.left_out[AP_INUSE_SPACE] = 4711;
	assert_int_equal(ap_format_pprof_write(stream, profile, &options), 0);
	fclose(stream);
	stream = fmemopen(bytes, length, "r");
	assert_int_equal(ap_format_pprof_read(stream, &read, reason, sizeof(reason)), 0);
	fclose(stream);
	assert_int_equal(read->sample_count, profile->sample_count);
	assert_int_equal(read->thread_count, 2);
	for (uint32_t i = 0; i < read->sample_count; i++) {
		const struct ap_sample *a = &read->samples[i], *b = &profile->samples[i];

		assert_true(ap_labels_equal(&a->labels, &b->labels));
		assert_memory_equal(a->value, b->value, sizeof(a->value));
		assert_int_equal(a->samples, b->samples);
	}
	assert_string_equal(read->threads[1].name, "se;cond");
	assert_int_equal(read->threads[1].tid, 22);
	assert_string_equal(read->info.filter, "--leak=10% -X cache");
	assert_int_equal(read->info.left_out[AP_INUSE_SPACE], 4711);
	/* The number of samples is no value to look at first. */
	assert_int_equal(read->default_value, AP_INUSE_SPACE);
	free(bytes);
	ap_profile_free(read);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_counted_once),
		cmocka_unit_test(table_has_threads_errors_and_blocks),
		cmocka_unit_test(difference_has_the_errors_of_both),
		cmocka_unit_test(growth_has_the_error_of_what_is_new),
		cmocka_unit_test(a_moment_is_itself),
		cmocka_unit_test(folded_begins_with_the_thread),
		cmocka_unit_test(page_has_the_parts_of_each_node),
		cmocka_unit_test(json_has_the_parts_of_each_stack),
		cmocka_unit_test(the_variance_is_carried),
		cmocka_unit_test(pprof_brings_them_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
