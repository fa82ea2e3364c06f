// SPDX-License-Identifier: MIT
/*
 * Every sampled block's free is reported once, before its memory can be handed out again, whoever
 * frees it and however; and after a detach nothing is left of it. The listener aborts where a live
 * sample is allocated again, which is what a late or a missing report leads to.
 */
#include <sys/prctl.h>

#include <allocprof/probe.h>

#include "common.h"
#include "listener.h"

#define SHARED 512

static void *shared[SHARED]; /* atomic */

static size_t random_size(uint64_t *seed)
{
	uint32_t r = random_next(seed);

	return r % 100 == 0 ? 1 + r % 300000 : r % 10 == 0 ? 1 + r % 20000 : 1 + r % 600;
}

/* Allocates, reallocates, exchanges with other threads, and ends with its blocks freed by others.
 */
static void *worker(void *argument)
{
	uint64_t seed = 1 + (uint64_t)(uintptr_t)argument * 2654435761u;
	void *own[64] = {NULL};

	for (int i = 0; i < 20000; i++) {
		void **at = &own[random_next(&seed) % 64];

		switch (random_next(&seed) % 8) {
		case 0:
			*at = realloc(*at, random_size(&seed));
			break;
		case 1:
			if (*at)
				*at = realloc(*at, malloc_usable_size(*at));
			break;
		case 2:
			free(*at);
			*at = aligned_alloc(128, random_size(&seed));
			break;
		case 3:
		case 4:
			*at = __atomic_exchange_n(
				&shared[random_next(&seed) % SHARED], *at, __ATOMIC_ACQ_REL);
			break;
		default:
			free(*at);
			*at = malloc(random_size(&seed));
		}
	}
	for (int i = 0; i < 64; i++) {
		void *old = __atomic_exchange_n(
			&shared[random_next(&seed) % SHARED], own[i], __ATOMIC_ACQ_REL);

		free(old);
	}
	return NULL;
}

/*
 * glibc keeps the stacks of ended threads, and with each a block that it has allocated for the
 * thread: which may be a sample, and stays live. Small stacks all fit in its cache, so that after a
 * first round (setup) no more are allocated.
 */
static pthread_attr_t small_stack;

static void workers_run(int count, int salt)
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], &small_stack, worker,
					 (void *)(intptr_t)(salt + i)),
			0);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void shared_free(void)
{
	for (int i = 0; i < SHARED; i++)
		free(__atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL));
}

static void test_all_frees_are_reported(void **state)
{
	listener_attach(20000);
	for (int round = 0; round < 4; round++)
		workers_run(8, round * 8 + 1);
	assert_true(listener_live() > 0); /* what is in `shared` */
	shared_free();
	assert_int_equal(listener_live(), 0);
	assert_int_equal(listener_unknown_frees(), 0);
	listener_detach();
}

/* Blocks sampled in one attach and freed in the next: unknown there, and no harm. */
static void test_frees_of_an_earlier_attach(void **state)
{
	void *blocks[1000];
	uint64_t unknown = listener_unknown_frees(), sampled;

	listener_attach(1000);
	for (int i = 0; i < 1000; i++)
		blocks[i] = malloc(100);
	sampled = listener_live();
	assert_true(sampled > 20);
	listener_detach();
	listener_forget();
	listener_attach(1 << 30);
	for (int i = 0; i < 1000; i++)
		free(blocks[i]);
	assert_int_equal(listener_unknown_frees() - unknown, sampled);
	listener_detach();
}

/* Without a listener nothing fires, also not for blocks that were sampled. */
static void test_silence_after_detach(void **state)
{
	void *blocks[1000];
	uint64_t fired;

	listener_attach(1000);
	for (int i = 0; i < 1000; i++)
		blocks[i] = malloc(100);
	listener_detach();
	fired = listener_fired();
	for (int i = 0; i < 1000; i++)
		free(blocks[i]);
	for (int i = 0; i < 100000; i++)
		free(malloc(i % 3000));
	assert_int_equal(listener_fired(), fired);
	listener_forget();
}

