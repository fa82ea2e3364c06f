// SPDX-License-Identifier: MIT
/*
 * Little memory to be had: limits of the address space and of data, set before the process starts
 * and later; and sandboxes that forbid system calls. NULL and ENOMEM, never a crash.
 */
#include "common.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define MIB   ((size_t)1 << 20)
#define SLOTS 400000

static _Noreturn void damaged(const char *what, size_t size)
{
	dprintf(STDERR_FILENO, "%s, size %zu, errno %d\n", what, size, errno);
	_exit(1);
}

static size_t *slots[SLOTS];

/* Allocates blocks of a size until there are no more, or `most` bytes; returns how many bytes. */
static size_t fill(size_t size, size_t most, bool limited)
{
	size_t count = 0;

	for (; count < SLOTS && count * size < most; count++) {
		errno = 0;
		slots[count] = malloc(size);
		if (!slots[count]) {
			if (errno != ENOMEM)
				damaged("NULL without ENOMEM", size);
			break;
		}
		slots[count][0] = count;
		slots[count][size / sizeof(size_t) - 1] = ~count;
	}
	/* At the limit: nothing that can fail does harm. */
	for (size_t i = 0; limited && i < count; i += count / 7 + 1) {
		size_t *grown;

		errno = 0;
		grown = realloc(slots[i], 2 * most + (64 << 20));
		if (grown)
			damaged("more than there is", size);
		if (errno != ENOMEM)
			damaged("realloc: NULL without ENOMEM", size);
	}
	for (size_t i = 0; i < count; i++) {
		if (slots[i][0] != i || slots[i][size / sizeof(size_t) - 1] != ~i)
			damaged("block is damaged", size);
		free(slots[i]);
	}
	return count * size;
}

/* With what the limit leaves: prints the least that any block size got. */
static int limited_main(size_t limit)
{
	static const size_t sizes[] = {
		64, 1000, 20000, 100000, 3 * MIB, 64, 70 * MIB, 3 * MIB, 1000};
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t got = fill(sizes[i], limit, true);

		/* 400,000 blocks of 64 bytes are fewer than some limits. */
		if (sizes[i] > 64 && sizes[i] * 8 < limit && got < least)
			least = got;
	}
	dprintf(STDERR_FILENO, "%zu\n", least);
	return 0;
}

struct limit {
	int resource;
	size_t bytes;
};

static void limited_exec(void *argument)
{
	const struct limit *limit = argument;
	struct rlimit value = {limit->bytes, limit->bytes};
	char text[32];

	snprintf(text, sizeof(text), "%zu", limit->bytes);
	if (setrlimit(limit->resource, &value))
		_exit(126);
	execl("/proc/self/exe", "test_limits", text, NULL);
	_exit(127);
}

/*
 * What one size has used is there for the next: `most` bytes of each in turn, every page of which
 * is touched, in a process that may have little more resident.
 */
static int turns_main(size_t most)
{
	static const size_t sizes[] = {256, 4000, 1000, 3000, 500, 2000, 256};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (fill(sizes[i], most, false) < most / 2)
			damaged("not enough", sizes[i]);
	return 0;
}

/* `overhead`: what the process itself may need of the limit; the rest must be usable. */
static void check_limit(int resource, size_t bytes, size_t overhead)
{
	struct limit limit = {resource, bytes};
	struct ending ending = child_run(limited_exec, &limit, 60);
	size_t least = 0;

	if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 127 &&
		!strncmp(ending.stderr_, "test_limits: error while loading", 32))
		return; /* the dynamic linker had not enough: no word of ours yet */
	/* Killed at exec, when the kernel cannot even set up the new image. */
	if (WIFSIGNALED(ending.status) && bytes < 12 * MIB && ending.length == 0)
		return;
	if (ending.hung || ending.status)
		fail_msg("limit %d of %zu: %s status %x: %s", resource, bytes,
			ending.hung ? "hangs," : "", ending.status, ending.stderr_);
	assert_int_equal(sscanf(ending.stderr_, "%zu", &least), 1);
	if (bytes > overhead && least < (bytes - overhead) / 2)
		fail_msg("limit %d of %zu: only %zu bytes to be had", resource, bytes, least);
}

static const size_t limits[] = {4 * MIB, 8 * MIB, 12 * MIB, 16 * MIB, 20 * MIB, 24 * MIB, 32 * MIB,
	48 * MIB, 64 * MIB, 100 * MIB, 200 * MIB, 500 * MIB};

/*
 * The address space: 3 MiB of libraries, 8 MiB of stack and the allocator's table, which takes 8
 * MiB and 1/128 of the limit.
 */
static void test_address_space(void **state)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		check_limit(RLIMIT_AS, limits[i], 24 * MIB);
}

/* Data counts what is private and writable; not the stack, nor what is only reserved. */
static void test_data(void **state)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		check_limit(RLIMIT_DATA, limits[i], 8 * MIB);
}

/*
 * The limit is lowered while the process runs, to 40 MiB more than it has: of which it may not have
 * used all, as the allocator maps 16 MiB with the first block.
 */
