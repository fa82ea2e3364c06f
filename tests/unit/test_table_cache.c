// SPDX-License-Identifier: MIT
/* The cache of unwind tables: what it returns, and what it must refuse. */
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

#include "build_id.h"
#include "elf_file.h"
#include "table_cache.h"

struct fixture {
	char root[64], folder[96], cached[192];
	struct ap_object object;
	struct ap_elf_file file;
	struct ap_cfi_section sections[AP_CFI_SECTIONS];
	struct ap_cfi cfi;
};

/* The table of libc, and an empty cache. */
static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint64_t base, size;

	strcpy(fixture->root, "/tmp/allocprof-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	setenv("XDG_CACHE_HOME", fixture->root, 1);
	snprintf(fixture->folder, sizeof(fixture->folder), "%s/allocprof", fixture->root);
	fixture->object.fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
	assert_true(fixture->object.fd >= 0);
	assert_int_equal(ap_build_id_read(fixture->object.fd, fixture->object.build_id), 0);
	snprintf(fixture->cached, sizeof(fixture->cached), "%s/%s.unwind", fixture->folder,
		fixture->object.build_id);
	assert_int_equal(ap_elf_file_open(&fixture->file, fixture->object.fd), 0);
	assert_int_equal(ap_cfi_extent(&fixture->file, &base, &size), 0);
	assert_int_equal(ap_cfi_sections_find(fixture->sections, &fixture->file), 1);
	assert_int_equal(ap_cfi_compile(&fixture->cfi, fixture->sections, 1, base, size), 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->cached);
	if (unlink(fixture->folder))
		rmdir(fixture->folder);
	rmdir(fixture->root);
	ap_cfi_clear(&fixture->cfi);
	ap_elf_file_close(&fixture->file);
	close(fixture->object.fd);
	free(fixture);
	return 0;
}

static int store(struct fixture *fixture)
{
	return ap_table_cache_store(&fixture->cfi, &fixture->object, fixture->sections, 1);
}

static int load(struct fixture *fixture, struct ap_cfi *ret)
{
	return ap_table_cache_load(
		ret, &fixture->object, fixture->sections, 1, fixture->cfi.base, fixture->cfi.size);
}

static void not_loaded(struct fixture *fixture)
{
	struct ap_cfi cfi;

	assert_true(load(fixture, &cfi) < 0);
	assert_null(cfi.rows);
}

static void test_same(void **state)
{
	struct fixture *fixture = *state;
	struct ap_cfi cfi;

	not_loaded(fixture);
	assert_int_equal(store(fixture), 0);
	assert_int_equal(load(fixture, &cfi), 0);
	assert_int_equal(cfi.row_count, fixture->cfi.row_count);
	assert_int_equal(cfi.rule_count, fixture->cfi.rule_count);
	assert_memory_equal(cfi.rows, fixture->cfi.rows, cfi.row_count * sizeof(*cfi.rows));
	assert_memory_equal(cfi.rules, fixture->cfi.rules, cfi.rule_count * sizeof(*cfi.rules));
	assert_int_equal(cfi.unsupported, fixture->cfi.unsupported);
	ap_cfi_clear(&cfi);
	/* Stored again, over what is there. */
	assert_int_equal(store(fixture), 0);
	assert_int_equal(load(fixture, &cfi), 0);
	ap_cfi_clear(&cfi);
}

/* A bit changed somewhere, at the start, the end, and in between; and cut short. */
static void test_damaged(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	struct ap_cfi cfi;
	int fd;

	assert_int_equal(store(fixture), 0);
	assert_int_equal(stat(fixture->cached, &status), 0);
	fd = open(fixture->cached, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < status.st_size; at += status.st_size / 61) {
		unsigned char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		not_loaded(fixture);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(load(fixture, &cfi), 0);
	ap_cfi_clear(&cfi);
	assert_int_equal(ftruncate(fd, status.st_size - 1), 0);
	not_loaded(fixture);
	assert_int_equal(ftruncate(fd, 5), 0);
	not_loaded(fixture);
	close(fd);
	/* It is stored again. */
	assert_int_equal(store(fixture), 0);
	assert_int_equal(load(fixture, &cfi), 0);
	ap_cfi_clear(&cfi);
}

/* Another file that claims the same build id. */
static void test_stale(void **state)
{
	struct fixture *fixture = *state;
	uint8_t *bytes;

	assert_int_equal(store(fixture), 0);
	bytes = fixture->sections[0].bytes;
	bytes[fixture->sections[0].size / 2] ^= 1;
	not_loaded(fixture);
}

static void test_writable_by_others(void **state)
{
	struct fixture *fixture = *state;
	struct ap_cfi cfi;

	assert_int_equal(store(fixture), 0);
	assert_int_equal(chmod(fixture->cached, 0666), 0);
	not_loaded(fixture);
	assert_int_equal(chmod(fixture->cached, 0600), 0);
	assert_int_equal(chmod(fixture->folder, 0777), 0);
	not_loaded(fixture);
	assert_true(store(fixture) < 0);
	assert_int_equal(chmod(fixture->folder, 0700), 0);
	assert_int_equal(load(fixture, &cfi), 0);
	ap_cfi_clear(&cfi);
	/* A hard link, by which another user may keep the file. */
	{
		char other[256];

		snprintf(other, sizeof(other), "%s.link", fixture->cached);
		assert_int_equal(link(fixture->cached, other), 0);
		not_loaded(fixture);
		unlink(other);
	}
}

static void test_foreign_owner(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid())
		skip();
	assert_int_equal(store(fixture), 0);
	assert_int_equal(chown(fixture->cached, 12345, 12345), 0);
	not_loaded(fixture);
	assert_int_equal(chown(fixture->root, 12345, 12345), 0);
	assert_true(store(fixture) < 0);
	assert_int_equal(chown(fixture->root, 0, 0), 0);
}

/* Where the cache or a file of it should be is a way to somewhere else. */
static void test_symbolic_links(void **state)
{
	struct fixture *fixture = *state;
	char other[128];

	assert_int_equal(store(fixture), 0);
	snprintf(other, sizeof(other), "%s/elsewhere", fixture->root);
	assert_int_equal(rename(fixture->cached, other), 0);
	assert_int_equal(symlink(other, fixture->cached), 0);
	not_loaded(fixture);
	unlink(fixture->cached);
	unlink(other);
	assert_int_equal(rename(fixture->folder, other), 0);
	assert_int_equal(symlink(other, fixture->folder), 0);
	assert_true(store(fixture) < 0);
	rmdir(other);
}

/* Who could write the file could claim another's build id. */
static void test_untrusted_object(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/allocprof-test-XXXXXX";
	int libc = fixture->object.fd;

	fixture->object.fd = mkstemp(path);
	assert_int_equal(fchmod(fixture->object.fd, 0666), 0);
	assert_true(store(fixture) < 0);
	assert_int_equal(fchmod(fixture->object.fd, 0644), 0);
	if (!geteuid()) {
		assert_int_equal(fchown(fixture->object.fd, 12345, 12345), 0);
		assert_true(store(fixture) < 0);
	}
	close(fixture->object.fd);
	unlink(path);
	fixture->object.fd = libc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(test_writable_by_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symbolic_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_untrusted_object, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
