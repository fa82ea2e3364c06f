// SPDX-License-Identifier: MIT
/*
 * The times of a process at which it may call the allocator: before its constructors, in handlers
 * of fork, in a vfork's child, after exit, which may come while its threads allocate.
 */
#include "wild_threads.h"

#include <sched.h>

/* Handlers of others, registered before the allocator's and after, that allocate. */
static bool greedy;

static void greedy_handler(void)
{
	static void *blocks[16];

	for (int i = 0; greedy && i < 16; i++) {
		free(blocks[i]);
		blocks[i] = calloc(1, (size_t)64 << i);
		free(malloc((size_t)40 << 20));
	}
}

static pthread_barrier_t barrier;

static void *wait_at_barrier(void *argument)
{
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void handlers_body(void *argument)
{
	pthread_t thread;
	int status = 1;
	pid_t pid;

	pthread_atfork(greedy_handler, greedy_handler, greedy_handler);
	greedy = true;
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, wait_at_barrier, NULL))
		abort();
	pid = fork();
	if (pid == 0) {
		counts_keep();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

static void test_handlers_that_allocate(void **state)
{
	struct ending ending = child_run(handlers_body, NULL, 30);

	assert_false(ending.hung);
	assert_int_equal(ending.status, 0);
}

/* vfork's child shares the parent's memory: what it allocates and frees is the parent's. */
static void test_vfork(void **state)
{
	for (volatile int i = 0; i < 100; i++) {
		char *volatile block = NULL;
		int status = 0;
		pid_t pid = vfork();

		if (pid == 0) {
			block = malloc(1000);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		free(block);
	}
}

/* After exit: atexit's functions and destructors allocate and free. */
static void at_exit(void)
{
	void *blocks[100];

	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(16 << i % 12);
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
	malloc_trim(0);
}

static bool late_check;

__attribute__((destructor(101))) static void latest(void)
{
	if (!late_check)
		return;
	at_exit();
	dprintf(STDERR_FILENO, "latest\n");
}

static void exit_body(void *argument)
{
	late_check = true;
	atexit(at_exit);
	atexit(at_exit);
	exit(0);
}

static void test_after_exit(void **state)
{
	struct ending ending = child_run(exit_body, NULL, 30);

	assert_false(ending.hung);
	assert_int_equal(ending.status, 0);
	assert_non_null(strstr(ending.stderr_, "latest\n"));
}

/* exit while others allocate: nothing is taken down under them. */
static void exit_among_threads(void *argument)
{
	pthread_t threads[PARENTS];

	for (uintptr_t i = 0; i < PARENTS; i++)
		if (pthread_create(&threads[i], NULL, wild, (void *)(i + 1)))
			abort();
	for (int i = 0; i < 50; i++)
		sched_yield();
	late_check = true;
	atexit(at_exit);
	exit(0);
}

static void test_exit_among_threads(void **state)
{
	stop = false;
	for (int i = 0; i < 30; i++) {
		struct ending ending = child_run(exit_among_threads, NULL, 30);

		assert_false(ending.hung);
		assert_int_equal(ending.status, 0);
	}
}

/* Before any constructor of ours: what was allocated then is a block like others. */
static void *early_blocks[64];
static pid_t early_child = -1;
static int early_status = -1;

__attribute__((constructor(101))) static void earliest(void)
{
	pthread_atfork(greedy_handler, greedy_handler, greedy_handler);
	for (int i = 0; i < 64; i++)
		early_blocks[i] = memset(malloc(16 << i % 14), i, 16 << i % 14);
	early_child = fork();
	if (early_child == 0) {
		for (int i = 0; i < 64; i++)
			free(early_blocks[i]);
		_exit(0);
	}
	waitpid(early_child, &early_status, 0);
}

static void test_before_constructors(void **state)
{
	assert_int_equal(early_status, 0);
	for (int i = 0; i < 64; i++) {
		const unsigned char *block = early_blocks[i];

		for (int at = 0; at < 16 << i % 14; at++)
			assert_int_equal(block[at], i);
		free(early_blocks[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_constructors),
		cmocka_unit_test(test_handlers_that_allocate),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_after_exit),
		cmocka_unit_test(test_exit_among_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
