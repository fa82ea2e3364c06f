// SPDX-License-Identifier: MIT
#include "sample.h"

#include "exponential.h"
#include "guard.h"
#include "lock.h"
#include "os.h"
#include "span.h"

#if AP_PROBES

/*
 * From this period on lists are padded. Below, the points in the padding, each a slow path and a
 * draw, would cost more than the refills that are paid in advance save.
 */
#define PADDED_PERIOD (4 * SLICE_SIZE)

/* Refills that are paid at once. While they are made, clock, mail and semaphore are not looked at. */
#define PAID_MAX 256

uint32_t ap_attach;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last_attach; /* under the lock */

void ap_sample_lock(void)
{
	lock_take(&lock);
}

void ap_sample_unlock(void)
{
	lock_give(&lock);
}

static void armed_set(bool armed)
{
	__atomic_store_n(
		&ap_alloc_word.step, armed ? PROBE_STEP_ARMED : PROBE_STEP_IDLE, __ATOMIC_RELAXED);
}

static cold uint32_t sample_arm(void)
{
	uint32_t id;

	/* A child starts afresh: ap_sample_forked(). */
	ap_fork_register();
	ap_sample_lock();
	if (!ap_attach) {
		armed_set(true);
		if (++last_attach == 0)
			last_attach = 1;
		__atomic_store_n(&ap_attach, last_attach, __ATOMIC_RELAXED);
		for (struct ap_heap *heap = __atomic_load_n(&ap_heaps, __ATOMIC_ACQUIRE); heap;
			heap = heap->next)
			for (unsigned i = 0; i < ENTRIES; i++)
				__atomic_store_n(&heap->entry[i], &heap->empty, __ATOMIC_RELAXED);
	}
	id = ap_attach;
	ap_sample_unlock();
	return id;
}

static cold void sample_disarm(void)
{
	ap_sample_lock();
	if (!probe_alloc_enabled()) {
		__atomic_store_n(&ap_attach, 0, __ATOMIC_RELAXED);
		armed_set(false);
		ap_probe_period_reset();
	}
	ap_sample_unlock();
}

static void countdown_draw(struct ap_heap *heap, uint64_t period)
{
	double bytes;

	if (!heap->random)
		heap->random = ap_os_random() | 1;
	bytes = ap_exponential_draw(&heap->random) * (double)period;
	heap->period = period;
	/* Rounded down, it is >= n just when the real number is. */
	heap->countdown = bytes < 0x1p62 ? (int64_t)bytes : (int64_t)1 << 62;
}

/* Puts back on the countdown what was paid in advance and not used. */
static void paid_settle(struct ap_heap *heap)
{
	uint32_t made = heap->granted - (heap->paid < 0 ? 0 : heap->paid), ticks;

	heap->countdown -= (int64_t)made << SLICE_SHIFT;
	heap->granted = heap->paid = 0;
	/* Those that were made count like any: the next that is not paid looks at the clock. */
	if (__builtin_add_overflow(heap->ticks, made, &ticks))
		ticks = UINT32_MAX;
	heap->ticks = ticks;
}

uint32_t ap_sample_enter(struct ap_heap *heap)
{
	uint32_t id;
	uint64_t period;

	paid_settle(heap);
	if (!probe_alloc_enabled()) {
		sample_disarm();
		return 0;
	}
	id = __atomic_load_n(&ap_attach, __ATOMIC_RELAXED);
	if (!id)
		id = sample_arm();
	period = ap_probe_period();
	if (unlikely(heap->attach != id || heap->period != period)) {
		heap->attach = id;
		countdown_draw(heap, period);
	}
	return id;
}

/* Pays as many refills of small spans in advance as the countdown survives. */
static void paid_grant(struct ap_heap *heap)
{
	int64_t refills = heap->period >= PADDED_PERIOD ? heap->countdown >> SLICE_SHIFT : 0;

	heap->granted = heap->paid = refills < PAID_MAX ? refills : PAID_MAX;
}

