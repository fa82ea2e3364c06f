/* SPDX-License-Identifier: MIT */
/* Of a flame graph's page: whose, how large and how old the blocks of each node are. */
#ifndef ALLOCPROF_PAGE_PARTS_H
#define ALLOCPROF_PAGE_PARTS_H

#include <stdio.h>

#include "call_tree.h"

/* The parts of the tree's first profile, added up by node and label, and what they leave. */
struct ap_page_parts {
	struct ap_call_part *parts; /* by node, then by label */
	uint32_t *first;	    /* index of the first of each node, and after the last node */
	int64_t (*rest)[AP_VALUES]; /* of a node's own values, what is no part */
};

/* 0; or -ENOMEM, and nothing is to be freed. */
int ap_page_parts_make(struct ap_page_parts *parts, const struct ap_call_tree *tree);
void ap_page_parts_clear(struct ap_page_parts *parts);

/* "parts":[...], as page_data.h describes it. */
void ap_page_parts_put(
	FILE *out, const struct ap_page_parts *parts, const struct ap_call_tree *tree);

#endif
