// SPDX-License-Identifier: MIT
#include "page_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"

/*
 * From this relative difference on, the number of samples is written with decimals, which take
 * three times the room.
 */
#define SAMPLES_DIFFER 0.01

static int compare_parts(const void *a, const void *b)
{
	const struct ap_call_part *x = a, *y = b;

	if (x->side != y->side)
		return x->side - y->side;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->label < y->label ? -1 : x->label > y->label;
}

/* Adds up the parts of one node and label, and drops those of side 1. Returns how many remain. */
static uint32_t parts_merge(struct ap_call_part *parts, uint32_t count)
{
	uint32_t kept = 0;

	qsort(parts, count, sizeof(*parts), compare_parts);
	for (uint32_t i = 0; i < count && !parts[i].side; i++) {
		struct ap_call_part *last = kept ? &parts[kept - 1] : NULL;

		if (!last || compare_parts(last, &parts[i])) {
			parts[kept++] = parts[i];
			continue;
		}
		for (int v = 0; v < AP_VALUES; v++)
			last->value[v] = ap_value_add(last->value[v], parts[i].value[v]);
		last->samples += parts[i].samples;
		last->variance += parts[i].variance;
	}
	return kept;
}

int ap_page_parts_make(struct ap_page_parts *parts, const struct ap_call_tree *tree)
{
	size_t size = tree->part_count * sizeof(*parts->parts);
	uint32_t count;

	parts->parts = malloc(size + 1);
	parts->first = calloc(tree->node_count + 1, sizeof(*parts->first));
	parts->rest = calloc(tree->node_count, sizeof(*parts->rest));
	if (!parts->parts || !parts->first || !parts->rest) {
		ap_page_parts_clear(parts);
		return -ENOMEM;
	}
	if (size)
		memcpy(parts->parts, tree->parts, size);
	count = size ? parts_merge(parts->parts, tree->part_count) : 0;
	for (uint32_t node = 0, i = 0; node < tree->node_count; node++) {
		int64_t *rest = parts->rest[node];

		memcpy(rest, tree->nodes[node].self[0], sizeof(parts->rest[node]));
		for (; i < count && parts->parts[i].node == node; i++)
			for (int v = 0; v < AP_VALUES; v++)
				rest[v] = ap_value_add(rest[v], -parts->parts[i].value[v]);
		parts->first[node + 1] = i;
	}
	return 0;
}

void ap_page_parts_clear(struct ap_page_parts *parts)
{
	free(parts->parts);
	free(parts->first);
	free(parts->rest);
	memset(parts, 0, sizeof(*parts));
}

/*
 * Writes how many samples of one weight tell as much as those of the part: their number, unless
 * --max-rate has changed the period.
 */
static void samples_put(FILE *out, const struct ap_call_part *part)
{
	const int64_t *value = part->value;
	int side = value[AP_ALLOC_SPACE] ? AP_ALLOC_OBJECTS : AP_INUSE_OBJECTS;
	double all = (double)part->samples, alike;

	alike = ap_estimate_samples((double)value[side + AP_ALLOC_SPACE - AP_ALLOC_OBJECTS],
		(double)value[side], part->variance);
	if (all > 0 && alike > 0 && fabs(alike / all - 1) > SAMPLES_DIFFER)
		fprintf(out, ",%.4g", alike);
	else
		fprintf(out, ",%llu", (unsigned long long)part->samples);
}

/* Writes a part. Most parts are all live or all freed, and need only half of the numbers. */
static void part_put(FILE *out, uint32_t skip, const struct ap_call_part *part)
{
	enum { MIXED, LIVE, FREED } form = MIXED;
	const int64_t *value = part->value;

	if (value[AP_INUSE_OBJECTS] == value[AP_ALLOC_OBJECTS] &&
		value[AP_INUSE_SPACE] == value[AP_ALLOC_SPACE])
		form = LIVE;
	else if (!value[AP_INUSE_OBJECTS] && !value[AP_INUSE_SPACE])
		form = FREED;
	fprintf(out, "%u,%u", skip, 3 * part->label + form);
	samples_put(out, part);
	fprintf(out, ",%lld,%lld", (long long)value[AP_ALLOC_OBJECTS],
		(long long)value[AP_ALLOC_SPACE]);
	if (form == MIXED)
		fprintf(out, ",%lld,%lld", (long long)value[AP_INUSE_OBJECTS],
			(long long)value[AP_INUSE_SPACE]);
}

void ap_page_parts_put(
	FILE *out, const struct ap_page_parts *parts, const struct ap_call_tree *tree)
{
	uint32_t node = 0, position = 0, last = 0, left;
	const char *comma = "";

	fputs("\"parts\":[", out);
	do {
		for (uint32_t i = parts->first[node]; i < parts->first[node + 1]; i++) {
			fputs(comma, out);
			part_put(out, position - last, &parts->parts[i]);
			last = position;
			comma = ",";
		}
		position++;
		node = ap_call_tree_after(tree, node, &left);
	} while (node);
	fputs("],\n", out);
}
