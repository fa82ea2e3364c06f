// SPDX-License-Identifier: MIT
#include "code_range.h"

#include <stdlib.h>

#include "mapping.h"

/* A binary heap of the ranges that are open at an address, the latest on top. */
struct heap {
	struct ap_code_range *ranges;
	size_t count;
};

static void swap(struct ap_code_range *a, struct ap_code_range *b)
{
	struct ap_code_range kept = *a;

	*a = *b;
	*b = kept;
}

static void heap_push(struct heap *heap, const struct ap_code_range *range)
{
	struct ap_code_range *ranges = heap->ranges;
	size_t at = heap->count++;

	ranges[at] = *range;
	for (; at && ranges[(at - 1) / 2].id < ranges[at].id; at = (at - 1) / 2)
		swap(&ranges[at], &ranges[(at - 1) / 2]);
}

static void heap_pop(struct heap *heap)
{
	struct ap_code_range *ranges = heap->ranges;
	size_t at = 0, child;

	ranges[0] = ranges[--heap->count];
	while ((child = 2 * at + 1) < heap->count) {
		child += child + 1 < heap->count && ranges[child + 1].id > ranges[child].id;
		if (ranges[at].id >= ranges[child].id)
			return;
		swap(&ranges[at], &ranges[child]);
		at = child;
	}
}

static int range_compare(const void *a, const void *b)
{
	const struct ap_code_range *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

/*
 * Sweeps over the sorted ranges by address: between two addresses at which a range starts or ends,
 * the latest of the open ranges holds. Returns the number of flat ranges.
 */
static size_t ranges_flatten(const struct ap_code_range *sorted, size_t count, struct heap *heap,
	struct ap_code_range *to)
{
	uint64_t at = 0, end;
	size_t kept = 0, next = 0;

	while (next < count || heap->count) {
		if (!heap->count)
			at = sorted[next].start;
		for (; next < count && sorted[next].start <= at; next++)
			heap_push(heap, &sorted[next]);
		while (heap->count && heap->ranges[0].end <= at)
			heap_pop(heap);
		if (!heap->count)
			continue;
		end = heap->ranges[0].end;
		if (next < count && sorted[next].start < end)
			end = sorted[next].start;
		if (kept && to[kept - 1].end == at && to[kept - 1].id == heap->ranges[0].id)
			to[kept - 1].end = end;
		else
			to[kept++] = (struct ap_code_range){
				.start = at, .end = end, .id = heap->ranges[0].id};
		at = end;
	}
	return kept;
}

struct ap_code_range *ap_code_ranges_flatten(
	struct ap_code_range *ranges, size_t count, size_t *ret_count)
{
	struct heap heap = {.ranges = calloc(count + 1, sizeof(*ranges))};
	struct ap_code_range *flat = calloc(2 * count + 1, sizeof(*flat));

	if (heap.ranges && flat) {
		qsort(ranges, count, sizeof(*ranges), range_compare);
		*ret_count = ranges_flatten(ranges, count, &heap, flat);
	} else {
		free(flat);
		flat = NULL;
	}
	free(heap.ranges);
	return flat;
}

struct ap_code_range *ap_code_ranges_get(const struct ap_mapping_table *table, size_t *ret_count)
{
	size_t count = table->current_count + table->count - table->read_count;
	struct ap_code_range *ranges = calloc(count + 1, sizeof(*ranges)), *flat = NULL;

	for (size_t i = 0; i < count && ranges; i++) {
		uint32_t id = i < table->current_count
				      ? table->current[i]
				      : table->read_count + (uint32_t)(i - table->current_count);
		const struct ap_mapping *mapping = table->mappings[id];

		ranges[i] = (struct ap_code_range){
			.start = mapping->start, .end = mapping->end, .id = id};
	}
	if (ranges)
		flat = ap_code_ranges_flatten(ranges, count, ret_count);
	free(ranges);
	return flat;
}
