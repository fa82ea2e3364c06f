/* SPDX-License-Identifier: MIT */
/* Runs of bits: the first bit of a map is the lowest of its first word. */
#ifndef ALLOC_BITMAP_H
#define ALLOC_BITMAP_H

#include "types.h"

/* The bits of a word from `shift` on, `count` of them, 1 to 64. */
static inline uint64_t bitmap_mask(size_t shift, size_t count)
{
	return ~0ULL >> (64 - count) << shift;
}

/* Sets or clears `count` bits. */
static inline void bitmap_set(uint64_t *map, size_t first, size_t count, bool value)
{
	while (count > 0) {
		size_t shift = first % 64, n = 64 - shift < count ? 64 - shift : count;

		if (value)
			map[first / 64] |= bitmap_mask(shift, n);
		else
			map[first / 64] &= ~bitmap_mask(shift, n);
		first += n;
		count -= n;
	}
}

/* How many of `count` bits are set. */
static inline size_t bitmap_count(const uint64_t *map, size_t first, size_t count)
{
	size_t sum = 0;

	while (count > 0) {
		size_t shift = first % 64, n = 64 - shift < count ? 64 - shift : count;

		sum += __builtin_popcountl(map[first / 64] & bitmap_mask(shift, n));
		first += n;
		count -= n;
	}
	return sum;
}

/* Where the next bit of this value is in a map of `size` bits, a multiple of 64; `size`: nowhere. */
static inline size_t bitmap_next(const uint64_t *map, size_t size, size_t from, bool value)
{
	size_t word = from / 64;
	uint64_t rest;

	if (from >= size)
		return size;
	rest = (value ? map[word] : ~map[word]) & ~0ULL << (from % 64);
	while (!rest) {
		if (++word == size / 64)
			return size;
		rest = value ? map[word] : ~map[word];
	}
	return word * 64 + __builtin_ctzl(rest);
}

#endif
