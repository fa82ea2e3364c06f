// SPDX-License-Identifier: MIT
/* Opening files by names that somebody else has chosen. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "regular_file.h"

struct fixture {
	char folder[64];
	int root;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	fixture->root = open(fixture->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(fixture->root, "inside", 0700), 0);
	close(openat(fixture->root, "inside/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[96];

	close(fixture->root);
	snprintf(command, sizeof(command), "rm -r %s", fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static int open_below(const struct fixture *fixture, const char *path, bool follow)
{
	struct stat status;
	int fd = ap_regular_open(fixture->root, path, follow, &status);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* An absolute path begins at the root that was given, and nothing leads out of it. */
static void paths_below_a_root(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(open_below(fixture, "/inside/file", true), 0);
	assert_int_equal(open_below(fixture, "/../../inside/file", true), 0);
	assert_int_equal(open_below(fixture, "/../../../etc/passwd", true), -ENOENT);
	assert_int_equal(symlinkat("/etc/passwd", fixture->root, "out"), 0);
	assert_int_equal(open_below(fixture, "/out", true), -ENOENT);
	assert_int_equal(symlinkat("/inside/file", fixture->root, "in"), 0);
	assert_int_equal(open_below(fixture, "/in", true), 0);
	assert_int_equal(open_below(fixture, "/in", false), -EPERM);
}

/* Nobody writes to the pipe: waiting for a writer would never end. */
static void what_is_no_file(void **state)
{
	const struct fixture *fixture = *state;
	struct stat status;

	assert_int_equal(mkfifoat(fixture->root, "pipe", 0600), 0);
	assert_int_equal(open_below(fixture, "/pipe", true), -EPERM);
	assert_int_equal(open_below(fixture, "/inside", true), -EPERM);
	assert_int_equal(ap_regular_open(AP_ROOT_OURS, "/dev/null", true, &status), -EPERM);
	assert_int_equal(ap_regular_open(AP_ROOT_OURS, "/nowhere", true, &status), -ENOENT);
}

static void our_own_root(void **state)
{
	struct stat status;
	int fd = ap_regular_open(AP_ROOT_OURS, "/proc/self/exe", true, &status);

	assert_true(fd >= 0);
	assert_true(status.st_size > 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(paths_below_a_root, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_file, setup, teardown),
		cmocka_unit_test(our_own_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
