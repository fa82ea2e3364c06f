// SPDX-License-Identifier: MIT
/*
 * Threads that allocate, reallocate and free blocks of all sizes, their own and each other's, and
 * come and go; every block is filled with a pattern of its own, which is verified before it ends.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SHARED 1024 /* blocks that any thread may take over */
#define OWN    512
#ifdef __SANITIZE_THREAD__
#define STEPS 4000
#else
#define STEPS 60000
#endif

struct block {
	unsigned char *start;
	size_t size;
	unsigned char seed;
};

static struct block *shared[SHARED]; /* atomic */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mostly small, now and then up to 1 MiB, rarely up to 100 MiB. */
static size_t random_size(uint64_t *state)
{
	uint64_t r = random_next(state);

	switch (r % 1000) {
	case 0:
		return (r >> 10) % (r % 50000 == 0 ? 100 << 20 : 1 << 20);
	case 1 ... 20:
		return (r >> 10) % (64 << 10);
	case 21 ... 150:
		return (r >> 10) % 8192;
	default:
		return (r >> 10) % 512;
	}
}

/* Of a large block, only the ends are written: the test is not about memory bandwidth. */
static void block_fill(struct block *block, size_t from)
{
	for (size_t i = from; i < block->size; i++)
		if (i < 4096 || i + 64 >= block->size)
			block->start[i] = block->seed + i * 7;
}

static void block_verify(const struct block *block, size_t upto)
{
	for (size_t i = 0; i < block->size && i < upto; i++)
		if ((i < 4096 || i + 64 >= block->size) &&
			block->start[i] != (unsigned char)(block->seed + i * 7)) {
			fprintf(stderr, "block %p of %zu bytes: damaged at %zu\n", block->start,
				block->size, i);
			abort();
		}
}

static struct block *block_new(uint64_t *state)
{
	struct block *block = malloc(sizeof(*block));
	uint64_t how = random_next(state) % 10;
	size_t align = 16;

	block->size = random_size(state);
	block->seed = random_next(state);
	if (how == 0) {
		align = (size_t)16 << random_next(state) % 10;
		block->start = aligned_alloc(align, block->size);
	} else if (how == 1) {
		block->start = calloc(1, block->size);
		for (size_t i = 0; i < block->size; i++)
			if (block->start[i]) {
				fprintf(stderr, "calloc of %zu bytes: not zero at %zu\n",
					block->size, i);
				abort();
			}
	} else {
		block->start = malloc(block->size);
	}
	if ((uintptr_t)block->start % align || malloc_usable_size(block->start) < block->size)
		abort();
	block_fill(block, 0);
	return block;
}

static void block_end(struct block *block)
{
	if (!block)
		return;
	block_verify(block, SIZE_MAX);
	free(block->start);
	free(block);
}

static void block_resize(struct block *block, uint64_t *state)
{
	size_t old = block->size, size = random_size(state) + 1;

	/* What is verified must have been written: the end of a large block moves. */
	if (old > 4096 || size > 4096)
		return;
	block->start = realloc(block->start, size);
	block->size = old < size ? old : size;
	block_verify(block, SIZE_MAX);
	block->size = size;
	block_fill(block, old < size ? old : size);
}

static void *worker(void *argument)
{
	uint64_t state = (uintptr_t)argument * 0x9e3779b97f4a7c15 | 1;
	struct block *own[OWN] = {NULL};

	for (int i = 0; i < STEPS; i++) {
		uint64_t r = random_next(&state);
		struct block **slot = &own[r % OWN];

		if (r >> 60 == 0 && *slot) {
			block_resize(*slot, &state);
		} else if (r >> 61 == 1) {
			*slot = __atomic_exchange_n(
				&shared[(r >> 20) % SHARED], *slot, __ATOMIC_ACQ_REL);
		} else {
			block_end(*slot);
			*slot = block_new(&state);
		}
	}
	for (int i = 0; i < OWN; i++)
		block_end(own[i]);
	return NULL;
}

static void test_stress(void **state)
{
	pthread_t threads[8];

	for (int round = 0; round < 6; round++) {
		for (uintptr_t i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, worker,
						 (void *)(round * 8 + i + 1)),
				0);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < SHARED; i++)
		block_end(shared[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stress)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
