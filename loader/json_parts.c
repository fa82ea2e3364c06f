// SPDX-License-Identifier: MIT
#include "json_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"

int ap_json_parts_collect(struct ap_json_parts *parts, const struct ap_profile *profile,
	const struct ap_call_tree *tree)
{
	*parts = (struct ap_json_parts){
		.profile = profile,
		.tree = tree,
		.first = calloc(tree->node_count + 1, sizeof(*parts->first)),
		.next = calloc(tree->part_count + 1, sizeof(*parts->next)),
	};
	if (!parts->first || !parts->next)
		return -ENOMEM;
	for (uint32_t i = tree->part_count; i-- > 0;) {
		const struct ap_call_part *part = &tree->parts[i];

		if (part->side)
			continue;
		parts->next[i] = parts->first[part->node];
		parts->first[part->node] = i + 1;
	}
	return 0;
}

void ap_json_parts_clear(struct ap_json_parts *parts)
{
	free(parts->first);
	free(parts->next);
	*parts = (struct ap_json_parts){0};
}

static void part_put(
	struct ap_json *json, const struct ap_json_parts *parts, const struct ap_call_part *part)
{
	const struct ap_labels *labels = &parts->tree->labels[part->label];
	const struct ap_profile *profile = parts->profile;

	ap_json_object(json, NULL);
	if (labels->size >= 0)
		ap_json_number(json, "size_from", ap_size_class_floor(labels->size));
	if (labels->lifetime >= 0)
		ap_json_real(json, "lifetime_from_s",
			(double)ap_lifetime_floor(labels->lifetime) / AP_SECOND_NS);
	if (labels->age >= 0)
		ap_json_number(json, "age_from_percent", labels->age * (100 / AP_AGES));
	if (labels->thread >= 0) {
		ap_json_text(json, "thread", profile->threads[labels->thread].name);
		ap_json_number(json, "tid", profile->threads[labels->thread].tid);
	}
	if (part->samples)
		ap_json_number(json, "samples", (int64_t)part->samples);
	for (int value = 0; value < AP_VALUES; value++)
		if (profile->type[value].type[0])
			ap_json_number(json, profile->type[value].type, part->value[value]);
	ap_json_close(json);
}

void ap_json_parts_put(struct ap_json *json, const struct ap_json_parts *parts, uint32_t node)
{
	if (!parts->first[node])
		return;
	ap_json_array(json, "parts");
	for (uint32_t i = parts->first[node]; i; i = parts->next[i - 1])
		part_put(json, parts, &parts->tree->parts[i - 1]);
	ap_json_close(json);
}
