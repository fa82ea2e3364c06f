// SPDX-License-Identifier: MIT
/*
 * ALLOCPROF_GUARD: a sampled block ends at a page that faults and faults entirely after its free,
 * with a line that says what it was; blocks that are not misused work, and quarantine is bounded.
 */
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "counts.h"
#include "listener.h"

extern uint32_t allocprof_guard;

/* A block that is a sample, and so guarded. */
static char *sampled(size_t size)
{
	uint64_t fired = listener_fired();
	char *block = malloc(size);

	assert_true(listener_fired() == fired + 1);
	return block;
}

/* Nothing is there; and it is not NULL, which a sanitizer would see. */
static volatile char *volatile nowhere = (volatile char *)64;

enum misuse { NOTHING, PAST_END, BEFORE_START, READ_FREED, FREE_TWICE, FREE_INSIDE, READ_WILD };

/* At SIGABRT. The guard's lock may be held: nothing is sampled any more. */
static void keep_counts(int sig)
{
	allocprof_guard = 0;
	listener_detach();
	counts_on_signal(sig);
}

/* Misuses a block in a child. Returns its wait status, and what it said in `text`. */
static int misuse(enum misuse how, size_t size, char *text, size_t room)
{
	int status, fds[2];
	ssize_t length;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		char *volatile place; /* the compiler knows what is wrong with some of this */
		char *block;

		dup2(fds[1], STDERR_FILENO);
		signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
		counts_keep_at_signals(keep_counts);
		listener_attach(1);
		free(malloc(1 << 20)); /* a slow path: from here on, every block is a sample */
		place = sampled(size);
		block = place;
		memset(block, 1, size);
		if (how == PAST_END)
			((volatile char *)block)[(size + 15) & -16] = 1;
		if (how == BEFORE_START) /* in the page before: the block may start within one */
			(void)((volatile char *)block)[-4096];
		if (how == FREE_INSIDE)
			free(block + 16);
		if (how == READ_WILD)
			(void)*nowhere;
		free(block);
		if (how == READ_FREED)
			(void)*(volatile char *)block;
		if (how == FREE_TWICE)
			free(block);
		counts_keep();
		_exit(0);
	}
	close(fds[1]);
	length = read(fds[0], text, room - 1);
	text[length > 0 ? length : 0] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_misuse_faults(void **state)
{
	static const size_t sizes[] = {1, 16, 24, 100, 1000, 4096, 5000, 30000, 70000, 500000};
	char text[400], number[32];

	allocprof_guard = 1;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		int status;

		assert_int_equal(misuse(NOTHING, sizes[k], text, sizeof(text)), 0);
		assert_string_equal(text, "");

		snprintf(number, sizeof(number), " of %zu bytes, allocated 0.", sizes[k]);
		status = misuse(PAST_END, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		assert_non_null(strstr(text, "allocprof: access past the end of a sampled block"));
		assert_non_null(strstr(text, number));

		status = misuse(BEFORE_START, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		assert_non_null(
			strstr(text, "allocprof: access before the start of a sampled block"));
		assert_non_null(strstr(text, number));

		status = misuse(READ_FREED, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		assert_non_null(strstr(text, "allocprof: use after free of a sampled block"));
		assert_non_null(strstr(text, number));
		assert_non_null(strstr(text, ", freed 0."));

		status = misuse(FREE_TWICE, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		assert_non_null(strstr(text, "allocprof: double free of"));
		/* One line, and no more. */
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);

		status = misuse(FREE_INSIDE, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		assert_non_null(strstr(text, "allocprof: free of a pointer that is not the start"));

		/* A fault that has nothing to do with a block is the program's own. */
		status = misuse(READ_WILD, sizes[k], text, sizeof(text));
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		assert_string_equal(text, "");
	}
	allocprof_guard = 0;
}

static void test_ordinary_use(void **state)
{
	void *blocks[2000];

	allocprof_guard = 1;
	listener_attach(2000);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 2000; i++) {
			size_t size = 1 + (size_t)(i * 37 + round * 11) % 3000;

			blocks[i] = i % 5 ? malloc(size) : aligned_alloc(64 << i % 7, size);
			assert_int_equal((uintptr_t)blocks[i] % (i % 5 ? 16 : 64 << i % 7), 0);
			memset(blocks[i], i, size);
			assert_true(malloc_usable_size(blocks[i]) >= size);
		}
		for (int i = 0; i < 2000; i += 3) {
			blocks[i] = realloc(blocks[i], 2000);
			assert_int_equal(*(unsigned char *)blocks[i], (unsigned char)i);
		}
		for (int i = 0; i < 2000; i++)
			free(blocks[i]);
	}
	assert_int_equal(listener_live(), 0);
	listener_detach();
	allocprof_guard = 0;
	/* The mode is off again: freed blocks fault no more than others. */
	listener_attach(1);
	free(malloc(1 << 20));
	free(malloc(100));
	listener_detach();
}

/* More samples live than the kernel has guard pages for: the others are samples all the same. */
static void test_more_than_can_be_guarded(void **state)
{
	enum { COUNT = 9000 };
	static char *blocks[COUNT];

	allocprof_guard = 1;
	listener_attach(1);
	free(malloc(1 << 20));
	for (int i = 0; i < COUNT; i++) {
		blocks[i] = sampled(100);
		memset(blocks[i], i, 100);
	}
	assert_int_equal(listener_live(), COUNT);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal((unsigned char)blocks[i][99], (unsigned char)i);
		free(blocks[i]);
	}
	assert_int_equal(listener_live(), 0);
	listener_detach();
	allocprof_guard = 0;
}

/* ALLOCPROF_GUARD in the environment: what a process that starts with it has. */
static uint32_t guard_of_started(const char *value)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		setenv("ALLOCPROF_GUARD", value, 1);
		execl("/proc/self/exe", "test_sampling_guard", "started", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_environment(void **state)
{
	assert_int_equal(guard_of_started("1"), 1);
	assert_int_equal(guard_of_started("0"), 0);
	assert_int_equal(guard_of_started(""), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misuse_faults),
		cmocka_unit_test(test_more_than_can_be_guarded),
		cmocka_unit_test(test_ordinary_use),
		cmocka_unit_test(test_environment),
	};

	if (argc > 1)
		return (int)allocprof_guard;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
