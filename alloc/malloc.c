// SPDX-License-Identifier: MIT
/* malloc, free, calloc, realloc. */
#include "fastpath.h"

#include <errno.h>
#include <string.h>

#include "guard.h"
#include "huge.h"
#include "message.h"
#include "sample.h"

void *malloc(size_t size);
void free(void *pointer);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);

exported void *malloc(size_t size)
{
	return malloc_fast(size);
}

exported void free(void *pointer)
{
	free_fast(pointer);
}

/* The first slice's header of the span that the pointer is in; NULL: it is in none. */
static inline struct ap_span *span_of(const void *pointer)
{
	struct ap_span *span = span_at(pointer);

	if (span && span->kind == SPAN_TAIL)
		span -= span->slices;
	if (unlikely(!span || span->kind == SPAN_NONE))
		return NULL;
	return span;
}

/* Nothing below changes errno, as free must not: see os.h. */
void ap_free_slow(void *pointer)
{
	struct ap_span *span = span_of(pointer);

	if (likely(span && (span->kind == SPAN_SMALL || span->kind == SPAN_MEDIUM))) {
		ap_span_free(span, pointer);
	} else if (span && span->kind == SPAN_LARGE) {
		ap_large_free(span, pointer);
	} else if (span) {
		ap_guard_free(span, pointer);
	} else if (pointer && !ap_huge_free(pointer)) {
		ap_fatal("free of a pointer that malloc never returned:", pointer, 0);
	}
}

size_t ap_block_size(const void *pointer)
{
	struct ap_span *span = span_of(pointer);
	size_t size = span ? span->block_size : ap_huge_size(pointer);

	if (unlikely(!size))
		ap_fatal("not a block of this allocator:", pointer, 0);
	return size;
}

static cold void *calloc_large(size_t size)
{
	bool zero;
	void *block = ap_large_alloc(size, 1, size, &zero);

	if (!block)
		errno = ENOMEM;
	else if (!zero)
		memset(block, 0, size);
	return block;
}

exported void *calloc(size_t count, size_t size)
{
	void *block;

	if (unlikely(__builtin_mul_overflow(count, size, &size))) {
		errno = ENOMEM;
		return NULL;
	}
	if (unlikely(size > MEDIUM_MAX))
		return calloc_large(size);
	block = malloc_fast(size);
	if (likely(block))
		memset(block, 0, size);
	return block;
}

/*
 * Whether a block of spans can stay where it is when `size` bytes are asked for: if the size has
 * the same class, or is not less than half of it. The profiler is told of another allocation all
 * the same, so with a listener a trial is due; a sampled block, and one that the trial hits, must
 * move, since spans hold either samples or others.
 */
static bool block_can_stay(struct ap_span *span, size_t size)
{
	if (size > span->block_size || size < span->block_size / 2)
		return false;
	return likely(probe_idle()) && !span->sampled;
}

static void *realloc_move(void *pointer, size_t old_size, size_t size)
{
	void *block = malloc(size);

	if (unlikely(!block))
		return NULL;
	memcpy(block, pointer, old_size < size ? old_size : size);
	free(pointer);
	return block;
}

exported void *realloc(void *pointer, size_t size)
{
	struct ap_span *span;
	size_t old_size;
	void *block;

	if (!pointer)
		return malloc(size);
	/* As in glibc: realloc(p, 0) frees, and has nothing to return. */
	if (size == 0) {
		free(pointer);
		return NULL;
	}
	span = span_of(pointer);
	if (!span) {
		old_size = ap_huge_size(pointer);
		if (!old_size)
			ap_fatal("realloc of a pointer that malloc never returned:", pointer, 0);
		if (size > MEDIUM_MAX && (block = ap_huge_resize(pointer, size)))
			return block;
		return realloc_move(pointer, old_size, size);
	}
	old_size = span->block_size;
	if (span->kind == SPAN_LARGE) {
		if (unlikely(pointer != span_start(span)))
			ap_fatal("realloc of a pointer that is not the start of a block:", pointer,
				old_size);
		if (size > MEDIUM_MAX && size >= old_size / 2 &&
			(block = ap_large_resize(span, pointer, size)))
			return block;
	} else if (span->kind != SPAN_GUARDED) {
		ap_span_check(span, pointer);
		if (block_can_stay(span, size))
			return pointer;
	}
	return realloc_move(pointer, old_size, size);
}

/* Other names of the same, which glibc exports and some programs call. */
#define alias(name) exported __attribute__((alias(#name), copy(name)))
void *__libc_malloc(size_t size) alias(malloc);
void __libc_free(void *pointer) alias(free);
void *__libc_calloc(size_t count, size_t size) alias(calloc);
void *__libc_realloc(void *pointer, size_t size) alias(realloc);
