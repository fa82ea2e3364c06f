// SPDX-License-Identifier: MIT
/* The file of names that a runtime writes: what is in it, and what may lie in its place. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "jit.h"
#include "process_files.h"

/* A folder in place of the target's /tmp. */
struct fixture {
	struct ap_jit jit;
	char folder[64], file[96];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->file, sizeof(fixture->file), "%s/perf-4127.map", fixture->folder);
	fixture->jit = AP_JIT_NONE;
	fixture->jit.folder = open(fixture->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->jit.pid = 4127;
	fixture->jit.user = geteuid();
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ap_jit_clear(&fixture->jit);
	unlink(fixture->file);
	rmdir(fixture->folder);
	free(fixture);
	return 0;
}

static void text_write(const struct fixture *fixture, const char *text)
{
	FILE *file = fopen(fixture->file, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Expects this name at the address; NULL: none. */
static void expect(const struct ap_jit *jit, uint64_t address, const char *name)
{
	struct ap_jit_place place;

	if (!name) {
		assert_false(ap_jit_find(jit, address, &place));
		return;
	}
	assert_true(ap_jit_find(jit, address, &place));
	assert_string_equal(place.name, name);
	assert_string_equal(place.file, "");
}

static void test_names(void **state)
{
	struct fixture *fixture = *state;
	const struct ap_jit *jit = &fixture->jit;

	text_write(fixture, "7f001000 100 JS:*work /app/main.js:3:1\n"
			    "7f001100 80 second\n"
			    "nonsense\n"
			    "7f002000 0 nothing\n"
			    "ffffffffffffffff 10 beyond the end\n"
			    "7f003000 20 \n"
			    "7f001000 40 anew\n"
			    "7f004000 10 cut sho");
	assert_int_equal(ap_jit_read_map(&fixture->jit), 0);
	assert_int_equal((int)jit->map.count, 3);
	expect(jit, 0x7f001000, "anew");
	expect(jit, 0x7f001040, "JS:*work /app/main.js:3:1");
	expect(jit, 0x7f0010ff, "JS:*work /app/main.js:3:1");
	expect(jit, 0x7f00117f, "second");
	expect(jit, 0x7f001180, NULL);
	expect(jit, 0x7f000fff, NULL);
	expect(jit, 0x7f004000, NULL);
	/* Read again, it has the names written since. */
	text_write(fixture, "10 10 other\n");
	assert_int_equal(ap_jit_read_map(&fixture->jit), 0);
	expect(jit, 0x7f001000, NULL);
	expect(jit, 0x1f, "other");
}

static void test_no_file(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ap_jit_read_map(&fixture->jit), -ENOENT);
	expect(&fixture->jit, 0, NULL);
}

static void test_symbolic_link(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(symlink("/etc/passwd", fixture->file), 0);
	assert_int_equal(ap_jit_read_map(&fixture->jit), -EPERM);
}

/* Nobody writes to the pipe: waiting for a writer would never end. */
static void test_pipe(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(mkfifo(fixture->file, 0600), 0);
	assert_int_equal(ap_jit_read_map(&fixture->jit), -EPERM);
}

static void test_foreign_owner(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid())
		skip();
	text_write(fixture, "1000 10 name\n");
	assert_int_equal(chown(fixture->file, 12345, 12345), 0);
	assert_int_equal(ap_jit_read_map(&fixture->jit), -EPERM);
	fixture->jit.user = 12345;
	assert_int_equal(ap_jit_read_map(&fixture->jit), 0);
}

/* /proc shows such a process as root's. */
static void test_changed_user(void **state)
{
	struct ap_process_files files = {0};
	struct ap_jit jit = AP_JIT_NONE;
	int ready[2];
	pid_t child;
	char byte;

	if (geteuid())
		skip();
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		if (setresuid(12345, 12345, 12345) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(ap_process_files_open(&files, child), 0);
	assert_int_equal(ap_jit_open(&jit, &files, child), 0);
	ap_process_files_close(&files);
	assert_int_equal(jit.user, 12345);
	assert_int_equal(jit.pid, child);
	ap_jit_clear(&jit);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_too_large(void **state)
{
	struct fixture *fixture = *state;

	text_write(fixture, "1000 10 name\n");
	assert_int_equal(truncate(fixture->file, 1LL << 40), 0);
	assert_int_equal(ap_jit_read_map(&fixture->jit), 0);
	expect(&fixture->jit, 0x1000, "name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symbolic_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_owner, setup, teardown),
		cmocka_unit_test(test_changed_user),
		cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
