/* SPDX-License-Identifier: MIT */
/* Sizes at every boundary of the allocator, and contents that show whether a block is whole. */
#ifndef TESTS_ALLOC_BLOCK_SIZES_H
#define TESTS_ALLOC_BLOCK_SIZES_H

#include "common.h"

#include "sizeclass.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* Sizes at every boundary: of the classes, of direct, small, medium, large and huge blocks. */
static size_t sizes[CLASSES * 3 + 32];
static size_t size_count;

/* A group's setup. */
static inline int sizes_make(void **state)
{
	static const size_t edges[] = {
		MEDIUM_MAX, 128 * KIB, MIB, 4 * MIB, 64 * MIB, 65 * MIB, 100 * MIB};

	sizes[size_count++] = 0;
	for (unsigned class = 0; class < CLASSES; class ++)
		for (int delta = -1; delta <= 1; delta++)
			sizes[size_count++] = class_size(class) + delta;
	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		for (int delta = -1; delta <= 1; delta++)
			sizes[size_count++] = edges[i] + delta;
	return 0;
}

/* Of large blocks, only the pages' ends: the tests are not about memory bandwidth. */
static inline size_t step_of(size_t size)
{
	return size > 4 * MIB ? 1000003 : size > MEDIUM_MAX + 1 ? 4093 : 1;
}

static inline void pattern_write(unsigned char *start, size_t from, size_t to, unsigned seed)
{
	for (size_t i = from; i < to; i += step_of(to))
		start[i] = (unsigned char)(i * 31 + seed);
	if (to > from)
		start[to - 1] = (unsigned char)((to - 1) * 31 + seed);
}

/* What pattern_write(start, 0, written, seed) left in the first `size` bytes. */
static inline void pattern_verify(
	const unsigned char *start, size_t size, size_t written, unsigned seed)
{
	for (size_t i = 0; i < size; i += step_of(written))
		if (start[i] != (unsigned char)(i * 31 + seed))
			fail_msg("%p of %zu bytes: damaged at %zu", (void *)start, size, i);
	if (size == written && size)
		assert_int_equal(start[size - 1], (unsigned char)((size - 1) * 31 + seed));
}

#endif
