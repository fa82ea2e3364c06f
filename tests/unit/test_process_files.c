// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "process_files.h"

static void check_memory(const struct ap_process_files *files)
{
	volatile uint64_t here = 1234567;
	uint64_t got = 0, put = 7654321;
	uint64_t address = (uintptr_t)&here;

	assert_int_equal(ap_process_files_read(files, address, &got, sizeof(got)), sizeof(got));
	assert_int_equal(got, 1234567);
	assert_int_equal(ap_process_files_write(files, address, &put, sizeof(put)), sizeof(put));
	assert_int_equal(here, 7654321);
	/* Nothing is ever mapped at the bottom. */
	assert_true(ap_process_files_read(files, 16, &got, sizeof(got)) < 0);
}

static void test_memory(void **state)
{
	struct ap_process_files files = {0}, other;

	assert_int_equal(ap_process_files_read(&files, 0, NULL, 0), -EBADF);
	assert_int_equal(ap_process_files_open(&files, getpid()), 0);
	assert_true(files.memory >= 0);
	check_memory(&files);
	assert_int_equal(ap_process_files_memory_dup(&files, &other), 0);
	ap_process_files_close(&files);
	check_memory(&other);
	/* As when only the owner may open the memory file. */
	close(other.memory);
	other.memory = -1;
	check_memory(&other);
	ap_process_files_close(&other);
	assert_false(other.opened);
}

/* The file is read from its start each time. */
static void test_maps(void **state)
{
	struct ap_process_files files = {0};
	char line[512];

	assert_int_equal(ap_process_files_open(&files, getpid()), 0);
	for (int i = 0; i < 2; i++) {
		FILE *maps = ap_process_files_maps(&files);
		unsigned int programs = 0;

		assert_non_null(maps);
		while (fgets(line, sizeof(line), maps))
			programs += strstr(line, "test_process_files") != NULL;
		fclose(maps);
		assert_true(programs > 0);
	}
	ap_process_files_close(&files);
}

static void test_paths(void **state)
{
	struct ap_process_files files = {0};
	struct stat status;
	int fd;

	assert_int_equal(ap_process_files_path(&files, "/"), -EBADF);
	assert_int_equal(ap_process_files_open(&files, getpid()), 0);
	/* ".." does not lead above the root. */
	fd = ap_process_files_path(&files, "/../../proc/self");
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(S_ISDIR(status.st_mode));
	close(fd);
	assert_int_equal(ap_process_files_path(&files, "/nonexistent"), -ENOENT);
	ap_process_files_close(&files);
}

static void test_no_process(void **state)
{
	struct ap_process_files files = {0};

	assert_int_equal(ap_process_files_open(&files, INT32_MAX), -ENOENT);
	assert_false(files.opened);
	ap_process_files_close(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