#define LOWERED_LEAST (20 * MIB)
#define LOWERED_MOST  (40 * MIB + 17 * MIB)
static void lower_body(void *argument)
{
	int resource = *(int *)argument;
	struct rlimit value;
	size_t got;
	unsigned long pages = 0, used = 0, ignored;
	FILE *file;

	free(malloc(100));
	file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%lu %lu %lu %lu %lu %lu", &pages, &ignored, &ignored, &ignored,
			     &ignored, &used) != 6)
		_exit(2);
	fclose(file);
	value.rlim_cur = value.rlim_max = (resource == RLIMIT_AS ? pages : used) * 4096 + 40 * MIB;
	if (setrlimit(resource, &value))
		_exit(3);
	got = fill(20000, 200 * MIB, true);
	if (got < LOWERED_LEAST || got > LOWERED_MOST)
		damaged("got out of 40 MiB", got);
	got = fill(500, 200 * MIB, true);
	if (got < LOWERED_LEAST || got > LOWERED_MOST)
		damaged("got out of 40 MiB", got);
	got = fill(3 * MIB, 200 * MIB, true);
	if (got < LOWERED_LEAST || got > LOWERED_MOST)
		damaged("got out of 40 MiB", got);
}

static void test_lowered(void **state)
{
	int resources[] = {RLIMIT_AS, RLIMIT_DATA};

	for (int i = 0; i < 2; i++) {
		struct ending ending = child_run(lower_body, &resources[i], 60);

		if (ending.hung || ending.status)
			fail_msg("resource %d: status %x: %s", resources[i], ending.status,
				ending.stderr_);
	}
}

/* Sandboxes: a system call that fails with EPERM from now on. */
static void forbid(int number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* Whatever the allocator calls but mmap(), and mprotect(), which makes memory usable. */
static const int forbidden[] = {SYS_madvise, SYS_mremap, SYS_munmap, SYS_getrandom, SYS_sysinfo,
	SYS_prlimit64, SYS_clock_gettime, SYS_membarrier};

#define FORBIDDEN (sizeof(forbidden) / sizeof(*forbidden))

/* One of them, or all: FORBIDDEN. */
static void forbid_by(size_t which)
{
	for (size_t i = 0; i < FORBIDDEN; i++)
		if (which == FORBIDDEN || which == i)
			forbid(forbidden[i]);
}

static void sandboxed(void *argument)
{
	forbid_by(*(size_t *)argument);
	for (int round = 0; round < 3; round++) {
		static const size_t sizes[] = {64, 1000, 20000, 100000, 3 * MIB, 70 * MIB};

		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			unsigned char *zero = calloc(1, sizes[i]);

			for (size_t k = 0; k < sizes[i]; k += 61)
				if (!zero || zero[k])
					damaged("calloc", sizes[i]);
			memset(zero, 0xa5, sizes[i]);
			zero = realloc(zero, sizes[i] * 2);
			if (!zero || zero[sizes[i] - 1] != 0xa5)
				damaged("realloc", sizes[i]);
			free(zero);
			fill(sizes[i], 8 * MIB, false);
			errno = 12345;
			malloc_trim(0);
			free(malloc(sizes[i]));
			if (errno != 12345)
				damaged("errno", sizes[i]);
		}
	}
}

static void sandboxed_exec(void *argument)
{
	forbid_by(*(size_t *)argument);
	execl("/proc/self/exe", "test_limits", "start", NULL);
	_exit(127);
}

static void test_sandbox(void **state)
{
	for (size_t which = 0; which <= FORBIDDEN; which++) {
		struct ending ending = child_run(sandboxed, &which, 60);

		if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
			skip();
		if (ending.hung || ending.status)
			fail_msg("without system call %zu: status %x: %s", which, ending.status,
				ending.stderr_);
		ending = child_run(sandboxed_exec, &which, 60);
		if (ending.hung || ending.status)
			fail_msg("start without system call %zu: status %x: %s", which,
				ending.status, ending.stderr_);
	}
}

/* Memory that is there is served, and then there is no more; nothing crashes. */
static void unprotected(void *argument)
{
	void *blocks[64];

	for (int i = 0; i < 64; i++) {
		blocks[i] = malloc(100);
		if (!blocks[i])
			damaged("malloc from what there is", 100);
	}
	counts_keep(); /* later there is no memory for it */
	forbid(SYS_mprotect);
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
	for (size_t size = 16; size < 100 * MIB; size = size * 3 / 2) {
		errno = 0;
		blocks[0] = malloc(size);
		if (!blocks[0] && errno != ENOMEM)
			damaged("NULL without ENOMEM", size);
		free(blocks[0]);
	}
}

static void test_sandbox_mprotect(void **state)
{
	struct ending ending = child_run(unprotected, NULL, 60);

	if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
		skip();
	if (ending.hung || ending.status)
		fail_msg("status %x: %s", ending.status, ending.stderr_);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_space),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_lowered),
		cmocka_unit_test(test_sandbox),
		cmocka_unit_test(test_sandbox_mprotect),
	};

	if (argc > 1 && !strcmp(argv[1], "start"))
		return free(calloc(1, 100000)), 0;
	if (argc > 2 && !strcmp(argv[1], "turns"))
		return turns_main(strtoul(argv[2], NULL, 10) << 20);
	if (argc > 1)
		return limited_main(strtoul(argv[1], NULL, 10));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
