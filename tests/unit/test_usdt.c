// SPDX-License-Identifier: MIT
/* The notes of this very program, which has the probes, and damaged ones. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <allocprof/probe.h>

#include "usdt.h"

AP_SEMAPHORE volatile uint16_t alloc_semaphore = 0x1234;
AP_SEMAPHORE volatile uint16_t free_semaphore = 0x5678;

uint64_t allocprof_sample_period = 0x1122334455667788;
uint32_t allocprof_guard = 0x11223344;

static __attribute__((noinline, used)) void fire(uint64_t pointer, uint64_t size, uint64_t weight)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;
	register uint64_t arg1 __asm__(AP_ARG1) = size;
	register uint64_t arg2 __asm__(AP_ARG2) = weight;

	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore",
		AP_ARGS3) AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
				 AP_SITE("another", AP_PROBE_FREE, "free_semaphore", "4@whatever")
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2));
}

static void test_self(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct ap_usdt usdt;
	uint16_t semaphore;
	uint8_t instruction;

	assert_true(fd >= 0);
	assert_int_equal(ap_usdt_read(fd, &usdt), 0);
	assert_int_equal(usdt.count, 2);
	for (size_t i = 0; i < usdt.count; i++) {
		int is_alloc = usdt.site[i].kind == AP_USDT_ALLOC;

		assert_int_equal(pread(fd, &instruction, 1, usdt.site[i].offset), 1);
		assert_int_equal(instruction, 0x90);
		assert_int_equal(pread(fd, &semaphore, 2, usdt.site[i].semaphore), 2);
		assert_int_equal(semaphore, is_alloc ? 0x1234 : 0x5678);
	}
	assert_int_not_equal(usdt.site[0].kind, usdt.site[1].kind);
	/* Addresses in the file and in memory differ by where the file is mapped: one page-aligned
	 * distance for code and data. */
	assert_int_equal((uintptr_t)&allocprof_sample_period - usdt.period,
		((uintptr_t)fire & ~4095UL) -
			((usdt.site[0].offset & ~4095UL) - usdt.text_offset + usdt.text_address));
	assert_int_equal((uintptr_t)&allocprof_guard - usdt.guard,
		(uintptr_t)&allocprof_sample_period - usdt.period);
	close(fd);
}

static void test_note(void **state)
{
	static const char good[] = "\1\0\0\0\0\0\0\0"
				   "\2\0\0\0\0\0\0\0"
				   "\3\0\0\0\0\0\0\0"
				   "provider\0name\0args";
	struct ap_usdt_note note;

	assert_int_equal(ap_usdt_note_parse(good, sizeof(good), &note), 0);
	assert_int_equal(note.address, 1);
	assert_int_equal(note.base, 2);
	assert_int_equal(note.semaphore, 3);
	assert_string_equal(note.provider, "provider");
	assert_string_equal(note.name, "name");
	assert_string_equal(note.arguments, "args");
	/* Cut anywhere, in a buffer that ends there, for the sanitizers to see. */
	for (size_t length = 0; length < sizeof(good); length++) {
		char *cut = malloc(length ? length : 1);

		assert_non_null(cut);
		memcpy(cut, good, length);
		assert_int_equal(ap_usdt_note_parse(cut, length, &note), -EBADMSG);
		free(cut);
	}
}

static int memory_file(const void *bytes, size_t length)
{
	int fd = memfd_create("test_usdt", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	return fd;
}

static void test_no_elf(void **state)
{
	struct ap_usdt usdt;
	int fd = memory_file("#!/bin/sh\n", 10);

	assert_int_equal(ap_usdt_read(fd, &usdt), -ENOENT);
	close(fd);
	fd = memory_file("", 0);
	assert_int_equal(ap_usdt_read(fd, &usdt), -ENOENT);
	close(fd);
}

/* This program cut at many places, and with bytes of it changed: any answer, but an answer. */
static void test_damaged(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct ap_usdt usdt;
	struct stat status;
	uint8_t *bytes;

	assert_true(self >= 0);
	assert_int_equal(fstat(self, &status), 0);
	bytes = malloc(status.st_size);
	assert_non_null(bytes);
	assert_int_equal(read(self, bytes, status.st_size), status.st_size);
	close(self);
	for (int i = 1; i < 40; i++) {
		int fd = memory_file(bytes, status.st_size * i / 40);

		assert_int_not_equal(ap_usdt_read(fd, &usdt), 0);
		close(fd);
	}
	srand(1);
	for (int i = 0; i < 200; i++) {
		/* The ELF header and program headers, and the section headers at the end. */
		long at = i % 2 ? rand() % 1024 : status.st_size - 1 - rand() % 2560;
		uint8_t before = bytes[at];
		int fd;

		bytes[at] = rand();
		fd = memory_file(bytes, status.st_size);
		if (!ap_usdt_read(fd, &usdt))
			assert_true(usdt.count && usdt.count <= AP_USDT_SITES);
		close(fd);
		bytes[at] = before;
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_note),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
