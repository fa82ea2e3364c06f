// SPDX-License-Identifier: MIT
#include "abandon.h"

#include "lock.h"
#include "span.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ap_queue abandoned[CLASSES]; /* spans of sampled blocks stand at the end */
static uint32_t counts[CLASSES]; /* atomic: spans in each that are not of sampled blocks */

void ap_abandon_lock(void)
{
	lock_take(&lock);
}

void ap_abandon_unlock(void)
{
	lock_give(&lock);
}

void ap_abandon(struct ap_span *span)
{
	unsigned class = span->class;

	ap_abandon_lock();
	span->until += span->floor;
	span->floor = 0;
	span->state = SPAN_ABANDONED;
	if (span->sampled) {
		queue_push_last(&abandoned[class], span);
	} else {
		queue_push_first(&abandoned[class], span);
		__atomic_fetch_add(&counts[class], 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&span->owner, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&span->heap, NULL, __ATOMIC_RELEASE);
	ap_abandon_unlock();
}

static void adopt(struct ap_heap *heap, struct ap_span *span)
{
	queue_remove(&abandoned[span->class], span);
	if (!span->sampled)
		__atomic_fetch_sub(&counts[span->class], 1, __ATOMIC_RELAXED);
	span->state = SPAN_QUEUED;
	heap->spans++;
	__atomic_store_n(&span->heap, heap, __ATOMIC_RELEASE);
	__atomic_store_n(&span->owner, heap->owner | span_flags(span), __ATOMIC_RELAXED);
}

struct ap_span *ap_adopt_class(struct ap_heap *heap, unsigned class)
{
	struct ap_span *span;

	if (likely(__atomic_load_n(&counts[class], __ATOMIC_RELAXED) == 0))
		return NULL;
	ap_abandon_lock();
	span = abandoned[class].first;
	if (span && span->sampled)
		span = NULL;
	if (span)
		adopt(heap, span);
	ap_abandon_unlock();
	return span;
}

bool ap_adopt_span(struct ap_heap *heap, struct ap_span *span)
{
	bool adopted;

	ap_abandon_lock();
	adopted = !__atomic_load_n(&span->heap, __ATOMIC_RELAXED);
	if (adopted)
		adopt(heap, span);
	ap_abandon_unlock();
	return adopted;
}
