/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile, or of two that are compared, as one tree of calls: what pictures are
 * drawn from. A frame is a line of a function in a library, whatever its address, so two runs of
 * one program meet in the same nodes.
 */
#ifndef ALLOCPROF_CALL_TREE_H
#define ALLOCPROF_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "intern.h"
#include "profile.h"
#include "table.h"

/* Strings are the tree's own and interned: equal ones are equal pointers. "" unknown. */
struct ap_call_function {
	const char *name;
	const char *label; /* the same shortened, see short_name.h */
	const char *file;
	const char *library;
	int64_t start_line;
};

enum {
	AP_FRAME_INLINED = 1,
	AP_FRAME_ALLOCATOR = 2, /* the allocator's own, at the end of a stack */
	AP_FRAME_RESERVED = 4,	/* no code: says why a stack is missing or cut */
};

struct ap_call_frame {
	uint32_t function;
	uint32_t flags;
	int64_t line;  /* 0 unknown */
	uint32_t uses; /* how many nodes have it */
};

/* Node 0 is the root, which has no frame. 0 ends the lists of children. */
struct ap_call_node {
	uint32_t parent;
	uint32_t frame;
	uint32_t first_child, last_child, next;
	/*
	 * Values of the stacks that end here; [0] in the profile, [1] in the one
	 * it is compared with.
	 */
	int64_t self[2][AP_VALUES];
};

/* The part of a node's own values that has these labels. */
struct ap_call_part {
	uint32_t node;
	uint32_t label; /* index into the tree's labels */
	int side;
	int64_t value[AP_VALUES];
	uint64_t samples;
	double variance; /* of the bytes, see estimate.h; 0: not known either */
};

struct ap_call_tree {
	struct ap_call_function *functions;
	struct ap_call_frame *frames;
	struct ap_call_node *nodes;
	uint32_t function_count, frame_count, node_count;
	uint32_t function_room, frame_room, node_room;
	/*
	 * One for each sample that has labels or a known number of samples, unordered. Threads in
	 * the labels are indices into the threads of that side's profile.
	 */
	struct ap_call_part *parts;
	struct ap_labels *labels; /* each different set of labels once */
	uint32_t part_count, label_count;
	uint32_t part_room, label_room;
	uint32_t *ends[2];	/* the node in which each sample of that side's profile ends */
	bool functions_only;	/* set before the first add: a function's lines are one frame */
	bool without_allocator; /* also set before: leave out frames of AP_FRAME_ALLOCATOR */
	const char *program;	/* the program's own library; NULL: unknown */
	struct ap_intern strings;
	struct ap_table function_table, frame_table, node_table, label_table;
};

/* An empty tree. NULL: out of memory. */
struct ap_call_tree *ap_call_tree_new(void);
void ap_call_tree_free(struct ap_call_tree *tree); /* NULL is fine */

/*
 * Adds the samples of a profile, at most one for each side: 0 for the profile itself, 1 for the one
 * it is compared with. 0 or -ENOMEM.
 */
int ap_call_tree_add(struct ap_call_tree *tree, const struct ap_profile *profile, int side);

/*
 * The node after `node` in preorder, or 0 at the end; start with 0, the root. *ret_up says how many
 * levels up from `node` the parent of the next one is.
 */
uint32_t ap_call_tree_after(const struct ap_call_tree *tree, uint32_t node, uint32_t *ret_up);

/*
 * The totals (own value and all below) of all nodes for one value, an array of node_count that the
 * caller frees. NULL: out of memory.
 */
int64_t *ap_call_tree_totals(const struct ap_call_tree *tree, int side, enum ap_value value);

#endif
