// SPDX-License-Identifier: MIT
/* The cache's folder stays within its limit, and what is in use stays longest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache_file.h"
#include "cache_limit.h"

#define FILES	   6
#define FILE_BYTES 8192

static const struct ap_cache_kind kind = {.magic = 0x746573740a, .version = 1};

struct fixture {
	char root[64], folder[80];
	int fd;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->root, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	setenv("XDG_CACHE_HOME", fixture->root, 1);
	snprintf(fixture->folder, sizeof(fixture->folder), "%s/allocprof", fixture->root);
	assert_int_equal(mkdir(fixture->folder, 0700), 0);
	fixture->fd = open(fixture->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->fd >= 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char command[96];

	close(fixture->fd);
	snprintf(command, sizeof(command), "rm -r %s", fixture->root);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* File i was last used i days after the first. */
static void files_make(struct fixture *fixture)
{
	for (int i = 0; i < FILES; i++) {
		struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 86400 * (i + 1)}};
		char name[16], bytes[FILE_BYTES - 64] = "";

		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(ap_cache_store(name, &kind, bytes, sizeof(bytes)), 0);
		assert_int_equal(utimensat(fixture->fd, name, times, 0), 0);
	}
}

/* Which files exist, a bit for each. */
static unsigned int files_present(const struct fixture *fixture)
{
	unsigned int present = 0;

	for (int i = 0; i < FILES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		present |= (faccessat(fixture->fd, name, F_OK, 0) == 0) << i;
	}
	return present;
}

static uint64_t file_bytes(const struct fixture *fixture)
{
	struct stat status;

	assert_int_equal(fstatat(fixture->fd, "0", &status, 0), 0);
	return (uint64_t)status.st_blocks * 512;
}

static void test_oldest_go(void **state)
{
	struct fixture *fixture = *state;
	uint64_t bytes;

	files_make(fixture);
	bytes = file_bytes(fixture);
	ap_cache_limit_keep(fixture->fd, FILES * bytes);
	assert_int_equal(files_present(fixture), 0x3f);
	ap_cache_limit_keep(fixture->fd, FILES * bytes - 1);
	assert_int_equal(files_present(fixture), 0x3e);
	ap_cache_limit_keep(fixture->fd, 2 * bytes);
	assert_int_equal(files_present(fixture), 0x30);
	ap_cache_limit_keep(fixture->fd, 0);
	assert_int_equal(files_present(fixture), 0);
}

static void test_used_stay(void **state)
{
	struct fixture *fixture = *state;
	void *content;
	size_t size;

	files_make(fixture);
	assert_int_equal(ap_cache_load("0", &kind, FILE_BYTES, &content, &size), 0);
	free(content);
	ap_cache_limit_keep(fixture->fd, file_bytes(fixture));
	assert_int_equal(files_present(fixture), 1);
}

static void test_other_kind(void **state)
{
	struct ap_cache_kind newer = kind;
	void *content = NULL;
	size_t size;

	assert_int_equal(ap_cache_store("name", &kind, "12345", 5), 0);
	newer.version++;
	assert_int_equal(ap_cache_load("name", &newer, 5, &content, &size), -ESTALE);
	assert_int_equal(ap_cache_load("name", &kind, 4, &content, &size), -EBADMSG);
	assert_int_equal(ap_cache_load("name", &kind, 5, &content, &size), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(content, "12345", 5);
	free(content);
}

#define WRITERS	  4
#define LOADS	  300
#define BYTES_MAX (1 << 20)

/* Stores without end, each time some bytes of the same value. */
static _Noreturn void writer_main(unsigned int seed)
{
	unsigned char *bytes = malloc(BYTES_MAX);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		size_t size = (size_t)rand_r(&seed) % BYTES_MAX;

		memset(bytes, (int)seed, size);
		ap_cache_store("name", &kind, bytes, size);
	}
}

/*
 * Several loaders store the same name and are killed meanwhile: what is loaded is always complete.
 */
static void test_many_writers(void **state)
{
	struct fixture *fixture = *state;
	pid_t writers[WRITERS];
	unsigned char *content;
	char command[128];
	size_t size;

	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		assert_true(writers[i] >= 0);
		if (!writers[i])
			writer_main((unsigned int)i);
	}
	for (int loads = 0; loads < LOADS;) {
		int err = ap_cache_load("name", &kind, BYTES_MAX, (void **)&content, &size);

		if (err) {
			/* Another writer is just replacing it. */
			assert_true(err == -ENOENT || err == -EPERM);
			continue;
		}
		assert_true(size < 2 || !memcmp(content, content + 1, size - 1));
		free(content);
		if (++loads % (LOADS / WRITERS) == 0)
			kill(writers[loads / (LOADS / WRITERS) - 1], SIGKILL);
	}
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(waitpid(writers[i], NULL, 0), writers[i]);
	snprintf(command, sizeof(command), "ls -A %s | grep -vx name", fixture->folder);
	assert_int_not_equal(system(command), 0);
}

/* The setting of a user who wants no cache. */
static void test_nowhere(void **state)
{
	void *content = NULL;
	size_t size;

	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	assert_int_equal(ap_cache_store("name", &kind, "12345", 5), -ENOENT);
	assert_int_equal(ap_cache_load("name", &kind, 5, &content, &size), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_oldest_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_used_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_kind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_writers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nowhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