bool ap_sample_charge_padded(struct ap_heap *heap, struct ap_span *span)
{
	int64_t bytes = (int64_t)span->slices << SLICE_SHIFT;

	if (heap->period < PADDED_PERIOD || heap->countdown < bytes)
		return false;
	heap->countdown -= bytes;
	span->charged = heap->attach;
	paid_grant(heap);
	return true;
}

uint32_t ap_sample_charge(struct ap_heap *heap, struct ap_span *span, uint32_t count)
{
	int64_t bytes = (int64_t)count * span->block_size, before;

	if (likely(ap_sample_charge_padded(heap, span)))
		return count;
	span->charged = heap->attach;
	if (heap->period < PADDED_PERIOD && heap->countdown >= bytes) {
		heap->countdown -= bytes;
	} else {
		before = heap->countdown / span->block_size;
		if (before < count) {
			span->due = heap->attach;
			span->period = heap->period;
			countdown_draw(heap, ap_probe_period());
			return before;
		}
		/* In the padding. What is left of that needs no charge: nothing can be hit. */
		countdown_draw(heap, ap_probe_period());
	}
	paid_grant(heap);
	return count;
}

/* A block of the class from the heap's sampled spans. NULL: no memory. */
static struct ap_block *sampled_block(struct ap_heap *heap, unsigned class)
{
	struct ap_span *span = heap->sampled.first;

	for (; span; span = span->next) {
		if (span->class != class)
			continue;
		if (span_has_local_free(span) || ap_span_carve(span, true))
			return ap_span_take(span);
		span->until -= ap_span_collect(span, false);
		if (span_has_local_free(span))
			return ap_span_take(span);
	}
	span = ap_span_new(heap, class, true);
	if (!span)
		return NULL;
	queue_push_first(&heap->sampled, span);
	ap_span_carve(span, true);
	return ap_span_take(span);
}

void *ap_sample_take(struct ap_heap *heap, struct ap_span *span, size_t align, size_t size)
{
	void *block = ap_guard_alloc(size, align);

	if (likely(!block))
		block = sampled_block(heap, span->class);
	span->due = 0;
	if (block)
		ap_sample_allocated(block, size, span->block_size, span->period);
	return block;
}

uint64_t ap_sample_trial(struct ap_heap *heap, size_t block)
{
	uint64_t period;

	if (likely(probe_idle()) || heap_is_static(heap) || !ap_sample_enter(heap))
		return 0;
	if ((uint64_t)heap->countdown >= block) {
		heap->countdown -= (int64_t)block;
		return 0;
	}
	period = heap->period;
	countdown_draw(heap, ap_probe_period());
	return period;
}

void ap_sample_allocated(const void *pointer, size_t size, size_t block, uint64_t period)
{
	double probability = ap_exponential_cdf((double)block / (double)period);

	if (!probe_alloc_enabled())
		return;
	/* malloc(0) has a block too: it counts as one byte, or it would be an object of no weight.
	 */
	if (size == 0)
		size = 1;
	ap_probe_alloc(pointer, size, (uint64_t)((double)size / probability + 0.5));
}

void ap_sample_freed(const void *pointer)
{
	if (probe_free_enabled())
		ap_probe_free(pointer);
}

void ap_sample_forked(struct ap_heap *heap)
{
	ap_attach = 0;
	armed_set(false);
	heap->attach = heap->granted = heap->paid = 0;
	heap->random = 0;
}

#else

void ap_sample_lock(void)
{
}
void ap_sample_unlock(void)
{
}
uint32_t ap_sample_enter(struct ap_heap *heap)
{
	return 0;
}
bool ap_sample_charge_padded(struct ap_heap *heap, struct ap_span *span)
{
	return true;
}
uint32_t ap_sample_charge(struct ap_heap *heap, struct ap_span *span, uint32_t count)
{
	return count;
}
void *ap_sample_take(struct ap_heap *heap, struct ap_span *span, size_t align, size_t size)
{
	return NULL;
}
uint64_t ap_sample_trial(struct ap_heap *heap, size_t block)
{
	return 0;
}
void ap_sample_allocated(const void *pointer, size_t size, size_t block, uint64_t period)
{
}
void ap_sample_freed(const void *pointer)
{
}
void ap_sample_forked(struct ap_heap *heap)
{
}

#endif
