/* SPDX-License-Identifier: MIT */
/*
 * The sampler: a Poisson process over the bytes that a process allocates, at no cost to the fast
 * paths. This is the one place that explains it.
 *
 * The process. Throw points on the line of all bytes that a thread is charged for, independently,
 * `period` bytes apart on average: the distances between them are exponential. An allocation that
 * was charged as `block` bytes is a sample if a point falls on it, which has the probability
 *
 *	q = 1 - exp(-block / period),
 *
 * independently of all others. A sample is reported with weight = size / q, so that the sum of the
 * weights over any set of allocations has the expectation sum(q * size / q) = the bytes requested
 * (Horvitz and Thompson), and weight / size estimates the number of objects likewise. Several
 * points on one block make one sample: q allows for it.
 *
 * Charge at exposure. To subtract each allocation from a countdown would cost every malloc some
 * instructions. Instead the slow path charges a whole list of free blocks when it exposes the list
 * to the fast path. A block on an exposed list is handed out at most once before it comes through
 * the slow path again, so each allocation still has exactly one trial; the trials are merely made
 * in another order. An exponential variable has no memory, P(X > a + b | X > a) = P(X > b):
 * whatever has been charged, and in whatever order, the distance from here to the next point is
 * distributed as it always was. So the order does not matter.
 *
 * Cut lists. A list of n blocks of b bytes takes n b off the countdown. If that survives, that is
 * all. If not, the point lies on the k-th block: only the k - 1 blocks before it are exposed, the
 * rest goes back to local_free uncharged, and the span is marked as due a sample. The fast path
 * runs dry exactly where the sample is, the slow path takes it, and what follows is exposed by the
 * same rule. The sample itself is served from another span (below), so the k-th block stays where
 * it was, to be charged again for whoever gets it.
 *
 * Padding. What is charged for a list need not be its length: any bytes behind it that are nobody's
 * change nothing, as long as how many they are does not depend on the countdown, for a point that
 * falls there hits no block and is forgotten. So, unless the period is short, each list of a span
 * is charged as its whole slices. All refills of small spans cost the same then, and the slow path
 * can pay some in advance: as many as the countdown survives, up to a few hundred. To these a refill
 * does nothing but count them, in the place of what it counts without a profiler and with no more
 * instructions; what has not been used is put back on the countdown. A refill that finds none left
 * has to be charged then and there: if it could come back later, the point that is near would hit
 * somebody else's list (seen: 57% too few samples of the class that could).
 *
 * The next countdown is drawn at the cut, not when the sample is taken: other classes are charged
 * in between, and they would be charged against a point that is already spoken for. (Simulated:
 * drawing late over-samples the other classes by 7% and under-samples this one by 6%.) The mark
 * keeps the period that its countdown was drawn with, since q depends on it.
 *
 * Attaches. The kernel raises the semaphore and tells nobody. The first slow path of any thread
 * that sees it *arms* the process: it opens a new attach (a number) and points the fast-path
 * entries of every heap at an empty span, so that the next malloc of each thread, whatever its
 * size, comes to the slow path. That finds blocks exposed that were not charged in this attach
 * (ap_span.charged) and charges them, cutting their list if need be. So every thread's first sample
 * comes at an exponential distance from there, like any other. The stores are relaxed: a thread that
 * overwrites one with its own refill, begun before it could see the semaphore, uses up that list
 * first. A slow path that finds the semaphore at 0 again closes the attach; marks of a closed attach
 * are void, and what was withheld is on local_free like everything else.
 *
 * Another period counts at once: a heap that sees it draws afresh, which the lack of memory allows.
 *
 * Sampled blocks live apart, in spans whose owner word carries a flag, so that free leaves its fast
 * path for them alone by the compare that it makes anyway. All blocks of such a span are samples
 * that are live, so the free of one fires the probe, by whatever thread. Blocks that are too large
 * for a span of several always take the slow path, and are charged there.
 */
#ifndef ALLOC_SAMPLE_H
#define ALLOC_SAMPLE_H

#include "heap.h"
#include "probe.h"

/* The attach that is open; 0: none. Atomic. */
extern uint32_t ap_attach __attribute__((visibility("hidden")));

/*
 * To be called on a slow path when !probe_idle(). Arms or disarms the process, and sees to the
 * heap's countdown. Returns the attach, 0 if nobody listens (any more).
 */
uint32_t ap_sample_enter(struct ap_heap *heap);

/*
 * Whether the refill of a small span (SPAN_PAID) has been paid in advance; if so it is counted.
 * Another period ends that, since the lack of memory allows it, and it should count at once.
 */
static inline bool sample_is_paid(struct ap_heap *heap)
{
#if AP_PROBES
	return likely(heap->period == load_relaxed(ap_period_set)) && likely(--heap->paid >= 0);
#else
	return false;
#endif
}

/*
 * The same on the way to any list of a small span, where what was paid may be left of an attach that
 * is closed: nothing is exposed on the account of that.
 */
static inline bool sample_is_paid_now(struct ap_heap *heap)
{
#if AP_PROBES
	return heap->attach == load_relaxed(ap_attach) && sample_is_paid(heap);
#else
	return false;
#endif
}

/*
 * Charges `count` blocks that are about to be exposed. Returns how many may be; if fewer, the span
 * is now due a sample. If all may be, heap->paid says how many refills have been paid in advance.
 */
uint32_t ap_sample_charge(struct ap_heap *heap, struct ap_span *span, uint32_t count);

/*
 * The same for a list of any length, as the span's whole slices, so that nobody need walk it (one
 * that the program has not touched for long is in no cache). False: nothing is charged, since the
 * countdown or the period is too short for that; then ap_sample_charge() has to charge this list.
 */
bool ap_sample_charge_padded(struct ap_heap *heap, struct ap_span *span);

/*
 * Takes the sample that the span is due: a block for a request of `size`, aligned to `align`,
 * reported. NULL: no memory.
 */
void *ap_sample_take(struct ap_heap *heap, struct ap_span *span, size_t align, size_t size);

/*
 * The trial of a single allocation of `block` bytes that goes through no list. Returns 0, or the
 * period to report it with; `heap` may be one of the static ones.
 */
uint64_t ap_sample_trial(struct ap_heap *heap, size_t block);

/* Fires `alloc` for a sampled allocation, and `free` for the end of one. */
void ap_sample_allocated(const void *pointer, size_t size, size_t block, uint64_t period);
void ap_sample_freed(const void *pointer);

/* In the child after fork: as if nobody had ever listened. */
void ap_sample_forked(struct ap_heap *heap);

/* Held across fork. */
void ap_sample_lock(void);
void ap_sample_unlock(void);

#endif
