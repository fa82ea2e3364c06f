/* SPDX-License-Identifier: MIT */
/*
 * The fast paths, for malloc.c and operators.c to build their entry points from, and the slow paths
 * that they fall into.
 */
#ifndef ALLOC_FASTPATH_H
#define ALLOC_FASTPATH_H

#include "heap.h"
#include "region.h"
#include "span.h"

/*
 * A block for a request that the fast path could not serve. `span` is the entry that it tried, NULL
 * for none. NULL: no memory, errno is ENOMEM.
 */
void *ap_malloc_slow(size_t size, struct ap_span *span) __attribute__((noinline));

/*
 * The same for an alignment: `multiple` is `size` rounded up to what is a multiple of it. Leaves
 * errno alone.
 */
void *ap_malloc_aligned_slow(size_t multiple, size_t align, size_t size, struct ap_span *span)
	__attribute__((noinline));

/* A free that is not that of one of the thread's own small blocks. */
void ap_free_slow(void *pointer) __attribute__((noinline));

/* The bytes that may be used at `pointer`; aborts if it is no block. */
size_t ap_block_size(const void *pointer);

/* A block whose address is a multiple of `align`, a power of two. NULL: no memory (errno). */
void *ap_malloc_aligned(size_t align, size_t size);

/*
 * Pops the block of an entry. Its key becomes 0 if it was right; if not, the list has ended (the
 * sentinel's key is never right) or was overwritten. One instruction checks, tests for the end and
 * clears. NULL: to the slow path.
 */
static inline __attribute__((always_inline)) void *span_pop(struct ap_span *span)
{
	struct ap_block *block = span->free;

	if (unlikely(!block_take(block, span)))
		return NULL;
	span->free = block->next;
	return block;
}

static inline __attribute__((always_inline)) struct ap_span *heap_entry(size_t index)
{
	return load_relaxed(ap_heap->entry[index]);
}

static inline __attribute__((always_inline)) void *malloc_fast(size_t size)
{
	struct ap_span *span;
	void *block;

	if (unlikely(size > DIRECT_MAX))
		return ap_malloc_slow(size, NULL);
	span = heap_entry((size + 15) >> GRAIN_SHIFT);
	block = span_pop(span);
	if (unlikely(!block))
		return ap_malloc_slow(size, span);
	return block;
}

/*
 * The common case takes one compare each to know that the pointer is in the region, that the span
 * is this thread's and has no flags, that the pointer is the start of a block, and that the block
 * is not free already.
 */
static inline __attribute__((always_inline)) void free_fast(void *pointer)
{
	struct ap_block *block = pointer;
	size_t slice = (uintptr_t)pointer >> SLICE_SHIFT;
	struct ap_span *span;

	if (unlikely(slice >= load_relaxed(ap_table.limit)))
		goto slow;
	span = &ap_table.spans[slice];
	if (unlikely(load_relaxed(span->owner) != thread_pointer() ||
		     !span_has_start(span, pointer)))
		goto slow;
	if (unlikely(block_may_be_free(block, span)) && block->key == (uintptr_t)span)
		goto slow;
	block->next = span->local_free;
	block->key = (uintptr_t)span;
	span->local_free = block;
	if (unlikely(--span->until == 0))
		ap_span_event(span);
	return;
slow:
	ap_free_slow(pointer);
}

#endif
