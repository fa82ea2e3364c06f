// SPDX-License-Identifier: MIT
#include "mailbox.h"

#include "abandon.h"
#include "span.h"

void ap_remote_free(struct ap_span *span, struct ap_block *block, bool sure)
{
	uintptr_t old = __atomic_load_n(&span->remote, __ATOMIC_RELAXED), new;
	uintptr_t flags = REMOTE_MAILED | (sure ? 0 : REMOTE_UNSURE);

	block->key = sure ? span_key(span) : ~span_key(span);
	do {
		block_set_next(block, span_remote_list(span, old));
		new = ((old & ~REMOTE_LIST) + REMOTE_ONE) | (uintptr_t)block | flags;
	} while (!__atomic_compare_exchange_n(
		&span->remote, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	/* Whoever took the span out of a mailbox has read mail_next before it cleared the mark. */
	if (!(old & REMOTE_MAILED))
		ap_mailbox_post(span);
}

void ap_mailbox_post(struct ap_span *span)
{
	for (;;) {
		struct ap_heap *heap = __atomic_load_n(&span->heap, __ATOMIC_ACQUIRE);
		struct ap_span *head;
		bool abandoned;

		if (!heap) {
			/* Nobody's mailbox: whoever adopts the span collects. */
			ap_abandon_lock();
			abandoned = !span->heap;
			if (abandoned)
				__atomic_fetch_and(&span->remote, ~REMOTE_MAILED, __ATOMIC_RELEASE);
			ap_abandon_unlock();
			if (abandoned)
				return;
			continue;
		}
		/*
		 * Its thread may have ended since; then either the mailbox is closed, after the
		 * span was given up, or it is another thread's by now, who will pass it on.
		 */
		head = __atomic_load_n(&heap->mailbox, __ATOMIC_RELAXED);
		while (head != MAILBOX_CLOSED) {
			span->mail_next = head;
			if (__atomic_compare_exchange_n(&heap->mailbox, &head, span, true,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
				return;
		}
	}
}

struct ap_span *ap_mailbox_take(struct ap_heap *heap, struct ap_span *with)
{
	struct ap_span *list = __atomic_exchange_n(&heap->mailbox, with, __ATOMIC_ACQUIRE);

	return list == MAILBOX_CLOSED ? NULL : list;
}
