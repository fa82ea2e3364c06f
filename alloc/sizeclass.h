/* SPDX-License-Identifier: MIT */
/*
 * Size classes. Steps of 16 bytes up to 128, then eight steps a doubling up to 8 KiB and four up to
 * 64 KiB: at most an eighth, and a fifth, of a block is lost to rounding.
 */
#ifndef ALLOC_SIZECLASS_H
#define ALLOC_SIZECLASS_H

#include "types.h"

#define GRAIN_SHIFT 4	  /* every block is a multiple of 16 bytes, and aligned so */
#define DIRECT_MAX  1024  /* sizes that malloc looks up by their number of grains */
#define SMALL_MAX   8192  /* blocks of a span of one slice */
#define MEDIUM_MAX  65536 /* blocks of spans; beyond, a span has one block */

#define FINE_CLASSES   32 /* 16 ... 1024 */
#define MIDDLE_CLASSES 24 /* 1152 ... 8192 */
#define COARSE_CLASSES 12 /* 10240 ... 65536 */
#define CLASSES	       (FINE_CLASSES + MIDDLE_CLASSES + COARSE_CLASSES)
#define DIRECT_ENTRIES (DIRECT_MAX / 16 + 1) /* by grains, 0 included */
#define ENTRIES	       (DIRECT_ENTRIES + CLASSES - FINE_CLASSES)

/* The class of a request of 1 <= size <= MEDIUM_MAX bytes. */
static inline unsigned class_of(size_t size)
{
	size_t last = size - 1;
	unsigned top;

	if (size <= 128)
		return last >> GRAIN_SHIFT;
	top = 63 - __builtin_clzl(last); /* size is in (2^top, 2^(top+1)] */
	if (size <= SMALL_MAX)
		return 8 + (top - 7) * 8 + ((last >> (top - 3)) & 7);
	return FINE_CLASSES + MIDDLE_CLASSES + (top - 13) * 4 + ((last >> (top - 2)) & 3);
}

/* The block size of a class. */
static inline size_t class_size(unsigned class)
{
	unsigned step;

	if (class < 8)
		return (class + 1) << GRAIN_SHIFT;
	if (class < FINE_CLASSES + MIDDLE_CLASSES) {
		step = class - 8;
		return (size_t)(9 + step % 8) << (step / 8 + 4);
	}
	step = class - FINE_CLASSES - MIDDLE_CLASSES;
	return (size_t)(5 + step % 4) << (step / 4 + 11);
}

/* The entries of a heap's fast path that serve a class: first to last. */
static inline unsigned class_first_entry(unsigned class)
{
	if (class >= FINE_CLASSES)
		return DIRECT_ENTRIES + class - FINE_CLASSES;
	return class == 0 ? 0 : (class_size(class - 1) >> GRAIN_SHIFT) + 1;
}

static inline unsigned class_last_entry(unsigned class)
{
	if (class >= FINE_CLASSES)
		return DIRECT_ENTRIES + class - FINE_CLASSES;
	return class_size(class) >> GRAIN_SHIFT;
}

/* How many slices a span of the class has: the fewest for eight blocks that lose 1/32 at most. */
static inline unsigned class_slices(unsigned class)
{
	size_t size = class_size(class);
	unsigned slices = (size * 8 + SLICE_SIZE - 1) >> SLICE_SHIFT;

	if (size <= SMALL_MAX)
		return 1;
	while ((slices << SLICE_SHIFT) % size > slices << (SLICE_SHIFT - 5))
		slices++;
	return slices;
}

#endif
