// SPDX-License-Identifier: MIT
/* An output appears whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "output.h"

static char folder[] = "/tmp/test_output.XXXXXX";
static char path[64];

static int write_text(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	return fputs("the text", out) < 0 ? -EIO : 0;
}

static int write_half(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	fputs("half of", out);
	return -ENOSPC;
}

static const struct ap_format whole = {.name = "whole", .write = write_text};
static const struct ap_format half = {.name = "half", .write = write_half};

static unsigned int files_count(void)
{
	DIR *entries = opendir(folder);
	unsigned int count = 0;

	assert_non_null(entries);
	while (readdir(entries))
		count++;
	closedir(entries);
	return count - 2;
}

static void content_is(const char *expected)
{
	char text[64] = "";
	FILE *in = fopen(path, "re");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_string_equal(text, expected);
}

static void test_write(void **state)
{
	struct stat status;
	mode_t mask = umask(027);

	assert_int_equal(ap_output_write(path, &whole, NULL, NULL), 0);
	umask(mask);
	content_is("the text");
	assert_int_equal(files_count(), 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	/* Replaces a file that exists. */
	assert_int_equal(ap_output_write(path, &whole, NULL, NULL), 0);
	content_is("the text");
	assert_int_equal(files_count(), 1);
}

static void test_failed_write(void **state)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs("from before", out);
	fclose(out);
	assert_int_equal(ap_output_write(path, &half, NULL, NULL), -ENOSPC);
	content_is("from before");
	assert_int_equal(files_count(), 1);
}

static void test_special(void **state)
{
	struct stat status;

	/* Written to, not replaced by a file. */
	assert_int_equal(ap_output_write("/dev/null", &whole, NULL, NULL), 0);
	assert_int_equal(ap_output_write("/dev/full", &whole, NULL, NULL), -ENOSPC);
	assert_int_equal(stat("/dev/full", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void test_check(void **state)
{
	char name[128];

	assert_int_equal(ap_output_check("-"), 0);
	assert_int_equal(ap_output_check(path), 0);
	assert_int_equal(ap_output_check("/dev/null"), 0);
	assert_int_equal(ap_output_check(folder), -EISDIR);
	assert_int_equal(ap_output_check(""), -EISDIR);
	snprintf(name, sizeof(name), "%s/none/file", folder);
	assert_int_equal(ap_output_check(name), -ENOENT);
	assert_int_equal(ap_output_write(name, &whole, NULL, NULL), -ENOENT);
}

static int setup(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_failed_write),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
