// SPDX-License-Identifier: MIT
#include "span.h"

#include "message.h"
#include "os.h"
#include "region.h"
#include "secure.h"

/* Spans from which on a heap is large: 4 MiB. */
#define LARGE_HEAP 64

/*
 * The first span of a class is the last of most: it has small pages. A heap gets them once for each
 * class, also for another thread, as slices that have been given back are everybody's.
 */
static struct ap_span *slices_take(struct ap_heap *heap, unsigned class, bool sampled, bool *fresh)
{
	size_t slices = class_slices(class);
	unsigned bit = class * 2 + sampled;
	uint64_t mask = 1ULL << bit % 64;

	if (heap->had[bit / 64] & mask)
		return ap_slices_take(slices, 1, fresh);
	heap->had[bit / 64] |= mask;
	return ap_slices_take_sparse(slices, fresh);
}

struct ap_span *ap_span_new(struct ap_heap *heap, unsigned class, bool sampled)
{
	size_t slices = class_slices(class), size = class_size(class);
	bool fresh;
	struct ap_span *span = slices_take(heap, class, sampled, &fresh);

	if (!span)
		return NULL;
	tails_mark(span, 1, slices);
	span->free = span->local_free = &span->sentinel;
	span->sentinel.key = SENTINEL_KEY;
	span->until = span->floor = span->carved = span->limit = 0;
	span->charged = span->due = 0;
	span->block_size = size;
	span->magic = span_magic(size, slices > 1);
	span->capacity = (slices << SLICE_SHIFT) / size;
	span->class = class;
	span->kind = slices == 1 ? SPAN_SMALL : SPAN_MEDIUM;
	span->state = SPAN_QUEUED;
	span->fresh = fresh;
	span->sampled = sampled;
	span->slices = slices;
	span->prev = span->next = NULL;
	__atomic_store_n(&span->remote, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&span->heap, heap, __ATOMIC_RELAXED);
	if (unlikely(ap_secret))
		ap_secure_guard(span);
	__atomic_store_n(&span->owner, heap->owner | span_flags(span), __ATOMIC_RELEASE);
	heap->spans++;
	return span;
}

void ap_span_release(struct ap_span *span)
{
	size_t slices = span->slices;

	__atomic_store_n(&span->owner, 0, __ATOMIC_RELAXED);
	if (unlikely(ap_secret) && !ap_secure_unguard(span))
		return;
	for (size_t i = 0; i < slices; i++)
		span[i].kind = SPAN_NONE;
	ap_slices_give(span, slices);
}

/*
 * A page's worth first, so that a process with a few blocks of many sizes stays small (the keys
 * touch the memory), and by quarters; in a large heap as much again as there is, so that a class
 * soon has long lists, and its pages are had many at a time. Blocks of a page and more one by one:
 * what is not on a list is not used in turn with the rest.
 */
bool ap_span_carve(struct ap_span *span, bool one)
{
	uint32_t left = span->capacity - span->carved, count = PAGE_SIZE / span->block_size;
	uint32_t part = span->heap->spans < LARGE_HEAP ? span->carved / 4 : span->carved;
	size_t size = span->block_size;
	struct ap_block *block, *next;

	if (left == 0)
		return false;
	if (count < part)
		count = part;
	if (size >= PAGE_SIZE || one)
		count = 1;
	if (count > left)
		count = left;
	if (unlikely(ap_secret))
		return ap_secure_carve(span, count);
	block = (struct ap_block *)(span_start(span) + (size_t)span->carved * size);
	/* The keys are about to touch these pages one by one. */
	if (span->fresh && size < PAGE_SIZE && count * size >= 2 * PAGE_SIZE)
		ap_os_populate(block, count * size);
	span_set_carved(span, span->carved + count);
	next = span->local_free;
	span->local_free = block;
	for (; count > 1; count--) {
		struct ap_block *after = (struct ap_block *)((char *)block + size);

		block->key = (uintptr_t)span;
		block->next = after;
		block = after;
	}
	block->key = (uintptr_t)span;
	block->next = next;
	return true;
}

static bool list_has(const struct ap_span *span, const struct ap_block *list, const void *pointer)
{
	uint32_t steps = span->capacity;

	for (; list && list != &span->sentinel && steps > 0; list = block_next(list), steps--)
		if (list == pointer)
			return true;
	return false;
}

/* Whether a block is free already. Only the owner can walk the lists. */
static bool block_is_free(struct ap_span *span, const void *pointer)
{
	return list_has(span, span->free, pointer) || list_has(span, span->local_free, pointer) ||
	       list_has(span,
		       span_remote_list(span, __atomic_load_n(&span->remote, __ATOMIC_ACQUIRE)),
		       pointer);
}

/*
 * Puts a list before what local_free has, and looks at its blocks: those that another thread freed
 * when they seemed to be free already can be told now.
 */
