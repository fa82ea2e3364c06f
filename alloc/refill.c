// SPDX-License-Identifier: MIT
/*
 * The slow path of malloc for blocks that come from spans: where the next blocks of a class are to
 * be had, and what becomes of a span whose blocks come back.
 */
#include <errno.h>

#include "abandon.h"
#include "fastpath.h"
#include "heap.h"
#include "huge.h"
#include "mailbox.h"
#include "message.h"
#include "os.h"
#include "region.h"
#include "sample.h"
#include "span.h"

/* How often a heap lets go of its idle spans. */
#define IDLE_NS ((uint64_t)500 * 1000 * 1000)

/*
 * A full span comes back to its queue when this many of its blocks are free: with fewer, it would
 * commute between queue and list, a slow path for each block.
 */
static uint32_t full_threshold(const struct ap_span *span)
{
	return span->capacity < 32 ? 1 : span->capacity / 16;
}

static void entries_set(struct ap_heap *heap, unsigned class, struct ap_span *span)
{
	unsigned last = class_last_entry(class);

	for (unsigned i = class_first_entry(class); i <= last; i++)
		__atomic_store_n(&heap->entry[i], span, __ATOMIC_RELAXED);
}

/* Nothing is allocated from the span by the fast path any more. */
static void entry_leave(struct ap_heap *heap, const struct ap_span *span)
{
	if (load_relaxed(heap->entry[class_last_entry(span->class)]) == span)
		entries_set(heap, span->class, &heap->empty);
}

/* Releases a span that has no block out. */
static void span_dismiss(struct ap_heap *heap, struct ap_span *span)
{
	queue_remove(span->sampled ? &heap->sampled : &heap->queue[span->class], span);
	if (span->state == SPAN_IDLE)
		heap->idle--;
	entry_leave(heap, span);
	heap->spans--;
	ap_span_release(span);
}

/* The last block of a queued span has come back. */
static void span_idle(struct ap_heap *heap, struct ap_span *span)
{
	if (span == heap->queue[span->class].first || span_is_mailed(span))
		return;
	if (heap->idle > heap->spans / 16 + 2) {
		span_dismiss(heap, span);
		return;
	}
	/* To the end: spans in use are used first, so that idle ones can be given back. */
	queue_remove(&heap->queue[span->class], span);
	queue_push_last(&heap->queue[span->class], span);
	span->state = SPAN_IDLE;
	heap->idle++;
}

static void queue_push_before_idle(struct ap_queue *queue, struct ap_span *span)
{
	struct ap_span *first = queue->first;

	if (!first || queue->last->state != SPAN_IDLE) {
		queue_push_last(queue, span);
		return;
	}
	/* Right behind the first, which is in use: there may be many idle ones to walk past. */
	span->prev = first;
	span->next = first->next;
	if (first->next)
		first->next->prev = span;
	else
		queue->last = span;
	first->next = span;
}

/* A full span has `out` blocks out by now: back to its queue with it. */
static void span_requeue(struct ap_heap *heap, struct ap_span *span, uint32_t out)
{
	queue_remove(&heap->full, span);
	span->state = SPAN_QUEUED;
	span->floor = 0;
	span->until = out;
	queue_push_before_idle(&heap->queue[span->class], span);
	if (out == 0)
		span_idle(heap, span);
}

/*
 * Whether a refill has nothing to see to but the refill: no clock, no mail, no profiler. All in one
 * test, of whether the count of refills overflows: it is time for clock and mail then, and a
 * profiler makes each refill count for many (probe.h). A refill that is not calm is not counted.
 */
static inline bool heap_is_calm(struct ap_heap *heap)
{
	uint32_t ticks;

	if (unlikely(__builtin_add_overflow(heap->ticks, probe_word(), &ticks)))
		return false;
	heap->ticks = ticks;
	return true;
}

/* Exposes all that local_free has. */
static inline void span_expose_all(struct ap_span *span)
{
	span->free = span->local_free;
	span->local_free = &span->sentinel;
	span->until = span->carved;
}

