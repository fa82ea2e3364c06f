// SPDX-License-Identifier: MIT
#include "call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "short_name.h"

#define LABEL_MAX 1024

/* ---- Find or add ---- */

static bool function_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_call_function *a = (const struct ap_call_function *)array + index;
	const struct ap_call_function *b = key;

	return a->name == b->name && a->file == b->file && a->library == b->library;
}

static const char *intern(struct ap_call_tree *tree, const char *text)
{
	return ap_intern(&tree->strings, text, strlen(text));
}

static int64_t function_add(struct ap_call_tree *tree, struct ap_call_function *function)
{
	char label[LABEL_MAX];
	uint64_t hash = ap_hash_u64(0, (uintptr_t)function->name);
	int64_t index;

	hash = ap_hash_u64(hash, (uintptr_t)function->file);
	hash = ap_hash_u64(hash, (uintptr_t)function->library);
	index = ap_table_find(
		&tree->function_table, hash, function_equal, tree->functions, function);
	if (index >= 0)
		return index;
	function->label = ap_intern(
		&tree->strings, label, ap_short_name(label, sizeof(label), function->name));
	if (!function->label)
		return -ENOMEM;
	return ap_table_append(&tree->function_table, hash, (void **)&tree->functions,
		&tree->function_count, &tree->function_room, function, sizeof(*function));
}

static bool frame_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_call_frame *a = (const struct ap_call_frame *)array + index;
	const struct ap_call_frame *b = key;

	return a->function == b->function && a->line == b->line && a->flags == b->flags;
}

static int64_t frame_add(struct ap_call_tree *tree, const struct ap_call_frame *frame)
{
	uint64_t hash = ap_hash_u64(frame->flags, frame->function);
	int64_t index;

	hash = ap_hash_u64(hash, (uint64_t)frame->line);
	index = ap_table_find(&tree->frame_table, hash, frame_equal, tree->frames, frame);
	if (index >= 0)
		return index;
	return ap_table_append(&tree->frame_table, hash, (void **)&tree->frames, &tree->frame_count,
		&tree->frame_room, frame, sizeof(*frame));
}

static bool node_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_call_node *a = (const struct ap_call_node *)array + index;
	const struct ap_call_node *b = key;

	return a->parent == b->parent && a->frame == b->frame;
}

static int64_t node_add(struct ap_call_tree *tree, uint32_t parent, uint32_t frame)
{
	struct ap_call_node node = {.parent = parent, .frame = frame};
	uint64_t hash = ap_hash_u64(parent, frame);
	int64_t index = ap_table_find(&tree->node_table, hash, node_equal, tree->nodes, &node);

	if (index >= 0)
		return index;
	index = ap_table_append(&tree->node_table, hash, (void **)&tree->nodes, &tree->node_count,
		&tree->node_room, &node, sizeof(node));
	if (index < 0)
		return index;
	tree->frames[frame].uses++;
	if (tree->nodes[parent].last_child)
		tree->nodes[tree->nodes[parent].last_child].next = index;
	else
		tree->nodes[parent].first_child = index;
	tree->nodes[parent].last_child = index;
	return index;
}

/* ---- Building ---- */

struct ap_call_tree *ap_call_tree_new(void)
{
	struct ap_call_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	if (ap_array_grow((void **)&tree->nodes, 0, &tree->node_room, sizeof(*tree->nodes))) {
		ap_call_tree_free(tree);
		return NULL;
	}
	tree->nodes[0] = (struct ap_call_node){.frame = UINT32_MAX};
	tree->node_count = 1;
	return tree;
}

void ap_call_tree_free(struct ap_call_tree *tree)
{
	if (!tree)
		return;
	free(tree->functions);
	free(tree->frames);
	free(tree->nodes);
	for (int side = 0; side < 2; side++)
		free(tree->ends[side]);
	free(tree->parts);
	free(tree->labels);
	ap_intern_clear(&tree->strings);
	ap_table_clear(&tree->function_table);
	ap_table_clear(&tree->frame_table);
	ap_table_clear(&tree->node_table);
	ap_table_clear(&tree->label_table);
	free(tree);
}

static int64_t shown_frame_add(struct ap_call_tree *tree, const struct ap_profile *profile,
	const struct ap_shown_frame *shown, uint32_t flags)
{
	const struct ap_location *location = &profile->locations[shown->location];
	const struct ap_function *from = &profile->functions[shown->function];
	const char *library =
		location->mapping >= 0 ? profile->mappings[location->mapping].file : "";
	struct ap_call_function function = {
		.name = intern(tree, from->name[0] ? from->name : "[unknown]"),
		.file = intern(tree, from->file),
		.library = intern(tree, library),
		.start_line = from->start_line,
	};
	struct ap_call_frame frame = {.flags = flags, .line = shown->line};
	int64_t index;

	if (!function.name || !function.file || !function.library)
		return -ENOMEM;
	if (tree->functions_only)
		frame = (struct ap_call_frame){0};
	if (location->mapping < 0 && !location->address && function.name[0] == '[')
		frame.flags |= AP_FRAME_RESERVED;
	index = function_add(tree, &function);
	if (index < 0)
		return index;
	frame.function = index;
	return frame_add(tree, &frame);
}

