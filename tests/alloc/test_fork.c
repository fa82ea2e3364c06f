// SPDX-License-Identifier: MIT
/* fork while other threads are anywhere inside the allocator, on and on, and in signal handlers. */
#include "wild_threads.h"

#include "region.h"

#define FORKS 200

static pthread_barrier_t barrier;

/* Threads that end while the process forks. */
static void *wild_short(void *argument)
{
	void *blocks[100];

	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(wild_size((uintptr_t)argument + i * 7919));
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
	return NULL;
}

static void *wild_spawner(void *argument)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wild_short, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

/*
 * In the child: frees blocks of the threads that are no more. glibc gives new threads the stacks,
 * and so the thread pointers, of those: the allocator must not take them for the blocks' owners.
 */
static void *child_thread(void *argument)
{
	uintptr_t nth = (uintptr_t)argument;
	void *blocks[200];

	for (size_t i = nth; i < SHARED; i += 8) {
		size_t *block = __atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL);

		if (block && block[block[0] / 8 - 1] != ~block[0])
			abort();
		free(block);
	}
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 200; i++) {
			blocks[i] = malloc(16 + i * 40);
			memset(blocks[i], (int)(nth + i), 16 + i * 40);
		}
		for (int i = 0; i < 200; i++) {
			const unsigned char *block = blocks[i];

			if (block[0] != (unsigned char)(nth + i) ||
				block[15 + i * 40] != (unsigned char)(nth + i))
				abort();
			free(blocks[i]);
		}
	}
	return NULL;
}

static void child_body(void *argument)
{
	pthread_t threads[4];
	void *blocks[300];

	/* At once, sizes of all kinds. */
	for (int i = 0; i < 300; i++) {
		blocks[i] = calloc(1, wild_size(i * 7919));
		if (!blocks[i])
			abort();
	}
	for (int i = 0; i < 300; i++)
		free(blocks[i]);
	/* Four at a time on stacks of threads that were, and then four that start in their own. */
	for (uintptr_t round = 0; round < 2; round++) {
		for (uintptr_t i = 0; i < 4; i++)
			if (pthread_create(
				    &threads[i], NULL, child_thread, (void *)(round * 4 + i)))
				abort();
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	malloc_trim(0);
	free(malloc(100 << 20));
}

static void grandchild(void *argument)
{
	struct ending ending;

	child_body(NULL);
	ending = child_run(child_body, NULL, 30);
	if (ending.hung || ending.status)
		abort();
}

static void test_fork_of_wild_threads(void **state)
{
	pthread_t threads[PARENTS + 1];

	for (uintptr_t i = 0; i < PARENTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wild, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&threads[PARENTS], NULL, wild_spawner, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		struct ending ending = child_run(i % 50 == 0 ? grandchild : child_body, NULL, 30);

		if (ending.hung || ending.status)
			fail_msg("fork %d: %s status %x: %s", i, ending.hung ? "hung," : "",
				ending.status, ending.stderr_);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i <= PARENTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SHARED; i++) {
		free(shared[i]);
		shared[i] = NULL;
	}
}

/*
 * The same without chance: the child's threads sit on the stacks of the parent's, one to one, and
 * free what those have allocated, all of it, so that every span comes to its end.
 */
static size_t *exact[PARENTS][SHARED];
static uintptr_t parent_pointers[PARENTS];
static int reused; /* atomic */

static void *exact_parent(void *argument)
{
	uintptr_t nth = (uintptr_t)argument;

	parent_pointers[nth] = (uintptr_t)__builtin_thread_pointer();
	for (int i = 0; i < SHARED; i++)
		exact[nth][i] = malloc(16 + i % 300);
	pthread_barrier_wait(&barrier); /* filled */
	pthread_barrier_wait(&barrier); /* forked */
	for (int i = 0; i < SHARED; i++)
		free(exact[nth][i]);
	return NULL;
}

static void *exact_child(void *argument)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();
	void **blocks = malloc(SHARED * sizeof(*blocks));

	for (int nth = 0; nth < PARENTS; nth++)
		if (parent_pointers[nth] == self) {
			__atomic_fetch_add(&reused, 1, __ATOMIC_RELAXED);
			for (int i = 0; i < SHARED; i++) {
				uintptr_t owner = span_at(exact[nth][i])->owner & ~OWNER_FLAGS;

				/* Its lists may be in the middle of a change for ever. */
				if (owner == self)
					abort();
				free(exact[nth][i]);
			}
		}
	for (int i = 0; i < SHARED; i++) {
		blocks[i] = malloc(16 + i % 300);
		memset(blocks[i], i, 16 + i % 300);
	}
	for (int i = 0; i < SHARED; i++) {
		const unsigned char *block = blocks[i];

		if (block[0] != (unsigned char)i || block[15 + i % 300] != (unsigned char)i)
			abort();
		free(blocks[i]);
	}
	free(blocks);
	pthread_barrier_wait(&barrier); /* all at a time, or one stack would do for all */
	return NULL;
}

