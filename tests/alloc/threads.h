/* SPDX-License-Identifier: MIT */
/* Threads of tests, and blocks that show whether they are whole. Meant for ThreadSanitizer too. */
#ifndef TESTS_ALLOC_THREADS_H
#define TESTS_ALLOC_THREADS_H

#include "common.h"

#include <sched.h>

#ifdef __SANITIZE_THREAD__
#define SLOWER 10 /* by which the loops are shorter */
#else
#define SLOWER 1
#endif

#define MIB ((size_t)1 << 20)

static inline void *thread_result(pthread_t thread)
{
	void *result = NULL;

	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

static inline pthread_t thread_start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
	return thread;
}

static inline void *block_new(size_t size, unsigned seed)
{
	unsigned char *block = malloc(size);

	if (!block)
		abort();
	memset(block, seed, size);
	return block;
}

static inline void block_end(void *start, size_t size, unsigned seed)
{
	unsigned char *block = start;

	for (size_t i = 0; i < size; i++)
		if (block[i] != (unsigned char)seed) {
			fprintf(stderr, "block %p of %zu bytes: damaged at %zu\n", start, size, i);
			abort();
		}
	free(start);
}

#endif