/* Realloc of a sampled block is a free and an allocation, in place too. */
static void test_realloc_of_a_sample(void **state)
{
	static const size_t sizes[] = {40, 3000, 20000, 200000, 100 << 20};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		uint64_t fired, live;
		void *block;

		listener_attach(1); /* every block is a sample, from the first slow path on */
		free(malloc(1 << 20));
		block = malloc(sizes[k]);
		live = listener_live();
		fired = listener_fired();
		block = realloc(block, sizes[k] - 1);
		assert_int_equal(listener_fired() - fired, 2);
		assert_int_equal(listener_live(), live);
		listener_attach((uint64_t)1 << 50); /* no block is */
		listener_detach();
		/* The heap's countdown was drawn with the old period; one block passes it. */
		free(malloc(2 << 20));
		free(malloc(64));
		block = realloc(block, sizes[k]);
		listener_detach();
		listener_forget();
		free(block);
	}
}

/* A block of malloc(0) is an object: it counts as one byte. */
static void test_size_zero(void **state)
{
	struct site site = {0};
	void *block;

	listener_attach(1);
	free(malloc(1 << 20)); /* a slow path: from here on, every block is a sample */
	listener_site = &site;
	block = malloc(0);
	listener_site = NULL;
	assert_int_equal(site.samples, 1);
	assert_int_equal(site.weight, 1);
	free(block);
	assert_int_equal(listener_live(), 0);
	listener_detach();
}

/* The child's frees are its own: the parent's samples stay live. */
static void test_fork(void **state)
{
	void *blocks[1000];
	uint64_t live;
	int status;
	pid_t child;

	listener_attach(1000);
	for (int i = 0; i < 1000; i++)
		blocks[i] = malloc(100);
	live = listener_live();
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 1000; i++)
			free(blocks[i]);
		if (listener_live() != 0)
			_exit(1);
		for (int i = 0; i < 100000; i++)
			free(malloc(100));
		counts_keep();
		_exit(listener_live() != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(listener_live(), live);
	for (int i = 0; i < 1000; i++)
		free(blocks[i]);
	assert_int_equal(listener_live(), 0);
	listener_detach();
}

/* Writes to the key of freed blocks, sampled at *(uint64_t *)period, and allocates again. */
static void write_after_free(void *period)
{
	char *volatile blocks[200];

	listener_attach(*(uint64_t *)period);
	free(malloc(1 << 20));
	for (int i = 0; i < 200; i++)
		blocks[i] = malloc(500);
	/* Every other one, so that no span is given back. */
	for (int i = 0; i < 200; i += 2)
		free(blocks[i]);
	for (int i = 0; i < 200; i += 2)
		memset(blocks[i], 0x41, 8);
	for (int i = 0; i < 200; i++)
		blocks[i] = malloc(500);
}

/* Found in sampled blocks, and in lists that are cut for a sample, as in others. */
static void test_write_after_free(void **state)
{
	static uint64_t periods[] = {1, 1000, 5000, 20000, 1 << 20};

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		struct ending ending = child_run(write_after_free, &periods[i], 20);

		assert_true(WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGABRT);
		assert_non_null(strstr(ending.stderr_, "allocprof: free block was written to: 0x"));
	}
}

static bool chaos_ended; /* atomic */

static void *attacher(void *argument)
{
	uint64_t seed = 1;

	while (!__atomic_load_n(&chaos_ended, __ATOMIC_ACQUIRE)) {
		listener_attach(500 << random_next(&seed) % 12);
		usleep(random_next(&seed) % 3000);
		listener_detach();
		usleep(random_next(&seed) % 500);
	}
	return NULL;
}

/*
 * Attaches come and go while threads do, with 0, 1 or 2 listeners. Frees go unreported while nobody
 * listens, so the listener must not mind a sample that is allocated again; between the rounds it
 * forgets, lest its table fill up.
 */
static void test_attach_and_detach_in_the_middle(void **state)
{
	pthread_t attachers[2];

	listener_tolerate(true);
	pthread_create(&attachers[0], &small_stack, attacher, NULL);
	pthread_create(&attachers[1], &small_stack, attacher, NULL);
	for (int round = 0; round < 60; round++) {
		workers_run(8, round * 8 + 1000);
		listener_forget();
	}
	__atomic_store_n(&chaos_ended, true, __ATOMIC_RELEASE);
	pthread_join(attachers[0], NULL);
	pthread_join(attachers[1], NULL);
	shared_free();
	listener_forget();
	listener_tolerate(false);
	/* And it still samples as it should. */
	listener_attach(1000);
	workers_run(4, 5000);
	shared_free();
	assert_int_equal(listener_live(), 0);
	listener_detach();
}