static void exact_fork(void *argument)
{
	pthread_t threads[PARENTS];

	pthread_barrier_init(&barrier, NULL, PARENTS);
	for (int i = 0; i < PARENTS; i++)
		if (pthread_create(&threads[i], NULL, exact_child, NULL))
			abort();
	for (int i = 0; i < PARENTS; i++)
		pthread_join(threads[i], NULL);
	malloc_trim(0);
	for (int i = 0; i < 1000; i++)
		free(malloc(16 + i));
	if (reused == 0)
		dprintf(STDERR_FILENO, "no stack was used again\n");
}

static void test_fork_reuses_stacks(void **state)
{
	pthread_t threads[PARENTS];
	struct ending ending;

	pthread_barrier_init(&barrier, NULL, PARENTS + 1);
	for (uintptr_t i = 0; i < PARENTS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, exact_parent, (void *)i), 0);
	pthread_barrier_wait(&barrier);
	ending = child_run(exact_fork, NULL, 30);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < PARENTS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	assert_false(ending.hung);
	assert_string_equal(ending.stderr_, "");
	assert_int_equal(ending.status, 0);
}

/* A child that forks on and on, each with what its parent had. */
static void test_fork_chain(void **state)
{
	void *blocks[100];
	int depth, status = 0;
	pid_t pid = 0;

	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(100 + i * 100);
	for (depth = 0; depth < 20; depth++) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid)
			break;
		for (int i = 0; i < 100; i++) {
			free(blocks[i]);
			blocks[i] = malloc(100 + i * 100);
		}
	}
	if (pid)
		waitpid(pid, &status, 0);
	if (depth > 0) {
		counts_keep();
		_exit(status ? 1 : 0);
	}
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
	assert_int_equal(status, 0);
}

/*
 * A handler that forks, wherever its signal comes: in malloc, in free, in fork itself. Only of a
 * process without threads can that be asked. Its sender sends on, and ends with it.
 */
static volatile sig_atomic_t handled;

static void fork_in_handler(int sig)
{
	int saved = errno;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	handled++;
	errno = saved;
}

static void handler_body(void *argument)
{
	struct sigaction action = {.sa_handler = fork_in_handler};
	pid_t self = getpid(), sender, pid;
	int status;

	sigaction(SIGUSR1, &action, NULL);
	sender = fork();
	if (sender == 0) {
		while (getppid() == self && kill(self, SIGUSR1) == 0)
			usleep(200);
		_exit(0);
	}
	for (int i = 0; handled < FORKS; i++) {
		void *large = malloc(200000 + i % 100 * 4096), *small = malloc(16 + i % 900);

		free(large);
		free(small);
		if (i % 64)
			continue;
		pid = fork();
		if (pid == 0)
			_exit(0);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	kill(sender, SIGKILL);
}

static void test_fork_in_handler(void **state)
{
	struct ending ending = child_run(handler_body, NULL, 60);

	assert_false(ending.hung);
	assert_int_equal(ending.status, 0);
}

/*
 * Threads that hold a file's lock while they allocate, and one that locks the list of files and
 * then each file. fork locks that list, too: after the handlers of the allocator have run.
 */
static void *stdio_hold(void *argument)
{
	FILE *file = fopen("/dev/null", "w");

	if (!file)
		abort();
	do {
		flockfile(file);
		for (int i = 0; i < 20; i++)
			free(malloc(200000 + i * 4096));
		funlockfile(file);
	} while (!__atomic_load_n(&stop, __ATOMIC_RELAXED));
	fclose(file);
	return NULL;
}

static void *stdio_flush(void *argument)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		fflush(NULL);
	return NULL;
}

static void stdio_body(void *argument)
{
	pthread_t threads[PARENTS];

	for (int i = 0; i < PARENTS; i++)
		if (pthread_create(&threads[i], NULL, i ? stdio_hold : stdio_flush, NULL))
			abort();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			stop = true;
			stdio_hold(NULL);
			fflush(NULL);
			free(malloc(1 << 20));
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			abort();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < PARENTS; i++)
		pthread_join(threads[i], NULL);
}

static void test_fork_among_stdio(void **state)
{
	struct ending ending = child_run(stdio_body, NULL, 60);

	assert_false(ending.hung);
	assert_int_equal(ending.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_chain),
		cmocka_unit_test(test_fork_in_handler),
		cmocka_unit_test(test_fork_among_stdio),
		cmocka_unit_test(test_fork_reuses_stacks),
		cmocka_unit_test(test_fork_of_wild_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
