// SPDX-License-Identifier: MIT
/*
 * The end of a thread: frees before, during and after the allocator's own thread destructor, and
 * blocks that outlive their thread. Meant for ThreadSanitizer too.
 */
#include "threads.h"

#include <limits.h>

#include "region.h"

#ifdef __SANITIZE_THREAD__
#define ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1) /* in the last, TSan has left the thread */
#else
#define ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/*
 * Destructors of thread keys that free and allocate in every round. Some keys are older than the
 * allocator's (a constructor makes them, before the first thread other than main has a heap), some
 * are younger; glibc calls them in the order of their numbers.
 */
#define KEYS 4

struct luggage {
	int key, rounds;
	void *blocks[50];
};

static pthread_key_t keys[KEYS];
static int destructions; /* atomic */

static size_t luggage_size(const struct luggage *luggage, int i)
{
	return 16 + (i * 97 + luggage->key * 13) % 3000 + (i == 7 ? 40000 : 0);
}

static void luggage_refresh(void *value)
{
	struct luggage *luggage = value, *other;

	__atomic_fetch_add(&destructions, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 50; i++)
		block_end(luggage->blocks[i], luggage_size(luggage, i), i);
	if (++luggage->rounds == ROUNDS) {
		free(luggage);
		return;
	}
	other = malloc(sizeof(*other));
	*other = *luggage;
	for (int i = 0; i < 50; i++)
		other->blocks[i] = block_new(luggage_size(other, i), i);
	free(luggage);
	if (pthread_setspecific(keys[other->key], other))
		abort();
}

static __attribute__((constructor(101))) void keys_make_early(void)
{
	for (int i = 0; i < KEYS / 2; i++)
		if (pthread_key_create(&keys[i], luggage_refresh))
			abort();
}

static void *luggage_thread(void *argument)
{
	for (int key = 0; key < KEYS; key++) {
		struct luggage *luggage = calloc(1, sizeof(*luggage));

		luggage->key = key;
		for (int i = 0; i < 50; i++)
			luggage->blocks[i] = block_new(luggage_size(luggage, i), i);
		pthread_setspecific(keys[key], luggage);
	}
	return NULL;
}

/* Without what is unused: that comes and goes with the moment. */
static size_t rss_trimmed(void)
{
	malloc_trim(0);
	return rss_bytes();
}

static void test_destructors(void **state)
{
	size_t before = 0, after;

	for (int i = KEYS / 2; i < KEYS; i++)
		assert_int_equal(pthread_key_create(&keys[i], luggage_refresh), 0);
	for (int i = 0; i < 400 / SLOWER; i++) {
		pthread_t threads[4];

		for (int k = 0; k < 4; k++)
			threads[k] = thread_start(luggage_thread, NULL);
		for (int k = 0; k < 4; k++)
			thread_result(threads[k]);
		if (i == 100 / SLOWER)
			before = rss_trimmed();
	}
	after = rss_trimmed();
	assert_int_equal(destructions, 400 / SLOWER * 4 * KEYS * ROUNDS);
	/*
	 * A round keeps 4 threads * 4 keys * 50 blocks of 5 KiB at most, that is 4 MiB. Whatever
	 * was allocated past the allocator's destructor has a slice of its own for each block, of
	 * which the pages that were touched count: 8 KiB and less. A leak of one block each time
	 * would be 1,200 threads * 4 keys * 4 KiB = 19 MiB.
	 */
	assert_true(after < before + 12 * MIB);
}

/* Thread-local variables with destructors, as C++ has them: they end before all thread keys. */
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *dso);
extern void *__dso_handle;

static void cxx_destructor(void *object)
{
	void **blocks = object;

	for (int i = 0; i < 20; i++)
		block_end(blocks[i], 100 + i * 50, i);
	free(blocks);
	free(malloc(5000));
}

static void *cxx_thread(void *argument)
{
	for (int k = 0; k < 5; k++) {
		void **blocks = malloc(20 * sizeof(*blocks));

		for (int i = 0; i < 20; i++)
			blocks[i] = block_new(100 + i * 50, i);
		__cxa_thread_atexit_impl(cxx_destructor, blocks, &__dso_handle);
	}
	return NULL;
}

static void test_cxx_thread_locals(void **state)
{
	for (int i = 0; i < 200 / SLOWER; i++)
		thread_result(thread_start(cxx_thread, NULL));
}

/* Blocks that others free while their thread ends, and after. */
#define HANDED 2000

struct handover {
	void *blocks[HANDED]; /* atomic */
	int filled;	      /* atomic */
};

static size_t handed_size(int i)
{
	return 16 + i * 31 % 1500 + (i % 100 == 0 ? 30000 : 0);
}