void ap_span_event(struct ap_span *span)
{
	struct ap_heap *heap = ap_heap;

	ap_span_verify(span);
	/* A thread that frees what it has just allocated: its one span goes round and round. */
	if (load_relaxed(heap->entry[class_last_entry(span->class)]) == span &&
		span->state == SPAN_QUEUED && heap_is_calm(heap)) {
		span_expose_all(span);
		return;
	}
	if (span->state == SPAN_FULL)
		span_requeue(heap, span, span->floor);
	else if (!span->sampled)
		span_idle(heap, span);
	else if (!span_is_mailed(span))
		span_dismiss(heap, span);
}

/* `count` blocks were collected from a span that came by mail. */
static void span_returned(struct ap_heap *heap, struct ap_span *span, uint32_t count)
{
	uint32_t out = span_out(span) - count;

	if (span->state == SPAN_FULL) {
		if (span->carved - out >= full_threshold(span))
			span_requeue(heap, span, out);
		else
			span->until = out - span->floor;
		return;
	}
	span->until = out;
	if (out == 0 && span->state != SPAN_IDLE) {
		if (span->sampled)
			span_dismiss(heap, span);
		else
			span_idle(heap, span);
	}
}

static cold void mailbox_drain(struct ap_heap *heap)
{
	struct ap_span *span = ap_mailbox_take(heap, NULL), *next;

	for (; span; span = next) {
		next = span->mail_next;
		if (__atomic_load_n(&span->heap, __ATOMIC_RELAXED) == heap)
			span_returned(heap, span, ap_span_collect(span, true));
		else
			ap_mailbox_post(span);
	}
}

static void heap_tick(struct ap_heap *heap)
{
	uint64_t now = ap_os_now();

	if (now - heap->idle_at >= IDLE_NS) {
		heap->idle_at = now;
		ap_heap_trim(heap, false);
	}
	ap_slices_poll(now);
}

void ap_heap_trim(struct ap_heap *heap, bool all)
{
	struct ap_span *span, *before;

	if (all)
		mailbox_drain(heap);
	else if (heap->idle == 0)
		return;
	for (unsigned class = 0; class < CLASSES; class ++) {
		/* Idle spans stand at the end. */
		for (span = heap->queue[class].last; span; span = before) {
			before = span->prev;
			if (all)
				ap_span_conceal(span);
			else if (span->state != SPAN_IDLE)
				break;
			if (span->until == 0 && !span_is_mailed(span))
				span_dismiss(heap, span);
		}
	}
}

/* Exposes the first blocks of local_free. */
static void span_expose_some(struct ap_span *span, uint32_t count)
{
	struct ap_block *last = span->local_free;

	if (count == 0)
		return;
	span->free = last;
	for (uint32_t i = 1; i < count; i++) {
		if (unlikely(last->key != span_key(span)))
			ap_fatal("free block was written to:", last, span->block_size);
		last = span_follow(span, last);
	}
	span->local_free = span_follow(span, last);
	block_set_next(last, &span->sentinel);
	span->until += count;
}

/* All that the span exposes has been charged. */
static inline void span_set_paid(const struct ap_heap *heap, struct ap_span *span)
{
	if (heap->paid > 0 && span->slices == 1)
		span->state = SPAN_PAID;
}

/*
 * Charges what the first span in a queue exposed before this attach. Not together with local_free,
 * however near the point is: which blocks are charged must not depend on the countdown.
 */
static cold void span_charge_exposed(struct ap_heap *heap, struct ap_span *span)
{
	uint32_t out = span->until, count;

	if (!ap_sample_charge_padded(heap, span)) {
		ap_span_conceal(span);
		count = out - span->until;
		span_expose_some(span, ap_sample_charge(heap, span, count));
	}
	if (span->due != heap->attach)
		span_set_paid(heap, span);
}

/*
 * Whether a span that has only blocks left that were never cut lets the next one of its queue go
 * first, which has some that were. Without it, threads that take over each other's spans cut up all
 * of each before they look at the next (threads-server: 16 MiB for 13, and 5% more time).
 */
