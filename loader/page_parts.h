/* SPDX-License-Identifier: MIT */
/*
 * The "parts" in the data of a flame graph's page: by whom, how large and how old the blocks of
 * each node are.
 */
#ifndef ALLOCPROF_PAGE_PARTS_H
#define ALLOCPROF_PAGE_PARTS_H

#include <stdio.h>

#include "call_tree.h"

/* The parts of side 0 of the tree, added up by node and label, and what remains. */
struct ap_page_parts {
	struct ap_call_part *parts; /* by node, then by label */
	uint32_t *first; /* index of the first part of each node; one more element ends the last */
	int64_t (*rest)[AP_VALUES]; /* of each node: its own values minus those of its parts */
};

/* 0, or -ENOMEM when nothing is to be freed. */
int ap_page_parts_make(struct ap_page_parts *parts, const struct ap_call_tree *tree);
void ap_page_parts_clear(struct ap_page_parts *parts);

/* Writes "parts":[...], as flame_profile.js describes it. */
void ap_page_parts_put(
	FILE *out, const struct ap_page_parts *parts, const struct ap_call_tree *tree);

#endif
