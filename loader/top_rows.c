// SPDX-License-Identifier: MIT
#include "top_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* In a tree, rows below this share of the total are summed up. */
#define SMALLEST_SHARE 0.005

struct node {
	uint64_t key;
	uint32_t parent; /* index; NONE: it is a root */
	uint32_t function;
	int64_t line;
	enum ap_top_half half; /* of a sandwich's root: which half */
	struct ap_top_values value;
	uint32_t first, count; /* children, in builder.order */
};

#define NONE UINT32_MAX

struct builder {
	const struct ap_top_sites *sites;
	const struct ap_top_view *view;
	struct ap_top_rows *rows;
	char *matches; /* for each function: whether the filter lets it through; NULL: no filter */
	struct node *nodes;
	uint32_t count, room;
	struct ap_table by_key;
	uint32_t *order;     /* nodes in the order in which they are shown, siblings together */
	uint32_t root_count; /* roots come first in `order` */
	double smallest;
};

/* ---- The view ---- */

static int64_t closed_find(const struct ap_top_view *view, uint64_t key)
{
	for (uint32_t i = 0; i < view->closed_count; i++)
		if (view->closed[i] == key)
			return i;
	return -1;
}

int ap_top_view_toggle(struct ap_top_view *view, uint64_t key)
{
	int64_t index = closed_find(view, key);

	if (index >= 0) {
		view->closed[index] = view->closed[--view->closed_count];
		return 0;
	}
	if (ap_array_grow((void **)&view->closed, view->closed_count, &view->closed_room,
		    sizeof(*view->closed)))
		return -ENOMEM;
	view->closed[view->closed_count++] = key;
	return 0;
}

void ap_top_view_clear(struct ap_top_view *view)
{
	free(view->closed);
	*view = (struct ap_top_view){0};
}

/* ---- Filter ---- */

static int matches_find(struct builder *builder)
{
	const struct ap_profile *profile = builder->sites->profile;
	const char *filter = builder->view->filter;

	if (!*filter)
		return 0;
	builder->matches = calloc(profile->function_count + 1, 1);
	if (!builder->matches)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->function_count; i++)
		builder->matches[i] = strcasestr(profile->functions[i].name, filter) ||
				      strcasestr(profile->functions[i].file, filter);
	return 0;
}

/*
 * The place of a sandwich's function in a site's stack; site->count: it is not in it. Of a
 * recursive function the outermost call, so that the site counts once.
 */
static uint32_t outermost_call(const struct builder *builder, const struct ap_top_site *site)
{
	const struct ap_shown_frame *frame = builder->sites->frames + site->first;

	for (uint32_t i = site->count; i-- > site->caller;)
		if (frame[i].function == builder->view->function)
			return i;
	return site->count;
}

/*
 * In the flat table the filter applies to the function of a row; in trees to any
 * function of a stack.
 */
static bool site_matches(const struct builder *builder, const struct ap_top_site *site)
{
	const struct ap_shown_frame *frame = builder->sites->frames + site->first;

	if (builder->view->layout == AP_TOP_SANDWICH &&
		outermost_call(builder, site) == site->count)
		return false;
	if (!builder->matches)
		return true;
	if (builder->view->layout == AP_TOP_FLAT)
		return builder->matches[frame[site->caller].function];
	for (uint32_t i = 0; i < site->count; i++)
		if (builder->matches[frame[i].function])
			return true;
	return false;
}

/* ---- Nodes ---- */

static bool node_equal(const void *array, uint32_t index, const void *key)
{
	return ((const struct node *)array)[index].key == *(const uint64_t *)key;
}

/* Finds or adds a node, and adds a site's values to it. Its index, or -ENOMEM. */
static int64_t node_add(
	struct builder *builder, const struct node *node, const struct ap_top_values *value)
{
	int64_t index =
		ap_table_find(&builder->by_key, node->key, node_equal, builder->nodes, &node->key);

	if (index < 0)
		index = ap_table_append(&builder->by_key, node->key, (void **)&builder->nodes,
			&builder->count, &builder->room, node, sizeof(*node));
	if (index >= 0)
		ap_top_values_add(&builder->nodes[index].value, value);
	return index;
}