static bool span_yields(const struct ap_span *span)
{
	const struct ap_span *next = span->next;

	return next && next->state != SPAN_IDLE && span_has_local_free(next);
}

/* Exposes blocks of the first span in a queue. False: it has none, or lets the next go first. */
static inline __attribute__((always_inline)) bool span_expose(
	struct ap_heap *heap, struct ap_span *span, uint32_t attach)
{
	uint32_t count, exposed;

	if (!span_has_local_free(span)) {
		span->until -= ap_span_collect(span, false);
		if (!span_has_local_free(span) &&
			(span_yields(span) || !ap_span_carve(span, false)))
			return false;
	}
	if (span->state == SPAN_IDLE)
		heap->idle--;
	span->state = SPAN_QUEUED;
	if (likely(!attach)) {
		span_expose_all(span);
		return true;
	}
	count = span->carved - span->until;
	exposed = ap_sample_charge(heap, span, count);
	if (likely(exposed == count)) {
		span_expose_all(span);
		span_set_paid(heap, span);
	} else {
		span_expose_some(span, exposed);
	}
	return true;
}

/*
 * The first span of its queue is done for now. It is no entry any more either, whether or not the
 * call goes on to serve another: it may take a sample, or find no memory.
 */
static void span_step_back(struct ap_heap *heap, struct ap_span *span)
{
	struct ap_queue *queue = &heap->queue[span->class];
	uint32_t threshold = full_threshold(span);

	entry_leave(heap, span);
	queue_remove(queue, span);
	if (span->carved < span->capacity) {
		queue_push_before_idle(queue, span);
		return;
	}
	queue_push_first(&heap->full, span);
	span->state = SPAN_FULL;
	span->floor = span->until - threshold;
	span->until = threshold;
}

/* A span for a queue that is empty: from the mail, an orphan, or a fresh one. NULL: no memory. */
static struct ap_span *queue_extend(struct ap_heap *heap, unsigned class)
{
	struct ap_span *span;

	if (mailbox_has_mail(heap)) {
		mailbox_drain(heap);
		if (heap->queue[class].first)
			return heap->queue[class].first;
	}
	span = ap_adopt_class(heap, class);
	if (!span)
		span = ap_span_new(heap, class, false);
	if (span)
		queue_push_first(&heap->queue[class], span);
	return span;
}

/* A block of what the first span in a queue exposes, which is where malloc goes from now on. */
static inline void *span_serve(struct ap_heap *heap, unsigned class, struct ap_span *span)
{
	struct ap_block *block = span->free;

	if (load_relaxed(heap->entry[class_last_entry(class)]) != span && likely(!ap_secret))
		entries_set(heap, class, span);
	ap_span_verify(span);
	if (unlikely(block->key != span_key(span)))
		ap_fatal("free block was written to:", block, span->block_size);
	block->key = 0;
	span->free = span_follow(span, block);
	return block;
}

/* With `attach` constant 0, the compiler leaves out all that has to do with sampling. */
static inline __attribute__((always_inline)) void *queue_alloc(
	struct ap_heap *heap, unsigned class, size_t align, size_t size, uint32_t attach)
{
	struct ap_queue *queue = &heap->queue[class];
	struct ap_span *span;

	for (;;) {
		span = queue->first;
		if (!span) {
			span = queue_extend(heap, class);
			if (!span)
				return NULL;
		}
		if (attach) {
			if (span_has_free(span) && span->charged != attach)
				span_charge_exposed(heap, span);
			if (!span_has_free(span) && span->due == attach) {
				void *sample = ap_sample_take(heap, span, align, size);

				if (sample)
					return sample;
			}
		}
		if (span_has_free(span))
			break;
		if (!span_expose(heap, span, attach))
			span_step_back(heap, span);
	}
	return span_serve(heap, class, span);
}

/*
 * While somebody listens: a refill that has been paid in advance, of the next span that has blocks.
 * NULL: there is more to do.
 */
