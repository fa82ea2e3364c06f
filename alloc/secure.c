// SPDX-License-Identifier: MIT
#include "secure.h"

#include "heap.h"
#include "os.h"
#include "region.h"
#include "span.h"

/* Blocks that are shuffled at a time: their order is kept on the stack, which may be a small one.
 */
#define SHUFFLED 128

uintptr_t ap_secret;

/* From here to the end of the span, accesses fault: right behind a large block, else the last page.
 */
static char *guard_start(const struct ap_span *span, const char *end)
{
	return span->kind == SPAN_LARGE ? span_start(span) + span->block_size
					: (char *)end - PAGE_SIZE;
}

static bool guard_set(const struct ap_span *span, bool on)
{
	char *end = span_start(span) + ((size_t)span->slices << SLICE_SHIFT);
	char *start = guard_start(span, end);

	return ap_os_guard(start, end - start, on);
}

void ap_secure_guard(struct ap_span *span)
{
	/* The kernel may refuse, having split up its mappings too often: the mode goes on without.
	 */
	if (guard_set(span, true) && span->kind != SPAN_LARGE)
		span->capacity =
			(((size_t)span->slices << SLICE_SHIFT) - PAGE_SIZE) / span->block_size;
}

bool ap_secure_unguard(struct ap_span *span)
{
	return guard_set(span, false);
}

bool ap_secure_carve(struct ap_span *span, uint32_t count)
{
	uint8_t order[SHUFFLED] = {0};
	uint64_t random = ap_os_random();
	char *start = span_start(span) + (size_t)span->carved * span->block_size;

	if (count > SHUFFLED)
		count = SHUFFLED;
	span_set_carved(span, span->carved + count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = (random >> 33) % (i + 1);

		random = random * 6364136223846793005 + 1442695040888963407;
		order[i] = order[other];
		order[other] = i;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct ap_block *block =
			(struct ap_block *)(start + (size_t)order[i] * span->block_size);

		block->key = span_key(span);
		block_set_next(block, span->local_free);
		span->local_free = block;
	}
	return true;
}

/* Converts a span from before the mode: encodes its free blocks, which are all on local_free. */
static void span_secure(struct ap_span *span, uintptr_t secret)
{
	struct ap_block *block, *next;

	for (block = span->local_free; block != &span->sentinel; block = next) {
		next = block->next;
		block->key = (uintptr_t)span ^ secret;
		block->next = (struct ap_block *)((uintptr_t)next ^ (uintptr_t)block * secret);
	}
	span->owner |= OWNER_SECURE;
}

bool ap_secure_start(void)
{
	uintptr_t secret = ap_os_random() | 1;
	struct ap_heap *heap = ap_heap;
	struct ap_span *span;

	if (ap_heaps && (ap_heaps != heap || ap_heaps->next))
		return false;
	if (!heap_is_static(heap)) {
		for (unsigned class = 0; class < CLASSES; class ++)
			for (span = heap->queue[class].first; span; span = span->next) {
				ap_span_conceal(span);
				span_secure(span, secret);
			}
		for (span = heap->full.first; span; span = span->next)
			span_secure(span, secret);
		for (unsigned i = 0; i < ENTRIES; i++)
			heap->entry[i] = &heap->empty;
	}
	ap_secret = secret;
	return true;
}
