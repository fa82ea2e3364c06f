// SPDX-License-Identifier: MIT
#include "heap.h"

#include <pthread.h>

#include "abandon.h"
#include "lock.h"
#include "mailbox.h"
#include "meta.h"
#include "span.h"

/*
 * Thread destructors run in rounds, in an order that nobody controls, and those of others allocate
 * and free. Ours asks to be called again until the last round but one.
 */
#define EXIT_ROUNDS (4 /* PTHREAD_DESTRUCTOR_ITERATIONS */ - 1)

/*
 * Limits of parking, see heap_park(): how many heaps, and how many spans and bytes each may have. A
 * program whose threads have ended goes without 4 MiB at most.
 */
#define PARKED_HEAPS 8
#define PARKED_SPANS 64
#define PARKED_BYTES ((size_t)512 * 1024)

/* Every entry leads to an empty span. The span's sentinel is never a valid block. */
struct ap_heap ap_heap_none = {
	.entry = {[0 ... ENTRIES - 1] = &ap_heap_none.empty},
	.empty = {.free = &ap_heap_none.empty.sentinel,
		.local_free = &ap_heap_none.empty.sentinel,
		.sentinel = {.key = SENTINEL_KEY}},
};
__thread struct ap_heap *ap_heap __attribute__((tls_model("initial-exec"))) = &ap_heap_none;
/* The thread is past its destructor, and gets no heap any more. */
static __thread bool ended __attribute__((tls_model("initial-exec")));

struct ap_heap *ap_heaps;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ap_heap *waiting; /* heaps whose threads have ended */
static struct ap_heap *parked;	/* those that have kept their spans */
static unsigned parked_count;
static bool key_made;
static pthread_key_t key;

void ap_heap_lock(void)
{
	lock_take(&lock);
}

void ap_heap_unlock(void)
{
	lock_give(&lock);
}

static void span_part(struct ap_queue *queue, struct ap_span *span)
{
	queue_remove(queue, span);
	ap_span_conceal(span);
	span->until -= ap_span_collect(span, false);
	if (span_out(span) == 0 && !span_is_mailed(span))
		ap_span_release(span);
	else
		ap_abandon(span);
}

static size_t queue_bytes(const struct ap_queue *queue)
{
	size_t bytes = 0;

	for (const struct ap_span *span = queue->first; span; span = span->next)
		bytes += (size_t)span->carved * span->block_size;
	return bytes;
}

/* The bytes that have been cut in a heap's spans. */
static size_t heap_bytes(const struct ap_heap *heap)
{
	size_t bytes = queue_bytes(&heap->full);

	for (unsigned class = 0; class < CLASSES; class ++)
		bytes += queue_bytes(&heap->queue[class]);
	return bytes;
}

static void queue_own(struct ap_queue *queue, uintptr_t owner)
{
	for (struct ap_span *span = queue->first; span; span = span->next)
		__atomic_store_n(&span->owner, owner | span_flags(span), __ATOMIC_RELAXED);
}

/* Heap and spans get another owner. Under the lock, together with parking and its end. */
static void heap_own(struct ap_heap *heap, uintptr_t owner)
{
	for (unsigned class = 0; class < CLASSES; class ++)
		queue_own(&heap->queue[class], owner);
	queue_own(&heap->full, owner);
	heap->owner = owner;
}

/*
 * A small heap waits whole, with spans, entries and an open mailbox, so that threads which come and
 * go by the thousand do not build one each. Its spans' owner is the heap's own address meanwhile:
 * nobody's thread pointer, as the old one soon is another thread's. False: too large, or enough
 * wait.
 */
static bool heap_park(struct ap_heap *heap)
{
	bool room;

	if (heap->sampled.first || heap->spans > PARKED_SPANS || heap_bytes(heap) > PARKED_BYTES)
		return false;
	ap_heap_lock();
	room = parked_count < PARKED_HEAPS;
	if (room) {
		heap_own(heap, (uintptr_t)heap);
		parked_count++;
		heap->next_free = parked;
		parked = heap;
	}
	ap_heap_unlock();
	return room;
}

