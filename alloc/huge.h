/* SPDX-License-Identifier: MIT */
/*
 * Blocks that have no class. Large ones, up to 64 MiB, are spans of one block: anybody may free
 * them, and their slices stay in the region for the next. Huge ones are mappings of their own,
 * found by a hash of their address.
 */
#ifndef ALLOC_HUGE_H
#define ALLOC_HUGE_H

#include "types.h"

/*
 * A block of `size` bytes whose address is a multiple of `align` (a power of two), counted as one
 * of `requested` bytes. *zero says whether it is known to be zero; it may be NULL. NULL: no memory.
 */
void *ap_large_alloc(size_t size, size_t align, size_t requested, bool *zero);

/* Frees a large block. Aborts if `pointer` is not its start. */
void ap_large_free(struct ap_span *span, void *pointer);

/* The same for a huge one. False: it is none. */
bool ap_huge_free(void *pointer);

/* The bytes that may be used at a huge block; 0: it is none. */
size_t ap_huge_size(const void *pointer);

/*
 * Makes a large or huge block `size` bytes long (more than MEDIUM_MAX) if that can be done without
 * copying. Returns its address, which for a huge one may be another; NULL: it is as it was.
 */
void *ap_large_resize(struct ap_span *span, void *pointer, size_t size);
void *ap_huge_resize(void *pointer, size_t size);

/* Huge blocks, for statistics: now, and the most there ever were at once of each. */
struct ap_huge_usage {
	size_t bytes, blocks;
	size_t max_bytes, max_blocks;
};

struct ap_huge_usage ap_huge_count(void);

/* Held across fork. */
void ap_huge_lock(void);
void ap_huge_unlock(void);

#endif
