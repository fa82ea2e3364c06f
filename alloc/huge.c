// SPDX-License-Identifier: MIT
#include "huge.h"

#include "guard.h"
#include "heap.h"
#include "lock.h"
#include "message.h"
#include "meta.h"
#include "os.h"
#include "region.h"
#include "sample.h"
#include "secure.h"
#include "span.h"

#define BUCKETS 256

struct huge {
	char *start;
	size_t size; /* a multiple of the page size */
	bool sampled;
	struct huge *next; /* in its bucket, or of the unused */
};

/* Under the lock, all of it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct huge *buckets[BUCKETS];
static struct huge *unused;
static struct ap_huge_usage usage;

void ap_huge_lock(void)
{
	lock_take(&lock);
}

void ap_huge_unlock(void)
{
	lock_give(&lock);
}

static size_t page_up(size_t size)
{
	return (size + PAGE_SIZE - 1) & -PAGE_SIZE;
}

/* The place in its bucket where a block's entry is linked, or would be. */
static struct huge **huge_find(const void *start)
{
	uintptr_t page = (uintptr_t)start / PAGE_SIZE;
	struct huge **link = &buckets[(page ^ page >> 8 ^ page >> 16) % BUCKETS];

	while (*link && (*link)->start != start)
		link = &(*link)->next;
	return link;
}

static void huge_link(struct huge *huge)
{
	struct huge **link = huge_find(huge->start);

	huge->next = *link;
	*link = huge;
	usage.bytes += huge->size;
	usage.blocks++;
	if (usage.max_bytes < usage.bytes)
		usage.max_bytes = usage.bytes;
	if (usage.max_blocks < usage.blocks)
		usage.max_blocks = usage.blocks;
}

static void huge_unlink(struct huge **link)
{
	struct huge *huge = *link;

	*link = huge->next;
	usage.bytes -= huge->size;
	usage.blocks--;
}

static struct huge *huge_new(void)
{
	struct huge *huge;

	ap_huge_lock();
	huge = unused;
	if (huge)
		unused = huge->next;
	ap_huge_unlock();
	return huge ? huge : ap_meta_alloc(sizeof(*huge));
}

static void huge_drop(struct huge *huge)
{
	ap_huge_lock();
	huge->next = unused;
	unused = huge;
	ap_huge_unlock();
}

/* A mapping whose start is aligned: one that is larger by the alignment, and its ends cut off. */
static char *map_aligned(size_t size, size_t align)
{
	size_t extra = align > PAGE_SIZE ? align - PAGE_SIZE : 0;
	char *start, *aligned;

	if (size + extra < size)
		return NULL;
	start = ap_os_map(size + extra);
	if (!start || extra == 0)
		return start;
	aligned = (char *)(((uintptr_t)start + align - 1) & -align);
	if (aligned > start)
		ap_os_unmap(start, aligned - start);
	if (aligned + size < start + size + extra)
		ap_os_unmap(aligned + size, start + extra - aligned);
	return aligned;
}

static void *huge_alloc(size_t size, size_t align, size_t requested)
{
	struct huge *huge = huge_new();
	uint64_t period;

	if (!huge)
		return NULL;
	huge->size = page_up(size);
	huge->start = map_aligned(huge->size, align);
	if (!huge->start) {
		huge_drop(huge);
		return NULL;
	}
	period = ap_sample_trial(ap_heap, huge->size);
	huge->sampled = period != 0;
	ap_huge_lock();
	huge_link(huge);
	ap_huge_unlock();
	if (period)
		ap_sample_allocated(huge->start, requested, huge->size, period);
	return huge->start;
}

