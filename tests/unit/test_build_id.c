// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

static void build_ids(void **state)
{
	char build_id[AP_BUILD_ID_SIZE], expected[128] = "", path[128];
	FILE *notes;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(ap_build_id_read(fd, build_id), 0);
	close(fd);
	snprintf(path, sizeof(path), "readelf -n /proc/%d/exe | sed -n 's/.*Build ID: //p'",
		getpid());
	notes = popen(path, "r");
	assert_non_null(notes);
	if (fgets(expected, sizeof(expected), notes))
		expected[strcspn(expected, "\n")] = '\0';
	pclose(notes);
	assert_string_equal(build_id, expected);

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ap_build_id_read(fd, build_id), 0);
	assert_string_equal(build_id, "");
	close(fd);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_true(ap_build_id_read(fd, build_id) < 0);
	assert_string_equal(build_id, "");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
