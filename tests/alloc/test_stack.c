// SPDX-License-Identifier: MIT
/*
 * Little stack, and stacks that belong to others: threads with the least that there is, how deep
 * every call goes, children of vfork() and of a clone() that share this thread's memory and its
 * thread-local storage.
 */
#include "common.h"

#include <limits.h>
#include <sched.h>

#include "probe.h"

#define MIB	  ((size_t)1 << 20)
#define PAINT	  0xb5
#define STACK	  ((size_t)256 << 10)
#define STACK_MAX 2048 /* what a call may need, without libc's dynamic linking */
#define SLOTS	  64

static const size_t sizes[] = {1, 16, 100, 1000, 4000, 20000, 65536, 100000, 300000, 3 * MIB};

#define SIZES (sizeof(sizes) / sizeof(*sizes))

static void block_use(unsigned char *block, size_t size)
{
	if (!block)
		abort();
	block[0] = block[size - 1] = 0x5a;
}

/* Every kind of call, and enough blocks of each size for the slow paths. */
static void *calls_make(void *unused)
{
	unsigned char *blocks[SLOTS];

	for (size_t i = 0; i < SIZES; i++) {
		int count = sizes[i] < MIB ? SLOTS : 2;

		for (int k = 0; k < count; k++) {
			blocks[k] = k % 3 == 0 ? calloc(1, sizes[i]) : malloc(sizes[i]);
			block_use(blocks[k], sizes[i]);
		}
		for (int k = 0; k < count; k++) {
			blocks[k] = realloc(blocks[k], sizes[i] / 2 + 1);
			block_use(blocks[k], sizes[i] / 2 + 1);
			blocks[k] = realloc(blocks[k], sizes[i] * 2);
			block_use(blocks[k], sizes[i] * 2);
		}
		for (int k = 0; k < count; k++)
			free(blocks[k]);
		blocks[0] = memalign(8192, sizes[i]);
		block_use(blocks[0], sizes[i]);
		free(blocks[0]);
	}
	malloc_trim(0);
	return NULL;
}

static void thread_run(void *stack, size_t size, void *(*body)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attributes), 0);
	if (stack)
		assert_int_equal(pthread_attr_setstack(&attributes, stack, size), 0);
	else
		assert_int_equal(pthread_attr_setstacksize(&attributes, size), 0);
	assert_int_equal(pthread_create(&thread, &attributes, body, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

static void listen(bool on)
{
#if AP_PROBES
	ap_free_semaphore = ap_alloc_word.semaphore = on;
	__atomic_store_n(&ap_period_set, on ? 4096 : AP_PERIOD_DEFAULT, __ATOMIC_RELAXED);
#endif
}

static void test_least_stack(void **state)
{
	for (int sampled = 0; sampled < 2; sampled++) {
		listen(sampled);
		for (int i = 0; i < 4; i++)
			thread_run(NULL, PTHREAD_STACK_MIN, calls_make);
	}
	listen(false);
}

static void *nothing_do(void *unused)
{
	return NULL;
}

/* How much of a painted stack a thread has written to. */
static size_t stack_used(unsigned char *stack, void *(*body)(void *))
{
	size_t untouched = 0;

	memset(stack, PAINT, STACK);
	thread_run(stack, STACK, body);
	while (untouched < STACK && stack[untouched] == PAINT)
		untouched++;
	return STACK - untouched;
}

static void test_depth(void **state)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	size_t least, idle, sampled;

	assert_ptr_not_equal(stack, MAP_FAILED);
	/* Whatever is bound lazily is bound now. */
	thread_run(NULL, STACK, calls_make);
	least = stack_used(stack, nothing_do);
	idle = stack_used(stack, calls_make);
	listen(true);
	sampled = stack_used(stack, calls_make);
	listen(false);
	munmap(stack, STACK);
	print_message("stack: %zu bytes of a thread that does nothing; %zu more for all calls, "
		      "%zu with samples\n",
		least, idle - least, sampled - least);
	assert_true(idle - least < STACK_MAX + SLOTS * sizeof(void *));
	assert_true(sampled - least < STACK_MAX + SLOTS * sizeof(void *));
}

static unsigned char *shared[SLOTS];

static int child_main(void *unused)
{
	for (int i = 0; i < SLOTS; i++) {
		if (i % 2)
			free(shared[i]);
		else
			continue;
		shared[i] = malloc(200 + i * 100);
		block_use(shared[i], 200 + i * 100);
	}
	calls_make(NULL);
	return 0;
}

static void shared_make(void)
{
	for (int i = 0; i < SLOTS; i++) {
		shared[i] = malloc(100 + i * 100);
		block_use(shared[i], 100 + i * 100);
	}
}

static void shared_check(void)
{
	for (int i = 0; i < SLOTS; i++) {
		size_t size = (i % 2 ? 200 : 100) + i * 100;

		assert_int_equal(shared[i][0], 0x5a);
		assert_int_equal(shared[i][size - 1], 0x5a);
		free(shared[i]);
	}
	calls_make(NULL);
}

/* The parent sleeps until the child is gone, and finds what that has done. */
static void test_vfork(void **state)
{
	int status;
	pid_t pid;

	shared_make();
	pid = vfork();
	if (!pid)
		_exit(child_main(NULL));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	shared_check();
}

/*
 * Without CLONE_SETTLS the child is this thread to everything that is thread-local, libc's errno
 * first: it may run only while this one does not. Then it finds the heap whole and leaves it so.
 */
static void test_clone(void **state)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int flags[] = {CLONE_VM | SIGCHLD, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
		CLONE_VM | CLONE_VFORK | SIGCHLD};

	assert_ptr_not_equal(stack, MAP_FAILED);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		int status;
		pid_t pid;

		shared_make();
		pid = clone(child_main, stack + STACK, flags[i], NULL);
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		shared_check();
	}
	munmap(stack, STACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least_stack),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_clone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