static void local_free_prepend(struct ap_span *span, struct ap_block *list)
{
	struct ap_block *last = list, *next;

	for (uint32_t count = 1;; count++) {
		if (unlikely(last->key == ~span_key(span))) {
			if (block_is_free(span, last))
				ap_fatal("double free of", last, span->block_size);
			last->key = span_key(span);
		}
		if (unlikely(last->key != span_key(span)))
			ap_fatal("free block was written to:", last, span->block_size);
		if (unlikely(count > span->carved))
			ap_fatal("double free of", last, span->block_size);
		next = span_follow(span, last);
		if (next == &span->sentinel)
			break;
		last = next;
	}
	block_set_next(last, span->local_free);
	span->local_free = list;
}

uint32_t ap_span_collect(struct ap_span *span, bool from_mailbox)
{
	struct ap_block *list;
	uintptr_t old;

	/* An atomic exchange costs more than all the rest, and mostly there is nothing. */
	if (!from_mailbox && !(__atomic_load_n(&span->remote, __ATOMIC_RELAXED) & REMOTE_LIST))
		return 0;
	/* Whoever takes the span out of its mailbox lets the next remote free post it again. */
	if (from_mailbox)
		old = __atomic_exchange_n(&span->remote, 0, __ATOMIC_ACQ_REL);
	else
		old = __atomic_fetch_and(&span->remote, REMOTE_MAILED, __ATOMIC_ACQUIRE);
	list = span_remote_list(span, old);
	if (list == &span->sentinel)
		return 0;
	/* Another thread has had the blocks in its cache: they are not looked at without need. */
	if (likely(!span_has_local_free(span) && !(old & REMOTE_UNSURE)))
		span->local_free = list;
	else
		local_free_prepend(span, list);
	return old >> REMOTE_SHIFT;
}

void ap_span_conceal(struct ap_span *span)
{
	struct ap_block *last = span->free, *next;
	uint32_t count = 1;

	if (!span_has_free(span))
		return;
	for (; (next = span_follow(span, last)) != &span->sentinel; count++)
		last = next;
	block_set_next(last, span->local_free);
	span->local_free = span->free;
	span->free = &span->sentinel;
	span->until -= count;
}

struct ap_block *ap_span_take(struct ap_span *span)
{
	struct ap_block *block = span->local_free;

	if (unlikely(block->key != span_key(span)))
		ap_fatal("free block was written to:", block, span->block_size);
	span->local_free = span_follow(span, block);
	block->key = 0;
	span->until++;
	return block;
}

bool ap_span_check(struct ap_span *span, void *pointer)
{
	size_t offset = (char *)pointer - span_start(span);
	struct ap_block *block = pointer;
	bool start = span->kind == SPAN_SMALL ? span_has_start(span, pointer)
					      : medium_has_start(span, offset);

	if (unlikely(!start))
		ap_fatal("free of a pointer that is not the start of a block:", pointer,
			span->block_size);
	if (likely(block->key != span_key(span)))
		return true;
	/*
	 * The key is there: free already, unless the program has copied uninitialized memory to
	 * where it is. The owner can tell by its lists.
	 */
	if ((__atomic_load_n(&span->owner, __ATOMIC_RELAXED) & ~OWNER_FLAGS) != thread_pointer())
		return false;
	if (block_is_free(span, pointer))
		ap_fatal("double free of", pointer, span->block_size);
	return true;
}

#if AP_DEBUG

static void verify(bool good, const char *what, const struct ap_span *span)
{
	if (!good)
		ap_fatal(what, span_start(span), span->block_size);
}

/* Walks a list that ends in the sentinel. Returns its length. */
static uint32_t list_verify(const struct ap_span *span, const struct ap_block *list)
{
	uint32_t count = 0;

	for (; list != &span->sentinel; list = block_next(list), count++) {
		size_t offset = (char *)list - span_start(span);

		verify(count < span->carved, "internal: a list without end in the span at", span);
		verify(offset % span->block_size == 0 && offset / span->block_size < span->carved,
			"internal: no block on a list of the span at", span);
		if (list->key != span_key(span) && list->key != ~span_key(span))
			ap_fatal("free block was written to:", list, span->block_size);
	}
	return count;
}

void ap_span_verify(const struct ap_span *span)
{
	uint32_t out = span_out(span);

	verify(span->carved <= span->capacity && out <= span->carved,
		"internal: more blocks than there are in the span at", span);
	verify(span->state != SPAN_IDLE || out == 0, "internal: blocks out of the idle span at",
		span);
	verify(span->state == SPAN_FULL || span->floor == 0, "internal: a floor in the span at",
		span);
	verify(span->free != NULL && span->local_free != NULL, "internal: no lists in the span at",
		span);
	if (AP_DEBUG < 2)
		return;
	verify(list_verify(span, span->local_free) == span->carved - out,
		"internal: local_free is not what is in of the span at", span);
	verify(list_verify(span, span->free) <= out,
		"internal: more exposed than out of the span at", span);
}

#endif