void *ap_large_alloc(size_t size, size_t align, size_t requested, bool *zero)
{
	size_t count, block_size;
	struct ap_span *span;
	bool fresh;
	uint64_t period;
	char *start;

	if (size > PTRDIFF_MAX || align > PTRDIFF_MAX)
		return NULL;
	count = (size + (ap_secret ? PAGE_SIZE : 0) + SLICE_SIZE - 1) >> SLICE_SHIFT;
	if (count == 0)
		count = 1;
	if (count > RUN_MAX || align > RUN_MAX << SLICE_SHIFT) {
		if (zero)
			*zero = true;
		return huge_alloc(size ? size : 1, align, requested);
	}
	block_size = page_up(size ? size : 1);
	period = ap_sample_trial(ap_heap, block_size);
	start = unlikely(period) ? ap_guard_alloc(size, align) : NULL;
	if (unlikely(start)) {
		if (zero)
			*zero = false;
		goto report;
	}
	span = ap_slices_take(count, align > SLICE_SIZE ? align >> SLICE_SHIFT : 1, &fresh);
	if (!span)
		return NULL;
	if (zero)
		*zero = fresh;
	tails_mark(span, 1, count);
	start = span_start(span);
	span->block_size = block_size;
	span->kind = SPAN_LARGE;
	span->slices = count;
	span->sampled = period != 0;
	if (unlikely(ap_secret))
		ap_secure_guard(span);
report:
	if (period)
		ap_sample_allocated(start, requested, block_size, period);
	return start;
}

void ap_large_free(struct ap_span *span, void *pointer)
{
	size_t count = span->slices;

	if (pointer != span_start(span))
		ap_fatal("free of a pointer that is not the start of a block:", pointer,
			span->block_size);
	if (span->sampled)
		ap_sample_freed(pointer);
	if (unlikely(ap_secret) && !ap_secure_unguard(span))
		return;
	for (size_t i = 0; i < count; i++)
		span[i].kind = SPAN_NONE;
	ap_slices_give(span, count);
}

bool ap_huge_free(void *pointer)
{
	struct huge **link, *huge;

	ap_huge_lock();
	link = huge_find(pointer);
	huge = *link;
	if (huge)
		huge_unlink(link);
	ap_huge_unlock();
	if (!huge)
		return false;
	if (huge->sampled)
		ap_sample_freed(pointer);
	ap_os_unmap(huge->start, huge->size);
	huge_drop(huge);
	return true;
}

size_t ap_huge_size(const void *pointer)
{
	struct huge *huge;
	size_t size;

	ap_huge_lock();
	huge = *huge_find(pointer);
	size = huge ? huge->size : 0;
	ap_huge_unlock();
	return size;
}

/*
 * To the profiler a realloc is a free and an allocation, also in place. A block whose sample has
 * ended may stay where it is, since nothing but its flag makes a large block a sampled one. The
 * free is reported before the move: afterwards the old address may be another thread's.
 */
static bool resize_trial(void *pointer, size_t size, size_t block)
{
	uint64_t period = ap_sample_trial(ap_heap, block);

	if (period)
		ap_sample_allocated(pointer, size, block, period);
	return period != 0;
}

void *ap_large_resize(struct ap_span *span, void *pointer, size_t size)
{
	size_t count = (size + SLICE_SIZE - 1) >> SLICE_SHIFT, old = span->slices;

	if (size > PTRDIFF_MAX || pointer != span_start(span) || count > RUN_MAX || ap_secret)
		return NULL;
	if (count > old) {
		if (!ap_slices_extend(span, old, count - old))
			return NULL;
		tails_mark(span, old, count);
	}
	if (span->sampled)
		ap_sample_freed(pointer);
	if (count < old) {
		for (size_t i = count; i < old; i++)
			span[i].kind = SPAN_NONE;
		ap_slices_give(span + count, old - count);
	}
	span->slices = count;
	span->block_size = page_up(size);
	span->sampled = resize_trial(pointer, size, span->block_size);
	return pointer;
}

void *ap_huge_resize(void *pointer, size_t size)
{
	struct huge **link, *huge;
	void *moved = NULL;

	if (size > PTRDIFF_MAX)
		return NULL;
	/* Locked all the way: between the move and the new entry, others could get the old address.
	 */
	ap_huge_lock();
	link = huge_find(pointer);
	huge = *link;
	if (!huge)
		goto out;
	if (huge->sampled)
		ap_sample_freed(pointer);
	huge->sampled = false;
	moved = ap_os_remap(huge->start, huge->size, page_up(size), true);
	if (moved) {
		huge_unlink(link);
		huge->start = moved;
		huge->size = page_up(size);
		huge_link(huge);
	}
out:
	ap_huge_unlock();
	if (moved)
		huge->sampled = resize_trial(moved, size, page_up(size));
	return moved;
}

struct ap_huge_usage ap_huge_count(void)
{
	struct ap_huge_usage copy;

	ap_huge_lock();
	copy = usage;
	ap_huge_unlock();
	return copy;
}