static void *queue_alloc_paid(struct ap_heap *heap, unsigned class)
{
	struct ap_queue *queue = &heap->queue[class];
	struct ap_span *span;

	if (class_slices(class) > 1 || !sample_is_paid_now(heap))
		return NULL;
	while ((span = queue->first) && !span_has_free(span) && span->due != heap->attach) {
		if (span_expose(heap, span, 0)) {
			span->charged = heap->attach;
			span->state = SPAN_PAID;
			return span_serve(heap, class, span);
		}
		span_step_back(heap, span);
	}
	heap->paid++;
	return NULL;
}

/* Sees to what has kept the heap from being calm. */
static cold void *queue_alloc_attended(
	struct ap_heap *heap, unsigned class, size_t align, size_t size)
{
	uint32_t ticks = heap->ticks;

	heap->ticks = ticks == UINT32_MAX ? TICKS_START : ticks + 1;
	if (mailbox_has_mail(heap))
		mailbox_drain(heap);
	if (ticks == UINT32_MAX)
		heap_tick(heap);
	return queue_alloc(heap, class, align, size, probe_idle() ? 0 : ap_sample_enter(heap));
}

/*
 * A block of a class from the heap's queues. The request was for `size` bytes; the class's blocks
 * are aligned to `align`.
 */
static void *heap_alloc(struct ap_heap *heap, unsigned class, size_t align, size_t size)
{
	void *block;

	if (likely(heap_is_calm(heap)))
		return queue_alloc(heap, class, align, size, 0);
	block = queue_alloc_paid(heap, class);
	return likely(block) ? block : queue_alloc_attended(heap, class, align, size);
}

/*
 * A block for `size` bytes, of which `requested` were asked for, aligned to `align`: which the size
 * is chosen for, if it is more than 16. NULL: no memory.
 */
static void *malloc_class(size_t size, size_t align, size_t requested)
{
	struct ap_heap *heap = ap_heap;

	if (unlikely(heap_is_static(heap)))
		heap = ap_heap_start();
	/* A thread past its destructor has no heap, and makes none that nobody would clean up. */
	if (unlikely(!heap) || size > MEDIUM_MAX)
		return ap_large_alloc(size, align, requested, NULL);
	return heap_alloc(heap, class_of(size + !size), align, requested);
}

/*
 * The common refill, of an entry that has run dry: what the thread has freed since the last one. An
 * entry is the first of its queue, so it is SPAN_QUEUED or SPAN_PAID. NULL: there is more to do.
 */
static inline __attribute__((always_inline)) void *entry_refill(
	struct ap_heap *heap, struct ap_span *span)
{
	void *block;

	if (unlikely(span_has_free(span)))
		ap_fatal("free block was written to:", span->free, span->block_size);
	__atomic_store_n(&span->sentinel.key, SENTINEL_KEY, __ATOMIC_RELAXED);
	if (!span_has_local_free(span) ||
		!(likely(span->state == SPAN_QUEUED) ? heap_is_calm(heap) : sample_is_paid(heap)))
		return NULL;
	span_expose_all(span);
	block = span_pop(span);
	if (unlikely(!block))
		ap_fatal("free block was written to:", span->free, span->block_size);
	return block;
}

void *ap_malloc_slow(size_t size, struct ap_span *span)
{
	struct ap_heap *heap = ap_heap;
	void *block;

	if (!span && size <= MEDIUM_MAX) {
		span = heap_entry(DIRECT_ENTRIES + class_of(size) - FINE_CLASSES);
		block = span_pop(span);
		if (likely(block))
			return block;
	}
	if (span) {
		block = entry_refill(heap, span);
		if (likely(block))
			return block;
	}
	block = malloc_class(size, 16, size);
	if (unlikely(!block))
		errno = ENOMEM;
	return block;
}

void *ap_malloc_aligned_slow(size_t multiple, size_t align, size_t size, struct ap_span *span)
{
	void *block = entry_refill(ap_heap, span);

	return likely(block) ? block : malloc_class(multiple, align, size);
}
