// SPDX-License-Identifier: MIT
#include "interval.h"

#include <errno.h>
#include <stdlib.h>

#include "table.h"

int ap_intervals_add(
	struct ap_intervals *set, uint64_t low, uint64_t high, uint32_t depth, uint64_t value)
{
	if (low >= high)
		return 0;
	if (ap_array_grow((void **)&set->items, set->count, &set->room, sizeof(*set->items)))
		return -ENOMEM;
	set->items[set->count++] = (struct ap_interval){
		.low = low,
		.high = high,
		.depth = depth,
		.outer = AP_INTERVAL_NONE,
		.value = value,
	};
	return 0;
}

static int interval_compare(const void *a, const void *b)
{
	const struct ap_interval *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

void ap_intervals_sort(struct ap_intervals *set)
{
	uint32_t around = AP_INTERVAL_NONE;

	if (!set->count)
		return;
	qsort(set->items, set->count, sizeof(*set->items), interval_compare);
	for (uint32_t i = 0; i < set->count; i++) {
		while (around != AP_INTERVAL_NONE && set->items[around].high <= set->items[i].low)
			around = set->items[around].outer;
		set->items[i].outer = around;
		around = i;
	}
}

uint32_t ap_intervals_find(const struct ap_intervals *set, uint64_t address)
{
	int64_t last = ap_array_find(set->items, set->count, sizeof(*set->items), address);
	uint32_t found = last < 0 ? AP_INTERVAL_NONE : (uint32_t)last;

	while (found != AP_INTERVAL_NONE && set->items[found].high <= address)
		found = set->items[found].outer;
	return found;
}

void ap_intervals_clear(struct ap_intervals *set)
{
	free(set->items);
	*set = (struct ap_intervals){0};
}