/*
 * Adds a stack. `all` has every frame; the first `hidden` of them are the allocator's. Frames of
 * one location follow each other: inlined ones, and last the function that has the code.
 */
static int64_t stack_add(struct ap_call_tree *tree, const struct ap_profile *profile,
	const struct ap_shown_frames *all, uint32_t hidden)
{
	uint32_t inlined_left = 0;
	int64_t node = 0;

	for (uint32_t i = all->count; i-- > (tree->without_allocator ? hidden : 0);) {
		const struct ap_shown_frame *shown = &all->frame[i];
		uint32_t flags = i < hidden ? AP_FRAME_ALLOCATOR : 0;
		int64_t frame;

		if (inlined_left) {
			flags |= AP_FRAME_INLINED;
			inlined_left--;
		} else {
			inlined_left = profile->locations[shown->location].lines - 1;
		}
		frame = shown_frame_add(tree, profile, shown, flags);
		if (frame < 0)
			return frame;
		node = node_add(tree, node, frame);
		if (node < 0)
			return node;
	}
	return node;
}

static bool labels_equal(const void *array, uint32_t index, const void *key)
{
	return ap_labels_equal((const struct ap_labels *)array + index, key);
}

static int part_add(struct ap_call_tree *tree, uint32_t node, int side,
	const struct ap_profile *profile, const struct ap_sample *sample)
{
	uint64_t hash = ap_labels_hash(0, &sample->labels);
	struct ap_call_part part = {.node = node, .side = side, .samples = sample->samples};
	struct ap_estimate estimate = {0};
	bool is_nothing = true;
	int64_t label;

	for (int v = 0; v < AP_VALUES; v++)
		is_nothing &= !sample->value[v];
	if (is_nothing || (ap_labels_equal(&sample->labels, &AP_LABELS_NONE) && !sample->samples))
		return 0;
	label = ap_table_find(
		&tree->label_table, hash, labels_equal, tree->labels, &sample->labels);
	if (label < 0)
		label = ap_table_append(&tree->label_table, hash, (void **)&tree->labels,
			&tree->label_count, &tree->label_room, &sample->labels,
			sizeof(sample->labels));
	if (label < 0)
		return (int)label;
	part.label = (uint32_t)label;
	memcpy(part.value, sample->value, sizeof(part.value));
	if (sample->samples) {
		ap_estimate_add(&estimate, profile, sample,
			sample->value[AP_ALLOC_SPACE] ? AP_ALLOC_SPACE : AP_INUSE_SPACE);
		part.variance = estimate.variance;
	}
	if (ap_array_grow((void **)&tree->parts, tree->part_count, &tree->part_room, sizeof(part)))
		return -ENOMEM;
	tree->parts[tree->part_count++] = part;
	return 0;
}

int ap_call_tree_add(struct ap_call_tree *tree, const struct ap_profile *profile, int side)
{
	struct ap_shown_frames all = {0}, shown = {0};
	uint32_t *ends = calloc((size_t)profile->sample_count + 1, sizeof(*ends));
	int err = 0;

	if (!ends)
		return -ENOMEM;
	tree->ends[side] = ends;
	if (!tree->program && profile->main_mapping < profile->mapping_count) {
		tree->program = intern(tree, profile->mappings[profile->main_mapping].file);
		if (!tree->program)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		const struct ap_sample *sample = &profile->samples[i];
		int64_t node;

		err = ap_profile_frames(profile, sample, true, &all);
		if (!err)
			err = ap_profile_frames(profile, sample, false, &shown);
		if (err)
			goto out;
		node = stack_add(tree, profile, &all, all.count - shown.count);
		if (node < 0) {
			err = (int)node;
			goto out;
		}
		for (int v = 0; v < AP_VALUES; v++) {
			int64_t *self = &tree->nodes[node].self[side][v];

			*self = ap_value_add(*self, sample->value[v]);
		}
		ends[i] = (uint32_t)node;
		err = part_add(tree, (uint32_t)node, side, profile, sample);
		if (err)
			goto out;
	}
out:
	free(all.frame);
	free(shown.frame);
	return err;
}

uint32_t ap_call_tree_after(const struct ap_call_tree *tree, uint32_t node, uint32_t *ret_up)
{
	*ret_up = 0;
	if (tree->nodes[node].first_child)
		return tree->nodes[node].first_child;
	while (node && !tree->nodes[node].next) {
		node = tree->nodes[node].parent;
		++*ret_up;
	}
	++*ret_up;
	return node ? tree->nodes[node].next : 0;
}

int64_t *ap_call_tree_totals(const struct ap_call_tree *tree, int side, enum ap_value value)
{
	int64_t *total = calloc(tree->node_count, sizeof(*total));

	if (!total)
		return NULL;
	/* A parent stands before its children. */
	for (uint32_t i = tree->node_count; i-- > 0;) {
		int64_t *parent = &total[tree->nodes[i].parent];

		total[i] = ap_value_add(total[i], tree->nodes[i].self[side][value]);
		if (i)
			*parent = ap_value_add(*parent, total[i]);
	}
	return total;
}
