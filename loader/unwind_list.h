/* SPDX-License-Identifier: MIT */
/*
 * The lists of mappings by which the BPF programs find unwind tables: one for each process that has
 * mappings of its own. Each new version of a process's list is appended to its array, so that a
 * version that a program is reading never changes.
 */
#ifndef ALLOCPROF_UNWIND_LIST_H
#define ALLOCPROF_UNWIND_LIST_H

#include <stdbool.h>

#include <allocprof/unwind.h>

#include "code_range.h"
#include "kernel_array.h"
#include "mapping.h"

struct ap_unwind_list {
	struct ap_kernel_array array;
	uint64_t room, used;
	struct ap_code_range *ranges; /* the ranges in the current version */
	size_t count;
	uint32_t users; /* processes that use it; 0: the slot is free */
};

/* Whether the current version has just these ranges. */
bool ap_unwind_list_has(
	const struct ap_unwind_list *list, const struct ap_code_range *ranges, size_t count);

/* Fills in the element of one range. */
typedef void ap_unwind_fill_fn(const void *context, const struct ap_mapping_table *table,
	const struct ap_code_range *range, struct ap_unwind_mapping *to);

/*
 * Makes a version with these ranges the current one, in that slot of the map of maps `maps`. Takes
 * over `ranges`, also on failure. 0 or a negative errno.
 */
int ap_unwind_list_publish(struct ap_unwind_list *list, int maps, uint32_t slot,
	const struct ap_mapping_table *table, struct ap_code_range *ranges, size_t count,
	ap_unwind_fill_fn *fill, const void *context);

/*
 * Empties a list that nobody uses any more. Its array stays for the next user, since making one
 * takes the kernel 10 ms.
 */
void ap_unwind_list_empty(struct ap_unwind_list *list);

void ap_unwind_list_clear(struct ap_unwind_list *list);

#endif