/* The same for a frame. */
static int64_t frame_add(struct builder *builder, uint32_t parent,
	const struct ap_shown_frame *frame, const struct ap_top_values *value)
{
	struct node node = {
		.parent = parent,
		.function = frame->function,
		.line = builder->view->lines ? frame->line : 0,
	};

	node.key = ap_hash_u64(parent == NONE ? 0 : builder->nodes[parent].key,
		ap_hash_u64(frame->function, (uint64_t)node.line));
	return node_add(builder, &node, value);
}

/* Adds the frames from first to last, both included, each below the one before. 0 or -ENOMEM. */
static int frames_add(struct builder *builder, const struct ap_top_site *site, int64_t parent,
	uint32_t first, uint32_t last)
{
	const struct ap_shown_frame *frame = builder->sites->frames + site->first;
	uint32_t step = first <= last ? 1 : -1U;

	for (uint32_t i = first;; i += step) {
		parent = frame_add(builder, (uint32_t)parent, &frame[i], &site->value);
		if (parent < 0)
			return (int)parent;
		if (i == last)
			return 0;
	}
}

static int64_t half_add(
	struct builder *builder, enum ap_top_half half, const struct ap_top_values *value)
{
	struct node node = {
		.key = ap_hash_u64(half, builder->view->function),
		.parent = NONE,
		.function = builder->view->function,
		.half = half,
	};

	return node_add(builder, &node, value);
}

static int sandwich_add(struct builder *builder, const struct ap_top_site *site)
{
	uint32_t call = outermost_call(builder, site);
	int64_t callers = half_add(builder, AP_TOP_CALLED_BY, &site->value);
	int64_t calls = half_add(builder, AP_TOP_CALLS, &site->value);
	int err = callers < 0 || calls < 0 ? -ENOMEM : 0;

	if (!err && call + 1 < site->count)
		err = frames_add(builder, site, callers, call + 1, site->count - 1);
	if (!err && call > site->caller)
		err = frames_add(builder, site, calls, call - 1, site->caller);
	return err;
}

static int site_add(struct builder *builder, const struct ap_top_site *site)
{
	switch (builder->view->layout) {
	case AP_TOP_TREE:
		return frames_add(builder, site, NONE, site->count - 1, site->caller);
	case AP_TOP_SANDWICH:
		return sandwich_add(builder, site);
	case AP_TOP_FLAT:
		break;
	}
	return frames_add(builder, site, NONE, site->caller, site->caller);
}

/* ---- Order ---- */

static double sort_value(const struct builder *builder, const struct ap_top_values *value)
{
	switch (builder->view->sort) {
	case AP_TOP_BY_RATE:
		return value->rate;
	case AP_TOP_BY_OBJECTS:
		return (double)value->objects;
	case AP_TOP_BY_GROWTH:
		return (double)value->growth;
	case AP_TOP_BY_LIVE:
	case AP_TOP_BY_NAME:
		break;
	}
	return (double)value->live;
}