static size_t resident(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return (size_t)pages * 4096;
}

/* 20 MiB in blocks of every class, and what they took. */
static size_t footprint(void **blocks, int count)
{
	size_t before = resident();

	for (int i = 0; i < count; i++) {
		blocks[i] = malloc(16 + (size_t)i * 37 % 2000);
		memset(blocks[i], 1, 16 + (size_t)i * 37 % 2000);
	}
	return resident() - before;
}

/*
 * The sampled spans are given back as they empty: after attaches in which every size was sampled,
 * the process is as small as before. And while attached at 512 KiB, they take at most 1% of what
 * lives.
 */
static void test_memory(void **state)
{
	const int count = 40000;
	void **blocks = calloc(count, sizeof(*blocks));
	size_t plain, sampled, start, end;

	/* A page that is touched where all had been given back would be a huge one again. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	footprint(blocks, count);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
	malloc_trim(0);
	start = resident();
	plain = footprint(blocks, count);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
	malloc_trim(0);
	listener_attach(512 << 10);
	sampled = footprint(blocks, count);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
	for (int round = 0; round < 5; round++) {
		listener_attach(4096);
		footprint(blocks, count);
		for (int i = 0; i < count; i++)
			free(blocks[i]);
		listener_detach();
	}
	assert_int_equal(listener_live(), 0);
	listener_detach();
	assert_int_not_equal(listener_period(), AP_PERIOD_DEFAULT);
	footprint(blocks, count);
	for (int i = 0; i < count; i++)
		free(blocks[i]);
	assert_int_equal(listener_period(), AP_PERIOD_DEFAULT);
	malloc_trim(0);
	end = resident();
	printf("40 MiB take %zu KiB, %zu KiB while attached; %+ld KiB are left after all\n",
		plain >> 10, sampled >> 10, ((long)end - (long)start) / 1024);
	assert_true(sampled < plain + plain / 100 + (256 << 10));
	/* A page here and there: for the entries of the table of headers, say. */
	assert_true(end < start + (128 << 10));
	free(blocks);
}

/*
 * While samples are taken in between, spans stay what they are: what the allocator counts as
 * allocated is what this thread holds. Wrong counts would keep spans for ever.
 */
static void test_counts(void **state)
{
	enum { SLOTS = 3000 };
	static struct {
		char *block;
		size_t size;
	} slots[SLOTS];
	size_t before, held = 0;
	uint64_t seed = 7;

	listener_attach(256 << 10);
	free(malloc(1));
	before = mallinfo2().uordblks;
	for (int i = 0; i < 1000000; i++) {
		uint32_t r = random_next(&seed), at = r % SLOTS;

		held -= slots[at].size;
		free(slots[at].block);
		slots[at].size =
			r / SLOTS % 8 < (i / 50000 % 2 ? 5 : 7) ? 256 << random_next(&seed) % 4 : 0;
		slots[at].block = slots[at].size ? malloc(slots[at].size) : NULL;
		held += slots[at].size;
		if (i % 64 == 0)
			assert_int_equal(mallinfo2().uordblks - before, held);
	}
	for (int i = 0; i < SLOTS; i++)
		free(slots[i].block);
	assert_int_equal(mallinfo2().uordblks, before);
	listener_detach();
}

static int setup(void **state)
{
	pthread_attr_init(&small_stack);
	pthread_attr_setstacksize(&small_stack, 256 << 10);
	workers_run(16, 100);
	shared_free();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_frees_are_reported),
		cmocka_unit_test(test_frees_of_an_earlier_attach),
		cmocka_unit_test(test_silence_after_detach),
		cmocka_unit_test(test_realloc_of_a_sample),
		cmocka_unit_test(test_size_zero),
		cmocka_unit_test(test_write_after_free),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_attach_and_detach_in_the_middle),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
