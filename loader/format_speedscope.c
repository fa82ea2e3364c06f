// SPDX-License-Identifier: MIT
/*
 * speedscope's file format: frames once, then a profile for each value, whose samples are stacks
 * with weights. Its view in the order of time merges neighbours, so stacks come in the order of a
 * walk through the tree. It takes no negative weights: what has shrunk in a difference is a profile
 * of its own.
 */
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "error.h"
#include "json.h"
#include "value.h"

struct writer {
	struct ap_json json;
	const struct ap_profile *profile;
	const struct ap_call_tree *tree;
	uint32_t *stack; /* functions from the root to the current node; room for the deepest */
};

/* Writes a frame for each function, and a last one for samples without a stack. */
static void frames_put(struct writer *writer)
{
	const struct ap_call_tree *tree = writer->tree;
	struct ap_json *json = &writer->json;

	ap_json_object(json, "shared");
	ap_json_array(json, "frames");
	for (uint32_t i = 0; i < tree->function_count; i++) {
		const struct ap_call_function *function = &tree->functions[i];

		ap_json_object(json, NULL);
		ap_json_text(json, "name", function->name);
		if (*function->file)
			ap_json_text(json, "file", function->file);
		if (*function->file && function->start_line > 0)
			ap_json_number(json, "line", function->start_line);
		ap_json_close(json);
	}
	ap_json_object(json, NULL);
	ap_json_text(json, "name", "[no stack]");
	ap_json_close(json);
	ap_json_close(json);
	ap_json_close(json);
}

/* The weight of a node in the profile of what has grown, or of what has shrunk. */
static int64_t node_weight(
	const struct writer *writer, uint32_t node, enum ap_value value, int sign)
{
	int64_t number = writer->tree->nodes[node].self[0][value];

	if (sign < 0)
		number = number == INT64_MIN ? INT64_MAX : -number;
	return number > 0 ? number : 0;
}

static void samples_put(struct writer *writer, enum ap_value value, int sign)
{
	const struct ap_call_tree *tree = writer->tree;
	struct ap_json *json = &writer->json;
	uint32_t node = 0, depth = 0, up;

	ap_json_array(json, "samples");
	do {
		if (node_weight(writer, node, value, sign)) {
			ap_json_array(json, NULL);
			for (uint32_t i = 0; i < depth; i++)
				ap_json_number(json, NULL, writer->stack[i]);
			if (!depth)
				ap_json_number(json, NULL, tree->function_count);
			ap_json_close(json);
		}
		node = ap_call_tree_after(tree, node, &up);
		if (node) {
			depth -= up;
			writer->stack[depth++] = tree->frames[tree->nodes[node].frame].function;
		}
	} while (node);
	ap_json_close(json);
}

static void profile_put(struct writer *writer, enum ap_value value, int sign, const char *suffix)
{
	const struct ap_value_type *type = &writer->profile->type[value];
	struct ap_json *json = &writer->json;
	uint32_t node = 0, up;
	int64_t total = 0;
	char name[128];

	snprintf(name, sizeof(name), "%s%s", ap_value_name(type), suffix);
	ap_json_object(json, NULL);
	ap_json_text(json, "type", "sampled");
	ap_json_text(json, "name", name);
	ap_json_text(json, "unit", strcmp(type->unit, "bytes") ? "none" : "bytes");
	samples_put(writer, value, sign);
	ap_json_array(json, "weights");
	do {
		int64_t number = node_weight(writer, node, value, sign);

		if (number)
			ap_json_number(json, NULL, number);
		total = ap_value_add(total, number);
		node = ap_call_tree_after(writer->tree, node, &up);
	} while (node);
	ap_json_close(json);
	ap_json_number(json, "startValue", 0);
	ap_json_number(json, "endValue", total);
	ap_json_close(json);
}

/* Writes a profile for each value that there is, and which of them is shown first. */
static void profiles_put(struct writer *writer, const struct ap_format_options *options)
{
	int count = 0, active = 0;

	ap_json_array(&writer->json, "profiles");
	for (enum ap_value value = 0; value < AP_VALUES; value++) {
		if (!writer->profile->type[value].type[0])
			continue;
		if (value == options->value)
			active = count;
		profile_put(writer, value, 1, options->difference ? ", grown" : "");
		count++;
		if (!options->difference)
			continue;
		profile_put(writer, value, -1, ", shrunk");
		count++;
	}
	ap_json_close(&writer->json);
	ap_json_number(&writer->json, "activeProfileIndex", active);
}

static uint32_t deepest(const struct ap_call_tree *tree)
{
	uint32_t node = 0, depth = 0, most = 0, up;

	while ((node = ap_call_tree_after(tree, node, &up))) {
		depth = depth - up + 1;
		most = depth > most ? depth : most;
	}
	return most;
}

int ap_format_speedscope_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct ap_call_tree *tree = ap_call_tree_new();
	struct writer writer = {.json.out = out, .profile = profile, .tree = tree};
	const char *comm = profile->info.comm;
	int err = -ENOMEM;

	if (!tree)
		return err;
	tree->functions_only = true;
	tree->without_allocator = !options->show_allocator;
	if (ap_call_tree_add(tree, profile, 0))
		goto out;
	writer.stack = calloc((size_t)deepest(tree) + 1, sizeof(*writer.stack));
	if (!writer.stack)
		goto out;
	errno = 0;
	ap_json_object(&writer.json, NULL);
	ap_json_text(&writer.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	ap_json_text(&writer.json, "exporter", "allocprof@" AP_VERSION);
	ap_json_text(&writer.json, "name", comm && *comm ? comm : "allocprof");
	frames_put(&writer);
	profiles_put(&writer, options);
	ap_json_close(&writer.json);
	err = fflush(out) || ferror(out) ? ap_errno() : 0;
out:
	free(writer.stack);
	ap_call_tree_free(tree);
	return err;
}
