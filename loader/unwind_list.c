// SPDX-License-Identifier: MIT
#include "unwind_list.h"

#include <stdlib.h>
#include <string.h>

#define MAPPINGS_MIN 4096

/* For the lists other than the first, of which there may be thousands. */
#define MAPPINGS_MIN_MORE 256

bool ap_unwind_list_has(
	const struct ap_unwind_list *list, const struct ap_code_range *ranges, size_t count)
{
	return list->ranges && count == list->count &&
	       !memcmp(ranges, list->ranges, count * sizeof(*ranges));
}

/*
 * Makes room for another version. Returns 0, the descriptor of a new array, which is to be put into
 * its slot (this takes the kernel 10 ms), or a negative errno.
 */
static int list_grow(struct ap_unwind_list *list, uint32_t slot, size_t count)
{
	uint64_t least = slot ? MAPPINGS_MIN_MORE : MAPPINGS_MIN;
	uint64_t room = count * 4 > least ? count * 4 : least;
	struct ap_kernel_array array;
	int fd;

	if (list->array.memory && list->room - list->used >= count)
		return 0;
	fd = ap_kernel_array_create(
		&array, "unwind_mappings", room, sizeof(struct ap_unwind_mapping));
	if (fd < 0)
		return fd;
	ap_kernel_array_unmap(&list->array);
	list->array = array;
	list->room = room;
	list->used = 1;
	return fd;
}

int ap_unwind_list_publish(struct ap_unwind_list *list, int maps, uint32_t slot,
	const struct ap_mapping_table *table, struct ap_code_range *ranges, size_t count,
	ap_unwind_fill_fn *fill, const void *context)
{
	struct ap_unwind_mapping *mappings;
	int fd = list_grow(list, slot, count);
	int err = fd;

	free(list->ranges);
	list->ranges = NULL;
	list->count = 0;
	if (fd >= 0) {
		mappings = list->array.memory;
		for (size_t i = 0; i < count; i++)
			fill(context, table, &ranges[i], &mappings[list->used + i]);
		__atomic_store_n(&mappings->start, list->used << 32 | count, __ATOMIC_RELEASE);
		list->used += count;
		err = fd ? ap_kernel_array_put(&list->array, maps, slot, fd) : 0;
	}
	if (err) {
		free(ranges);
		return err;
	}
	list->ranges = ranges;
	list->count = count;
	return 0;
}

void ap_unwind_list_empty(struct ap_unwind_list *list)
{
	free(list->ranges);
	list->ranges = NULL;
	list->count = 0;
	list->used = 1;
}

void ap_unwind_list_clear(struct ap_unwind_list *list)
{
	ap_kernel_array_unmap(&list->array);
	free(list->ranges);
	*list = (struct ap_unwind_list){0};
}
