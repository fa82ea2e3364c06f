// SPDX-License-Identifier: MIT
/* The slow path of free, for blocks that came from spans. */
#include "abandon.h"
#include "fastpath.h"
#include "heap.h"
#include "mailbox.h"
#include "sample.h"
#include "span.h"

/* Everything but the common cases: sampled blocks, other threads', those that look free already. */
static cold void span_free_rare(struct ap_span *span, struct ap_block *block)
{
	struct ap_heap *heap = ap_heap;
	uintptr_t owner = __atomic_load_n(&span->owner, __ATOMIC_RELAXED) & ~OWNER_FLAGS;
	bool sure = ap_span_check(span, block);

	/* Its heap waits for another thread, perhaps for ever: then nobody else would look. */
	if (unlikely(!sure) && owner != 0 &&
		owner == (uintptr_t)__atomic_load_n(&span->heap, __ATOMIC_RELAXED)) {
		ap_heap_release_parked();
		ap_free_slow(block);
		return;
	}
	if (span->sampled)
		ap_sample_freed(block);
	if (owner != thread_pointer()) {
		if (owner != 0 || heap_is_static(heap) || !ap_adopt_span(heap, span)) {
			ap_remote_free(span, block, sure);
			return;
		}
		if (unlikely(!sure))
			ap_span_check(span, block);
		queue_push_last(span->sampled ? &heap->sampled : &heap->queue[span->class], span);
	}
	block->key = span_key(span);
	block_set_next(block, span->local_free);
	span->local_free = block;
	if (--span->until == 0)
		ap_span_event(span);
}

void ap_span_free(struct ap_span *span, void *pointer)
{
	struct ap_block *block = pointer;
	uintptr_t owner = load_relaxed(span->owner);
	bool medium = span->kind == SPAN_MEDIUM, start;

	start = medium ? medium_has_start(span, (char *)pointer - span_start(span))
		       : span_has_start(span, pointer);
	if (unlikely(!start || block->key == (uintptr_t)span)) {
		span_free_rare(span, block);
	} else if (owner == (thread_pointer() | OWNER_MEDIUM)) {
		block->key = (uintptr_t)span;
		block->next = span->local_free;
		span->local_free = block;
		if (--span->until == 0)
			ap_span_event(span);
	} else if (owner != 0 && !(owner & (OWNER_SAMPLED | OWNER_SECURE)) &&
		   (owner & ~OWNER_FLAGS) != thread_pointer()) {
		ap_remote_free(span, block, true);
	} else {
		span_free_rare(span, block);
	}
}
