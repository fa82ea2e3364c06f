// SPDX-License-Identifier: MIT
/*
 * ALLOCPROF_SECURE=1, which is read at the start: the program executes itself again with it. Blocks
 * come in random order, the lists of free blocks tell no addresses, and what stands behind a span
 * or a large block faults. That everything else works as before, the other tests show when they are
 * run in this mode: secure.sh.
 */
#include "damage.h"

#include "region.h"
#include "span.h"

static void test_mode_is_on(void **state)
{
	assert_true(ap_secret != 0);
}

/* With 100 blocks in ascending order of address, 99 of 99 pairs ascend; at random, about half. */
static void test_order_is_random(void **state)
{
	char *block[100];
	int ascending = 0;

	for (int i = 0; i < 100; i++)
		block[i] = do_malloc(200);
	for (int i = 1; i < 100; i++)
		ascending += block[i] > block[i - 1];
	for (int i = 0; i < 100; i++)
		do_free(block[i]);
	/* 50 +- 2.9: outside of 25 to 75 with a probability below 1e-15 */
	assert_in_range(ascending, 25, 75);
}

static void test_lists_are_encoded(void **state)
{
	uintptr_t *block[50];

	for (int i = 0; i < 50; i++)
		block[i] = do_malloc(500);
	for (int i = 0; i < 50; i++)
		do_free(block[i]);
	for (int i = 0; i < 50; i++)
		for (int word = 0; word < 2; word++)
			for (int k = 0; k < 50; k++)
				assert_true(block[i][word] != (uintptr_t)block[k] &&
					    block[i][word] != (uintptr_t)span_at(block[i]));
}

/* Writes from the start of a block on, until something faults or `limit` bytes are written. */
static void overrun(void *argument)
{
	const size_t *sizes = argument;
	volatile char *block = do_malloc(sizes[0]);

	for (size_t i = 0; i < sizes[1]; i++)
		block[i] = 1;
}

static size_t span_bytes(size_t size)
{
	return (size_t)class_slices(class_of(size)) << SLICE_SHIFT;
}

static void test_overruns_fault(void **state)
{
	/* A block's size, and how far a write gets at the most: to the end of its span, or of its
	 * pages. */
	const size_t cases[][2] = {{100, span_bytes(100)}, {5000, span_bytes(5000)},
		{20000, span_bytes(20000)}, {100000, 102401}, {1 << 20, (1 << 20) + 1}};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct ending ending = child_run(overrun, (void *)cases[k], 20);

		assert_true(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGSEGV);
	}
}

/* Without this mode malloc's fast path may follow such a link before anything can tell. */
static void smash_link(void *argument)
{
	size_t size = *(const size_t *)argument;
	char *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = do_malloc(size);
	for (int i = 1; i < 20; i += 2)
		do_free(blocks[i]);
	expect(blocks[7], class_for(size));
	memset(blocks[7] + sizeof(uintptr_t), 0x41, sizeof(uintptr_t));
	use_up(size);
}

static void test_smashed_links(void **state)
{
	FOR_EACH(size, span_sizes)
	check_death("link smashed", *size, smash_link, (void *)size);
	no_complaints();
}

/* Blocks from before the mode was set, spans full of them among these: some are freed by then. */
#define EARLY 500
static unsigned char *early[EARLY];

static void test_blocks_of_before(void **state)
{
	for (int i = 0; i < EARLY / 2; i += 3)
		for (int word = 0; word < 2; word++) {
			uintptr_t value = ((uintptr_t *)early[i])[word];

			assert_true(value != (uintptr_t)span_at(early[i]));
			for (int k = 0; k < EARLY / 2; k += 3)
				assert_true(value != (uintptr_t)early[k]);
		}
	/* They are handed out again, each once, and overlap nothing. */
	for (int i = 0; i < EARLY / 2; i += 3)
		early[i] = memset(do_malloc(500), i, 500);
	for (int i = 0; i < EARLY; i++)
		for (int k = 0; k < 500; k++)
			assert_int_equal(early[i][k], (unsigned char)i);
	/* So are those of spans that were full. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < EARLY; i++)
			do_free(early[i]);
		for (int i = 0; i < EARLY; i++)
			early[i] = memset(do_malloc(500), i, 500);
	}
	for (int i = 0; i < EARLY; i++)
		do_free(early[i]);
}

/*
 * A thread with a heap before the allocator's constructor runs: the mode is refused, with a word.
 */
static void *early_thread(void *argument)
{
	do_free(do_malloc(100));
	pthread_barrier_wait(argument);
	pause();
	return NULL;
}

__attribute__((constructor(101))) static void early_start(void)
{
	static pthread_barrier_t barrier;
	pthread_t thread;

	for (int i = 0; i < EARLY; i++)
		early[i] = memset(do_malloc(500), i, 500);
	for (int i = 0; i < EARLY / 2; i += 3)
		do_free(early[i]);
	if (!getenv("EARLY_THREAD"))
		return;
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, early_thread, &barrier))
		abort();
	pthread_barrier_wait(&barrier);
}

static void early_exec(void *argument)
{
	setenv("EARLY_THREAD", "1", 1);
	execl("/proc/self/exe", "test_secure", NULL);
	_exit(127);
}

static void test_refused_after_threads(void **state)
{
	struct ending ending = child_run(early_exec, NULL, 20);

	assert_int_equal(ending.status, 0);
	assert_string_equal(
		ending.stderr_, "allocprof: ALLOCPROF_SECURE ignored: threads run already\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mode_is_on),
		cmocka_unit_test(test_blocks_of_before),
		cmocka_unit_test(test_order_is_random),
		cmocka_unit_test(test_lists_are_encoded),
		cmocka_unit_test(test_overruns_fault),
		cmocka_unit_test(test_smashed_links),
		cmocka_unit_test(test_refused_after_threads),
	};

	if (getenv("EARLY_THREAD"))
		return ap_secret != 0;
	if (!getenv("ALLOCPROF_SECURE")) {
		setenv("ALLOCPROF_SECURE", "1", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	return cmocka_run_group_tests(tests, expected_map, NULL);
}