static int number_compare(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int node_compare(const void *a, const void *b, void *context)
{
	const struct builder *builder = context;
	const struct node *x = &builder->nodes[*(const uint32_t *)a];
	const struct node *y = &builder->nodes[*(const uint32_t *)b];
	const struct ap_function *functions = builder->sites->profile->functions;
	int order = 0;

	/* Roots, whose parent is NONE, come first. */
	if (x->parent != y->parent)
		return x->parent + 1 < y->parent + 1 ? -1 : 1;
	if (x->half != y->half)
		return x->half < y->half ? -1 : 1;
	if (builder->view->sort == AP_TOP_BY_NAME)
		order = strcmp(functions[x->function].name, functions[y->function].name);
	if (!order)
		order = number_compare(
			sort_value(builder, &x->value), sort_value(builder, &y->value));
	if (!order)
		order = number_compare((double)x->value.live, (double)y->value.live);
	if (!order)
		order = number_compare(x->value.rate, y->value.rate);
	/* Equal rows must not change places at each refresh. */
	return order ? order : (x->key < y->key ? -1 : x->key > y->key);
}

static int nodes_order(struct builder *builder)
{
	builder->order = calloc(builder->count + 1, sizeof(*builder->order));
	if (!builder->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < builder->count; i++)
		builder->order[i] = i;
	qsort_r(builder->order, builder->count, sizeof(*builder->order), node_compare, builder);
	for (uint32_t i = 0; i < builder->count; i++) {
		uint32_t parent = builder->nodes[builder->order[i]].parent;

		if (parent == NONE) {
			builder->root_count++;
		} else {
			if (!builder->nodes[parent].count++)
				builder->nodes[parent].first = i;
		}
	}
	return 0;
}

/* ---- Rows ---- */

static bool is_small(const struct builder *builder, const struct node *node)
{
	double value = sort_value(builder, &node->value);

	return builder->view->layout != AP_TOP_FLAT &&
	       (value < 0 ? -value : value) < builder->smallest;
}

static int row_add(struct builder *builder, const struct ap_top_row *row)
{
	struct ap_top_rows *rows = builder->rows;

	if (ap_array_grow((void **)&rows->rows, rows->count, &rows->room, sizeof(*row)))
		return -ENOMEM;
	rows->rows[rows->count++] = *row;
	return 0;
}

/* The nodes order[first..first + count) and what is below them, at the place of `above`. */
static int rows_add(
	struct builder *builder, uint32_t first, uint32_t count, const struct ap_top_row *above)
{
	struct ap_top_row small = {.function = AP_TOP_NO_FUNCTION};
	struct ap_top_row row = {.level = above->level, .guides = above->guides};
	uint32_t shown = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct node *node = &builder->nodes[builder->order[first + i]];

		if (is_small(builder, node)) {
			small.more++;
			ap_top_values_add(&small.value, &node->value);
		}
	}
	/* Only several rows are branches, which are a level deeper than `above`. */
	row.branch = builder->view->layout != AP_TOP_FLAT && above->key &&
		     count - small.more + !!small.more > 1;
	row.level += row.branch;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct node *node = &builder->nodes[builder->order[first + i]];

		if (is_small(builder, node))
			continue;
		row.key = node->key;
		row.function = node->function;
		row.line = node->line;
		row.half = node->half;
		row.value = node->value;
		row.has_children = node->count != 0;
		row.closed = node->count && closed_find(builder->view, node->key) >= 0;
		row.last = ++shown == count - small.more && !small.more;
		if (row.branch && row.level <= 64) {
			uint64_t bit = 1ULL << (row.level - 1);

			row.guides = above->guides | (row.last ? 0 : bit);
		}
		err = row_add(builder, &row);
		if (!err && !row.closed)
			err = rows_add(builder, node->first, node->count, &row);
	}
	if (err || !small.more)
		return err;
	small.key = ap_hash_u64(above->key, small.function);
	small.level = row.level;
	small.branch = row.branch;
	small.last = true;
	small.guides = above->guides;
	return row_add(builder, &small);
}

int ap_top_rows_build(
	struct ap_top_rows *rows, const struct ap_top_sites *sites, const struct ap_top_view *view)
{
	struct builder builder = {.sites = sites, .view = view, .rows = rows};
	const struct ap_top_row root = {0};
	double total;
	int err = matches_find(&builder);

	rows->count = 0;
	rows->total = (struct ap_top_values){0};
	for (uint32_t i = 0; i < sites->count && !err; i++) {
		const struct ap_top_site *site = &sites->sites[i];

		if (!site->count || !site_matches(&builder, site))
			continue;
		err = site_add(&builder, site);
		ap_top_values_add(&rows->total, &site->value);
	}
	if (!err)
		err = nodes_order(&builder);
	total = sort_value(&builder, &rows->total);
	builder.smallest = SMALLEST_SHARE * (total < 0 ? -total : total);
	if (!err)
		err = rows_add(&builder, 0, builder.root_count, &root);
	free(builder.matches);
	free(builder.nodes);
	free(builder.order);
	ap_table_clear(&builder.by_key);
	return err;
}

int64_t ap_top_rows_find(const struct ap_top_rows *rows, uint64_t key)
{
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->rows[i].key == key)
			return i;
	return -1;
}

void ap_top_rows_clear(struct ap_top_rows *rows)
{
	free(rows->rows);
	*rows = (struct ap_top_rows){0};
}
