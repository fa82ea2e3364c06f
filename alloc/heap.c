/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <pthread.h>

#include "abandon.h"
#include "lock.h"
#include "mailbox.h"
#include "meta.h"
#include "region.h"
#include "sample.h"
#include "span.h"

/*
 * Thread destructors run in rounds, in an order that nobody controls, and those of others allocate
 * and free. Ours asks to be called again until the last round but one.
 */
#define EXIT_ROUNDS (4 /* PTHREAD_DESTRUCTOR_ITERATIONS */ - 1)

/* A heap whose every entry leads to an empty span. The span's sentinel is never a valid block. */
#define EMPTY_HEAP(name)                                      \
	{                                                     \
		.entry = {[0 ... ENTRIES - 1] = &name.empty}, \
		.empty = {.free = &name.empty.sentinel,       \
			.local_free = &name.empty.sentinel,   \
			.sentinel = {.key = SENTINEL_KEY}},   \
	}

struct ap_heap ap_heap_none = EMPTY_HEAP(ap_heap_none);
struct ap_heap ap_heap_ended = EMPTY_HEAP(ap_heap_ended);
__thread struct ap_heap *ap_heap __attribute__((tls_model("initial-exec"))) = &ap_heap_none;

struct ap_heap *ap_heaps;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ap_heap *waiting; /* heaps whose threads have ended */
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

/* The thread ends: its spans are released or abandoned, and the heap waits for another thread. */
static void heap_end(void *value)
{
	struct ap_heap *heap = value;
	struct ap_span *span, *next;

	if (++heap->exit_rounds < EXIT_ROUNDS && pthread_setspecific(key, heap) == 0)
		return;
	ap_heap = &ap_heap_ended;
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

struct ap_heap *ap_heap_start(void)
{
	struct ap_heap *heap;

	if (ap_heap == &ap_heap_ended)
		return NULL;
	ap_heap_lock();
	if (!key_made)
		key_made = pthread_key_create(&key, heap_end) == 0;
	heap = waiting;
	if (heap)
		waiting = heap->next_free;
	else
		heap = heap_new();
	ap_heap_unlock();
	if (!heap)
		return NULL;
	/* A recycled heap's entries lead to spans that its last thread has given up. */
	for (unsigned i = 0; i < ENTRIES; i++)
		__atomic_store_n(&heap->entry[i], &heap->empty, __ATOMIC_RELAXED);
	heap->owner = thread_pointer();
	__atomic_store_n(&heap->ticks, TICKS_START, __ATOMIC_RELAXED);
	heap->spans = heap->idle = 0;
	heap->exit_rounds = 0;
	heap->attach = heap->granted = heap->paid = 0;
	__atomic_store_n(&heap->mailbox, NULL, __ATOMIC_RELEASE);
	ap_heap = heap;
	/* May allocate: the heap is in place. */
	if (key_made)
		pthread_setspecific(key, heap);
	ap_fork_register();
	return heap;
}
