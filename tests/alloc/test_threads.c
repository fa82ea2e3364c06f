// SPDX-License-Identifier: MIT
/*
 * Threads that hand each other their blocks, and that come and go: memory must not grow with what
 * has passed through, nor with the number of threads that ever were. Meant for ThreadSanitizer too.
 */
#include "threads.h"

/* One allocates, another frees, for long: the memory goes round. */
#define RING 1024

struct ring {
	void *slots[RING]; /* atomic */
	int rounds;
};

static void *producer(void *argument)
{
	struct ring *ring = argument;

	for (int i = 0; i < ring->rounds; i++) {
		void **slot = &ring->slots[i % RING], *block = block_new(16 + i % 500, i);

		while (__atomic_load_n(slot, __ATOMIC_ACQUIRE))
			sched_yield();
		__atomic_store_n(slot, block, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* It never allocates: its first call into the allocator is a free, and its last. */
static void *consumer(void *argument)
{
	struct ring *ring = argument;

	for (int i = 0; i < ring->rounds; i++) {
		void **slot = &ring->slots[i % RING], *block;

		while (!(block = __atomic_load_n(slot, __ATOMIC_ACQUIRE)))
			sched_yield();
		__atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
		block_end(block, 16 + i % 500, i);
	}
	return NULL;
}

static void test_producer_consumer(void **state)
{
	static struct ring rings[2];
	pthread_t threads[4];
	size_t before = rss_bytes();

	for (int i = 0; i < 2; i++) {
		rings[i].rounds = 1000000 / SLOWER;
		threads[i * 2] = thread_start(producer, &rings[i]);
		threads[i * 2 + 1] = thread_start(consumer, &rings[i]);
	}
	for (int i = 0; i < 4; i++)
		thread_result(threads[i]);
	/*
	 * 2 rings of 1,024 blocks of at most 515 bytes are out at a time: 1 MiB, in 22 classes with
	 * a span or a few each. What passed through is 2 million blocks, 530 MiB.
	 */
	assert_true(rss_bytes() < before + 24 * MIB);
}

/* A thread that only frees what another allocates, in batches, while that one sleeps between. */
static void test_only_frees(void **state)
{
	static struct ring ring;
	pthread_t consumer_thread;
	size_t peak = 0;

	ring.rounds = 200 * RING;
	consumer_thread = thread_start(consumer, &ring);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < RING; i++) {
			int nth = round * RING + i;

			while (__atomic_load_n(&ring.slots[i], __ATOMIC_ACQUIRE))
				sched_yield();
			__atomic_store_n(
				&ring.slots[i], block_new(16 + nth % 500, nth), __ATOMIC_RELEASE);
		}
		if (round == 20)
			peak = rss_bytes();
	}
	thread_result(consumer_thread);
	assert_true(rss_bytes() < peak + 8 * MIB);
}

/* 10,000 threads, a few at a time, each with blocks of many classes. */
static void *short_thread(void *argument)
{
	void *blocks[40];

	for (int i = 0; i < 40; i++)
		blocks[i] = block_new(16 << i % 11, i);
	for (int i = 0; i < 40; i++)
		block_end(blocks[i], 16 << i % 11, i);
	return NULL;
}

static void test_many_threads(void **state)
{
	size_t start = 0, end;

	for (int i = 0; i < 10000 / 8 / SLOWER; i++) {
		pthread_t threads[8];

		for (int k = 0; k < 8; k++)
			threads[k] = thread_start(short_thread, NULL);
		for (int k = 0; k < 8; k++)
			thread_result(threads[k]);
		if (i == 50 / SLOWER)
			start = rss_bytes();
	}
	end = rss_bytes();
	/*
	 * 8 threads at a time use 11 classes and so 88 spans, 50 KiB of blocks each. 400 threads
	 * have been before `start`: all heaps and spans that 8 threads need were there. A leak of a
	 * page a thread would be 38 MiB; what may differ is which slices are still dirty, a few
	 * MiB.
	 */
	assert_true(end < start + 6 * MIB);
}

#ifndef __SANITIZE_THREAD__ /* which has memory of its own for each thread */
/* Threads that have a few blocks of many classes and wait, in a process with huge pages. */
#define WAITING 100
#define SIZES	32

static pthread_barrier_t filled, measured;

static void *waiting_thread(void *argument)
{
	void *blocks[SIZES];

	for (int i = 0; i < SIZES; i++)
		blocks[i] = block_new(16 + 60 * i, i);
	pthread_barrier_wait(&filled);
	pthread_barrier_wait(&measured);
	for (int i = 0; i < SIZES; i++)
		block_end(blocks[i], 16 + 60 * i, i);
	return NULL;
}

static void test_waiting_threads_are_small(void **state)
{
	void *large = block_new(32 * MIB, 1);
	pthread_t threads[WAITING];
	size_t before, each;

	pthread_barrier_init(&filled, NULL, WAITING + 1);
	pthread_barrier_init(&measured, NULL, WAITING + 1);
	before = rss_bytes();
	for (int i = 0; i < WAITING; i++)
		threads[i] = thread_start(waiting_thread, NULL);
	pthread_barrier_wait(&filled);
	each = (rss_bytes() - before) / WAITING;
	pthread_barrier_wait(&measured);
	for (int i = 0; i < WAITING; i++)
		thread_result(threads[i]);
	free(large);
	/* A page for each class, heap and stack; with a slice for each it would be 2 MiB. */
	assert_in_range(each, 0, 300 << 10);
}
#endif

/* Shared blocks that any thread takes, reallocates and puts back; threads die all the time. */
static void *swaps[512]; /* atomic; the first word holds the size */

static void *swapper(void *argument)
{
	uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15 | 1;

	for (int i = 0; i < 4000; i++) {
		uint64_t r = random_next(&random);
		void **slot = &swaps[r % 512];
		size_t *block = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL), size;

		size = 16 + (r >> 20) % (r % 64 == 0 ? 100000 : 1000);
		if (block && r % 3 == 0) {
			block = realloc(block, size);
		} else {
			free(block);
			block = r % 5 == 0 ? aligned_alloc(64, size) : malloc(size);
		}
		if (!block || malloc_usable_size(block) < size)
			abort();
		block[0] = size;
		block[size / sizeof(size_t) - 1] = size;
		block = __atomic_exchange_n(slot, block, __ATOMIC_ACQ_REL);
		if (block && block[block[0] / sizeof(size_t) - 1] != block[0])
			abort();
		free(block);
	}
	return NULL;
}

