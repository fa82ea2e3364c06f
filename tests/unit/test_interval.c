// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interval.h"

static void intervals(void **state)
{
	struct ap_intervals set = {0};
	uint32_t found;

	assert_int_equal(ap_intervals_find(&set, 5), AP_INTERVAL_NONE);
	assert_int_equal(ap_intervals_add(&set, 20, 40, 1, 2), 0);
	assert_int_equal(ap_intervals_add(&set, 10, 100, 0, 1), 0);
	assert_int_equal(ap_intervals_add(&set, 20, 40, 2, 3), 0);
	assert_int_equal(ap_intervals_add(&set, 60, 70, 1, 4), 0);
	assert_int_equal(ap_intervals_add(&set, 65, 65, 1, 5), 0);
	ap_intervals_sort(&set);
	assert_int_equal(set.count, 4);
	assert_int_equal(ap_intervals_find(&set, 9), AP_INTERVAL_NONE);
	assert_int_equal(ap_intervals_find(&set, 100), AP_INTERVAL_NONE);
	found = ap_intervals_find(&set, 39);
	assert_int_equal(set.items[found].value, 3);
	assert_int_equal(set.items[set.items[found].outer].value, 2);
	assert_int_equal(set.items[ap_intervals_find(&set, 40)].value, 1);
	assert_int_equal(set.items[ap_intervals_find(&set, 65)].value, 4);
	assert_int_equal(set.items[ap_intervals_find(&set, 99)].value, 1);
	ap_intervals_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