/* Takes out the heap that was parked last. NULL: there is none. Under the lock. */
static struct ap_heap *parked_take(void)
{
	struct ap_heap *heap = parked;

	if (heap) {
		parked = heap->next_free;
		parked_count--;
	}
	return heap;
}

void ap_heap_forget_parked(void)
{
	parked = NULL;
	parked_count = 0;
}

/* Its spans are released or abandoned, and the heap waits for another thread. */
static void heap_dissolve(struct ap_heap *heap)
{
	struct ap_span *span, *next;

	/* What has come back by mail first: a span that is in a mailbox cannot be released. */
	ap_heap_trim(heap, true);
	for (unsigned class = 0; class < CLASSES; class ++)
		while (heap->queue[class].first)
			span_part(&heap->queue[class], heap->queue[class].first);
	while (heap->full.first)
		span_part(&heap->full, heap->full.first);
	while (heap->sampled.first)
		span_part(&heap->sampled, heap->sampled.first);
	for (span = ap_mailbox_take(heap, MAILBOX_CLOSED); span; span = next) {
		next = span->mail_next;
		ap_mailbox_post(span);
	}
	ap_heap_lock();
	heap->owner = 0;
	heap->next_free = waiting;
	waiting = heap;
	ap_heap_unlock();
}

/* The thread ends. */
static void heap_end(void *value)
{
	struct ap_heap *heap = value;

	if (++heap->exit_rounds < EXIT_ROUNDS && pthread_setspecific(key, heap) == 0)
		return;
	ap_heap = &ap_heap_none;
	ended = true;
	if (!heap_park(heap))
		heap_dissolve(heap);
}

void ap_heap_release_parked(void)
{
	struct ap_heap *heap;

	for (;;) {
		ap_heap_lock();
		heap = parked_take();
		/* It is nobody's for a moment; what others free still goes to its mailbox. */
		if (heap)
			heap_own(heap, OWNER_GONE);
		ap_heap_unlock();
		if (!heap)
			return;
		heap_dissolve(heap);
	}
}

static struct ap_heap *heap_new(void)
{
	struct ap_heap *heap = ap_meta_alloc(sizeof(*heap));

	if (!heap)
		return NULL;
	heap->empty.free = heap->empty.local_free = &heap->empty.sentinel;
	heap->empty.sentinel.key = SENTINEL_KEY;
	for (unsigned i = 0; i < ENTRIES; i++)
		heap->entry[i] = &heap->empty;
	heap->next = ap_heaps;
	__atomic_store_n(&ap_heaps, heap, __ATOMIC_RELEASE);
	return heap;
}

static struct ap_heap *waiting_take(void)
{
	struct ap_heap *heap = waiting;

	waiting = heap->next_free;
	return heap;
}

/* A heap that has been dissolved becomes as good as new: its entries lead to spans that it has
 * given up. */
static void heap_renew(struct ap_heap *heap)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		__atomic_store_n(&heap->entry[i], &heap->empty, __ATOMIC_RELAXED);
	heap->owner = thread_pointer();
	heap->spans = heap->idle = 0;
	heap->ticks = TICKS_START;
	__atomic_store_n(&heap->mailbox, NULL, __ATOMIC_RELEASE);
}

struct ap_heap *ap_heap_start(void)
{
	struct ap_heap *heap;
	bool whole;

	if (ended)
		return NULL;
	ap_heap_lock();
	if (!key_made)
		key_made = pthread_key_create(&key, heap_end) == 0;
	heap = parked_take();
	whole = heap != NULL;
	if (whole)
		heap_own(heap, thread_pointer());
	else
		heap = waiting ? waiting_take() : heap_new();
	ap_heap_unlock();
	if (!heap)
		return NULL;
	if (!whole)
		heap_renew(heap);
	heap->exit_rounds = 0;
	heap->attach = heap->granted = heap->paid = 0;
	ap_heap = heap;
	/* It may allocate, now that the heap is in place. */
	if (key_made)
		pthread_setspecific(key, heap);
	return heap;
}
