/* SPDX-License-Identifier: MIT */
/* Numbers that are the same in each run: the workloads must be, whatever the allocator. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* 24 bits. Cheap, so that the loop's own cost stays small beside malloc's. */
static inline uint32_t random_next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* A size from `low` up to `high`, each octave equally likely: most are small, as in programs. */
static inline size_t random_size(uint32_t *state, size_t low, size_t high)
{
	size_t octave = low;

	for (uint32_t r = random_next(state) % (uint32_t)__builtin_ctzl(high / low); r; r--)
		octave *= 2;
	return octave + (size_t)random_next(state) % octave;
}

#endif
