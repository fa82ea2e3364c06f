// SPDX-License-Identifier: MIT
/* The aligned half of the interface, and what asks about blocks. */
#include "fastpath.h"

#include <errno.h>

#include "huge.h"

void *aligned_alloc(size_t align, size_t size);
void *memalign(size_t align, size_t size);
int posix_memalign(void **result, size_t align, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);
void *reallocarray(void *pointer, size_t count, size_t size);
size_t malloc_usable_size(void *pointer);
void free_sized(void *pointer, size_t size);
void free_aligned_sized(void *pointer, size_t align, size_t size);
void cfree(void *pointer);
void *realloc(void *pointer, size_t size);

/*
 * Spans start at multiples of a slice, so a block whose size is a multiple of the alignment is
 * aligned. The class of a multiple of the alignment has such a size: where the steps between
 * classes are smaller than the alignment, the multiple is itself a class (test_sizeclass tries
 * all). Leaves errno alone.
 */
static inline void *aligned_block(size_t align, size_t size)
{
	struct ap_span *span;
	size_t multiple;
	void *block;

	if (unlikely(size > MEDIUM_MAX || align > MEDIUM_MAX))
		return ap_large_alloc(size, align, size, NULL);
	if (align < 1 << GRAIN_SHIFT)
		align = 1 << GRAIN_SHIFT;
	multiple = size > align ? (size + align - 1) & -align : align;
	if (multiple <= DIRECT_MAX)
		span = heap_entry(multiple >> GRAIN_SHIFT);
	else
		span = heap_entry(DIRECT_ENTRIES + class_of(multiple) - FINE_CLASSES);
	block = span_pop(span);
	if (likely(block))
		return block;
	return ap_malloc_aligned_slow(multiple, align, size, span);
}

void *ap_malloc_aligned(size_t align, size_t size)
{
	void *block = aligned_block(align, size);

	if (unlikely(!block))
		errno = ENOMEM;
	return block;
}

static bool is_power_of_two(size_t value)
{
	return value && !(value & (value - 1));
}

/* glibc takes any alignment here and rounds it up. */
exported void *memalign(size_t align, size_t size)
{
	if (align > (size_t)PTRDIFF_MAX + 1) {
		errno = EINVAL;
		return NULL;
	}
	while (!is_power_of_two(align))
		align += align ? align & -align : 1;
	return ap_malloc_aligned(align, size);
}

exported void *aligned_alloc(size_t align, size_t size)
{
	if (!is_power_of_two(align)) {
		errno = EINVAL;
		return NULL;
	}
	return ap_malloc_aligned(align, size);
}

/* Returns the error. errno is for the others, but glibc's sets it when there is no memory. */
exported int posix_memalign(void **result, size_t align, size_t size)
{
	void *block;

	if (!is_power_of_two(align) || align % sizeof(void *))
		return EINVAL;
	block = aligned_block(align, size);
	if (unlikely(!block))
		return errno = ENOMEM;
	*result = block;
	return 0;
}

exported void *valloc(size_t size)
{
	return ap_malloc_aligned(PAGE_SIZE, size);
}

exported void *pvalloc(size_t size)
{
	if (size > PTRDIFF_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return ap_malloc_aligned(PAGE_SIZE, (size + PAGE_SIZE - 1) & -PAGE_SIZE);
}

exported void *reallocarray(void *pointer, size_t count, size_t size)
{
	if (__builtin_mul_overflow(count, size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(pointer, size);
}

exported size_t malloc_usable_size(void *pointer)
{
	return pointer ? ap_block_size(pointer) : 0;
}

exported void free_sized(void *pointer, size_t size)
{
	free_fast(pointer);
}

exported void free_aligned_sized(void *pointer, size_t align, size_t size)
{
	free_fast(pointer);
}

exported void cfree(void *pointer)
{
	free_fast(pointer);
}

/* Other names of the same, which glibc exports and old programs call. */
#define alias(name) exported __attribute__((alias(#name), copy(name)))
void free(void *pointer);
void *calloc(size_t count, size_t size);
void *__libc_memalign(size_t align, size_t size) alias(memalign);
void *__libc_valloc(size_t size) alias(valloc);
void *__libc_pvalloc(size_t size) alias(pvalloc);
void __libc_cfree(void *pointer) alias(cfree);
int __posix_memalign(void **result, size_t align, size_t size) alias(posix_memalign);