static void test_swapping(void **state)
{
	for (int round = 0; round < 60 / SLOWER; round++) {
		pthread_t threads[6];

		for (uintptr_t i = 0; i < 6; i++)
			threads[i] = thread_start(swapper, (void *)(round * 6 + i + 1));
		for (int i = 0; i < 6; i++)
			thread_result(threads[i]);
	}
	for (int i = 0; i < 512; i++)
		free(swaps[i]);
}

/* Large blocks with contents, while others give back whatever is unused. */
static bool trimming; /* atomic */

static void *trimmer(void *argument)
{
	while (__atomic_load_n(&trimming, __ATOMIC_RELAXED))
		malloc_trim(0);
	return NULL;
}

static void *large_user(void *argument)
{
	uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15 | 1;

	for (int i = 0; i < 2000 / SLOWER; i++) {
		uint64_t r = random_next(&random);
		size_t size = 70000 + r % MIB;
		unsigned char *block = r % 3 ? malloc(size) : calloc(1, size);

		if (r % 3 == 0)
			for (size_t at = 0; at < size; at += 512)
				if (block[at])
					abort();
		for (size_t at = 0; at < size; at += 512)
			block[at] = (unsigned char)i;
		if (r % 7 == 0)
			block = realloc(block, size = size / 2 + 70000);
		for (size_t at = 0; at < size; at += 512)
			if (at < size && at < 70000 && block[at] != (unsigned char)i)
				abort();
		free(block);
	}
	return NULL;
}

static void test_trim_beside_use(void **state)
{
	pthread_t trimmers[2], users[3];

	trimming = true;
	for (int i = 0; i < 2; i++)
		trimmers[i] = thread_start(trimmer, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		users[i] = thread_start(large_user, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		thread_result(users[i]);
	__atomic_store_n(&trimming, false, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		thread_result(trimmers[i]);
}

#ifndef __SANITIZE_THREAD__ /* which misses the first thread */
/* A process whose first thread has ended goes on. */
static void *survivor(void *argument)
{
	pthread_t first = *(pthread_t *)argument;

	pthread_join(first, NULL);
	for (int i = 0; i < 100; i++)
		thread_result(thread_start(short_thread, NULL));
	free(argument);
	counts_keep();
	_exit(0);
}

static void leader_ends(void *argument)
{
	pthread_t *self = malloc(sizeof(*self));

	*self = pthread_self();
	thread_start(survivor, self);
	pthread_exit(NULL);
}

static void test_leader_ends(void **state)
{
	struct ending ending = child_run(leader_ends, NULL, 30);

	assert_false(ending.hung);
	assert_int_equal(ending.status, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_producer_consumer),
		cmocka_unit_test(test_only_frees),
		cmocka_unit_test(test_many_threads),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_waiting_threads_are_small),
#endif
		cmocka_unit_test(test_swapping),
		cmocka_unit_test(test_trim_beside_use),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(test_leader_ends),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