static void *handover_owner(void *argument)
{
	struct handover *handover = argument;

	for (int i = 0; i < HANDED; i++) {
		__atomic_store_n(
			&handover->blocks[i], block_new(handed_size(i), i), __ATOMIC_RELEASE);
		__atomic_store_n(&handover->filled, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *handover_taker(void *argument)
{
	struct handover *handover = argument;

	for (int i = 0; i < HANDED; i++) {
		void *block;

		while (__atomic_load_n(&handover->filled, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
		/* Two takers: each block is freed by one of them. */
		block = __atomic_exchange_n(&handover->blocks[i], NULL, __ATOMIC_ACQ_REL);
		if (block)
			block_end(block, handed_size(i), i);
	}
	return NULL;
}

static void test_free_while_owner_ends(void **state)
{
	static struct handover handover;

	for (int round = 0; round < 150 / SLOWER; round++) {
		pthread_t owner, takers[2];

		memset(&handover, 0, sizeof(handover));
		for (int i = 0; i < 2; i++)
			takers[i] = thread_start(handover_taker, &handover);
		owner = thread_start(handover_owner, &handover);
		thread_result(owner);
		for (int i = 0; i < 2; i++)
			thread_result(takers[i]);
	}
}

static void *orphans_make(void *argument)
{
	void **blocks = calloc(HANDED, sizeof(*blocks));

	for (int i = 0; i < HANDED; i++)
		blocks[i] = block_new(handed_size(i), i);
	/* Half of them are gone already, so that the spans that stay are worth adopting. */
	for (int i = 0; i < HANDED; i += 2)
		block_end(blocks[i], handed_size(i), i);
	return blocks;
}

static void *orphans_end(void *argument)
{
	void **blocks = argument;

	for (int i = 1; i < HANDED; i += 2)
		block_end(blocks[i], handed_size(i), i);
	free(blocks);
	return NULL;
}

/* The spans of ended threads are adopted, by who allocates and by who frees: nothing grows. */
static void test_orphans(void **state)
{
	void **kept[3] = {NULL};
	size_t start = 0, end;

	for (int round = 0; round < 300 / SLOWER; round++) {
		void **blocks = thread_result(thread_start(orphans_make, NULL));

		switch (round % 3) {
		case 0: /* freed by this thread, which has a heap */
			orphans_end(blocks);
			break;
		case 1: /* by a thread that does nothing else */
			thread_result(thread_start(orphans_end, blocks));
			break;
		default: /* later, when others have adopted their spans and used what was free */
			if (kept[round / 3 % 3])
				orphans_end(kept[round / 3 % 3]);
			kept[round / 3 % 3] = blocks;
		}
		if (round == 100 / SLOWER)
			start = rss_bytes();
	}
	end = rss_bytes();
	for (int i = 0; i < 3; i++)
		if (kept[i])
			orphans_end(kept[i]);
	/*
	 * At most five times 2,000 blocks of 1 KiB are there at any time: 10 MiB. If the free half
	 * of the orphans' spans were not used again, 200 rounds would leave a MiB each.
	 */
	assert_true(end < start + 16 * MIB);
}

/*
 * Threads with small heaps, which the next threads get whole: what the ended ones have left is
 * whole too, whether it is freed before the next thread begins, by it, or while it runs.
 */
#define SMALL 50

static void *small_heap(void *argument)
{
	void **left = argument, *blocks[SMALL];

	for (int i = 0; i < SMALL; i++)
		blocks[i] = block_new(16 + i * 20, i);
	for (int i = 0; i < SMALL; i++) {
		if (left[i])
			block_end(left[i], 16 + i * 20, i);
		left[i] = NULL;
		if (i % 3)
			block_end(blocks[i], 16 + i * 20, i);
		else
			left[i] = blocks[i];
	}
	return NULL;
}

static void test_parked_heaps(void **state)
{
	static void *left[4][SMALL];
	pthread_t threads[4];
	size_t start = 0;

	for (int round = 0; round < 1000 / SLOWER; round++) {
		for (int k = 0; k < 4; k++)
			threads[k] = thread_start(small_heap, left[(k + round) % 4]);
		for (int k = 0; k < 4; k++)
			thread_result(threads[k]);
		for (int i = 0; i < SMALL && round % 2; i += 6) {
			if (left[round % 4][i])
				block_end(left[round % 4][i], 16 + i * 20, i);
			left[round % 4][i] = NULL;
		}
		if (round % 100 == 50)
			malloc_trim(0);
		if (round == 100 / SLOWER)
			start = rss_bytes();
	}
	assert_true(rss_bytes() < start + 4 * MIB);
}

/*
 * A thread whose blocks others have freed, all of them, and that ends without another look at its
 * mail: its spans are the region's again.
 */
#define MAILED 20000

static void *mailed[MAILED];
static pthread_barrier_t allocated, freed;

static void *mailed_owner(void *argument)
{
	for (int i = 0; i < MAILED; i++)
		mailed[i] = block_new(500, i);
	pthread_barrier_wait(&allocated);
	pthread_barrier_wait(&freed);
	return NULL;
}

static size_t slices_used(void)
{
	return ap_region.mapped - ap_region.unused;
}

static void test_mail_at_the_end(void **state)
{
	pthread_t thread;
	size_t before;

	malloc_trim(0);
	before = slices_used();
	pthread_barrier_init(&allocated, NULL, 2);
	pthread_barrier_init(&freed, NULL, 2);
	thread = thread_start(mailed_owner, NULL);
	pthread_barrier_wait(&allocated);
	assert_true(slices_used() > before + MAILED * 500 / SLICE_SIZE);
	for (int i = 0; i < MAILED; i++)
		block_end(mailed[i], 500, i);
	pthread_barrier_wait(&freed);
	thread_result(thread);
	assert_true(slices_used() <= before + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mail_at_the_end),
		cmocka_unit_test(test_destructors),
		cmocka_unit_test(test_cxx_thread_locals),
		cmocka_unit_test(test_free_while_owner_ends),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_parked_heaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
