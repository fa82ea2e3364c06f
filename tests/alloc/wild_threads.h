/* SPDX-License-Identifier: MIT */
/* Threads that are anywhere inside the allocator at any time. */
#ifndef TESTS_ALLOC_WILD_THREADS_H
#define TESTS_ALLOC_WILD_THREADS_H

#include "common.h"

#define PARENTS 4
#define SHARED	4000

static bool stop; /* atomic */

/* Blocks of the parent's threads, which the child frees; the first word holds the size. */
static size_t *shared[SHARED]; /* atomic */

static inline size_t wild_size(uint64_t r)
{
	return r % 200 == 0 ? 16 + r % 300000 : r % 20 == 0 ? 16 + r % 20000 : 16 + r % 600;
}

/* Allocates, frees, grows, trims, without an end. */
static inline void *wild(void *argument)
{
	uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15 | 1;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t r = random_next(&random);
		size_t size = wild_size(r >> 10), *block = malloc(size);

		if (!block)
			abort();
		block[0] = size;
		block[size / 8 - 1] = ~size;
		if (r % 16 == 0) {
			block = realloc(block, size * 2);
			block[0] = size * 2;
			block[size * 2 / 8 - 1] = ~(size * 2);
		}
		free(__atomic_exchange_n(&shared[(r >> 40) % SHARED], block, __ATOMIC_ACQ_REL));
		if (r % 4096 == 0)
			malloc_trim(0);
	}
	return NULL;
}

#endif
