// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "units.h"

#define SECOND 1000000000ULL

static void test_size(void **state)
{
	static const struct {
		const char *text;
		uint64_t size;
	} good[] = {{"0", 0}, {"512", 512}, {"512K", 512 << 10}, {"512k", 512 << 10},
		{"64KiB", 64 << 10}, {"2M", 2 << 20}, {"3GB", 3ULL << 30}, {"1T", 1ULL << 40},
		{"7B", 7}, {"9223372036854775807", INT64_MAX}};
	static const char *const bad[] = {"", " 1", "-1", "+1", "1.5M", "K", "1X", "1KX", "0x10",
		"9223372036854775808", "18446744073709551616", "8388608T", "1 K"};
	uint64_t size;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(ap_size_parse(good[i].text, &size), 0);
		assert_int_equal(size, good[i].size);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ap_size_parse(bad[i], &size), -EINVAL);
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"5", 5 * SECOND}, {"5s", 5 * SECOND}, {"2m", 120 * SECOND},
		{"1h", 3600 * SECOND}, {"1d", 86400 * SECOND}, {"250ms", SECOND / 4}};
	static const char *const bad[] = {"", "s", "1w", "-5s", "5 s", "9999999999d"};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(ap_duration_parse(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ap_duration_parse(bad[i], &ns), -EINVAL);
}

static void test_count(void **state)
{
	uint64_t count;

	assert_int_equal(ap_count_parse("4127", &count), 0);
	assert_int_equal(count, 4127);
	assert_int_equal(ap_count_parse("1K", &count), -EINVAL);
	assert_int_equal(ap_count_parse("", &count), -EINVAL);
}

static void test_format(void **state)
{
	char text[AP_SIZE_TEXT];

	assert_string_equal(ap_size_format(text, 0), "0 B");
	assert_string_equal(ap_size_format(text, 1023), "1023 B");
	assert_string_equal(ap_size_format(text, 1024), "1.0 KiB");
	assert_string_equal(ap_size_format(text, 512 * 1024), "512.0 KiB");
	/* Not "1024.0 KiB". */
	assert_string_equal(ap_size_format(text, 1024 * 1024 - 1), "1.0 MiB");
	assert_string_equal(ap_size_format(text, 18446744073709551615.0), "16.0 EiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
