/* SPDX-License-Identifier: MIT */
/*
 * How blocks come home that other threads free: a list on the span, and a mailbox in the owner's
 * heap with the spans that have such a list. A span is in at most one mailbox: REMOTE_MAILED is set
 * by the remote free that posts it, and cleared by the heap that takes it out. While it is set the
 * span is not released. Lock-free, but where a thread ends.
 *
 * Posting does not alert the owner. It looks into its mailbox before it takes another span, and every
 * HEAP_TICKS refills; the list of the span in use it collects when that has run dry. To collect at
 * once, while others are still freeing neighbouring blocks, moves cache lines to and fro for a few
 * blocks each time: that was a third of the time of a program whose blocks other threads free.
 */
#ifndef ALLOC_MAILBOX_H
#define ALLOC_MAILBOX_H

#include "heap.h"

/*
 * Frees a block of a span that the caller does not own. `sure`: it is not free already; otherwise
 * the owner looks, when it collects.
 */
void ap_remote_free(struct ap_span *span, struct ap_block *block, bool sure);

/* Puts a span that has REMOTE_MAILED into the mailbox of whoever owns it now. */
void ap_mailbox_post(struct ap_span *span);

/* Empties a mailbox and leaves `with` in it; the spans are linked by mail_next. */
struct ap_span *ap_mailbox_take(struct ap_heap *heap, struct ap_span *with);

static inline bool mailbox_has_mail(const struct ap_heap *heap)
{
	return __atomic_load_n(&heap->mailbox, __ATOMIC_RELAXED) != NULL;
}

static inline bool span_is_mailed(const struct ap_span *span)
{
	return __atomic_load_n(&span->remote, __ATOMIC_RELAXED) & REMOTE_MAILED;
}

#endif
