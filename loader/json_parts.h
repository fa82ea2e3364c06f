/* SPDX-License-Identifier: MIT */
/* The "parts" of the JSON for scripts: what is known of the blocks of each stack, see labels.h. */
#ifndef ALLOCPROF_JSON_PARTS_H
#define ALLOCPROF_JSON_PARTS_H

#include "call_tree.h"
#include "json.h"

/* The parts of a tree by their nodes. Start with {0}. */
struct ap_json_parts {
	const struct ap_profile *profile;
	const struct ap_call_tree *tree;
	uint32_t *first; /* of each node: index of a part plus one; 0: none */
	uint32_t *next;	 /* of each part, the same */
};

/*
 * Collects the parts of side 0 of the tree; the profile that it is compared with has none here. 0
 * or -ENOMEM.
 */
int ap_json_parts_collect(struct ap_json_parts *parts, const struct ap_profile *profile,
	const struct ap_call_tree *tree);

/* The member "parts" of the stack that ends in a node; none where nothing is known. */
void ap_json_parts_put(struct ap_json *json, const struct ap_json_parts *parts, uint32_t node);

void ap_json_parts_clear(struct ap_json_parts *parts);

#endif
