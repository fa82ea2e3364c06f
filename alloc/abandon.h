/* SPDX-License-Identifier: MIT */
/*
 * Spans whose thread has ended while blocks of theirs were allocated. Whoever needs a span of the
 * class, or frees one of the blocks, adopts the span.
 */
#ifndef ALLOC_ABANDON_H
#define ALLOC_ABANDON_H

#include "heap.h"

/* Takes the owner's name off a span that stands in no queue any more. */
void ap_abandon(struct ap_span *span);

/* Makes an abandoned span the heap's; the caller queues it. NULL: there is none of the class. */
struct ap_span *ap_adopt_class(struct ap_heap *heap, unsigned class);

/* The same for this very span. False: it is not abandoned, or not any more. */
bool ap_adopt_span(struct ap_heap *heap, struct ap_span *span);

/* Guards the change of ap_span.heap from and to NULL. Held across fork. */
void ap_abandon_lock(void);
void ap_abandon_unlock(void);

#endif
