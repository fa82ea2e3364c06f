// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "labels.h"
#include "pprof_label.h"

static void every_number_is_in_the_class_of_its_floor(void **state)
{
	for (int class = 0; class < 63; class ++) {
		uint64_t floor = (uint64_t)ap_size_class_floor(class);

		assert_int_equal(ap_size_class(floor), class);
		assert_int_equal(ap_size_class(2 * floor - 1), class);
	}
	assert_int_equal(ap_size_class(0), 0);
	assert_int_equal(ap_size_class(UINT64_MAX), 63);
	assert_int_equal(ap_lifetime_class(UINT64_MAX), AP_LIFETIMES - 1);
	for (int class = 0; class < AP_LIFETIMES; class ++) {
		uint64_t floor = (uint64_t)ap_lifetime_floor(class);

		assert_int_equal(ap_lifetime_class(floor), class);
		if (class)
			assert_int_equal(ap_lifetime_class(floor - 1), class - 1);
	}
	assert_int_equal(ap_lifetime_floor(AP_LIFETIMES - 1), 1000 * INT64_C(1000000000));
}

static void ages_are_tenths(void **state)
{
	assert_int_equal(ap_age_class(0, 1000), 0);
	assert_int_equal(ap_age_class(99, 1000), 0);
	assert_int_equal(ap_age_class(100, 1000), 1);
	assert_int_equal(ap_age_class(1000, 1000), AP_AGES - 1);
	/* Older than the recording: the clock was read before. */
	assert_int_equal(ap_age_class(5000, 1000), AP_AGES - 1);
	assert_int_equal(ap_age_class(5, 0), 0);
}

static void labels_of_pprof_come_back(void **state)
{
	struct ap_profile *profile = ap_profile_new();
	struct ap_labels labels = {.size = 0, .lifetime = 0, .age = -1};
	struct ap_pprof_label written[AP_PPROF_LABELS];
	struct ap_pprof_labels read;
	unsigned int count;

	labels.thread = ap_profile_add_thread(profile, "worker", 4127);
	for (int class = 0; class < AP_LIFETIMES; class ++) {
		labels.size = (int8_t)(class * 7);
		labels.lifetime = (int8_t) class;
		count = ap_pprof_labels_put(profile, &labels, written);
		assert_int_equal(count, 4);
		read = (struct ap_pprof_labels){.labels = AP_LABELS_NONE};
		for (unsigned int i = 0; i < count; i++)
			ap_pprof_label_take(&read, &written[i]);
		assert_int_equal(ap_pprof_labels_finish(&read, profile), 0);
		assert_true(ap_labels_equal(&read.labels, &labels));
	}
	for (int class = 0; class < AP_AGES; class ++) {
		labels = (struct ap_labels){
			.thread = -1, .size = -1, .lifetime = -1, .age = (int8_t) class};
		assert_int_equal(ap_pprof_labels_put(profile, &labels, written), 1);
		read = (struct ap_pprof_labels){.labels = AP_LABELS_NONE};
		ap_pprof_label_take(&read, written);
		assert_true(ap_labels_equal(&read.labels, &labels));
	}
	ap_profile_free(profile);
}

/* A file may say anything. */
static void strange_labels_are_ignored(void **state)
{
	static const struct ap_pprof_label strange[] = {
		{"bytes", NULL, -48, "bytes"},
		{"bytes", "many", 0, ""},
		{"lifetime", NULL, 5, "fortnights"},
		{"age", NULL, INT64_MIN, "percent"},
		{"age", NULL, 10, "years"},
		{"color", "blue", 0, ""},
	};
	struct ap_profile *profile = ap_profile_new();
	struct ap_pprof_labels read = {.labels = AP_LABELS_NONE};

	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
		ap_pprof_label_take(&read, &strange[i]);
	assert_int_equal(ap_pprof_labels_finish(&read, profile), 0);
	assert_true(ap_labels_equal(&read.labels, &AP_LABELS_NONE));
	/* As Go has it. */
	ap_pprof_label_take(&read, &(struct ap_pprof_label){"bytes", NULL, 48, "bytes"});
	assert_int_equal(read.labels.size, 5);
	ap_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_in_the_class_of_its_floor),
		cmocka_unit_test(ages_are_tenths),
		cmocka_unit_test(labels_of_pprof_come_back),
		cmocka_unit_test(strange_labels_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
