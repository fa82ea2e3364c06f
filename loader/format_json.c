// SPDX-License-Identifier: MIT
/*
 * JSON for scripts; allocprof(1) describes it. Each number is an object: what it is, how far off it
 * may be, and, of a comparison, what it was.
 */
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call_tree.h"
#include "clock.h"
#include "error.h"
#include "estimate.h"
#include "json.h"
#include "json_parts.h"

#define SIDES 2 /* the profile, and what it is compared with */

struct numbers {
	int64_t value[SIDES][AP_VALUES];
	struct ap_estimate estimate[SIDES][AP_VALUES];
};

struct writer {
	struct ap_json json;
	const struct ap_format_options *options;
	const struct ap_profile *profile[SIDES]; /* [1] NULL: nothing to compare with */
	const struct ap_call_tree *tree;
	struct ap_json_parts parts;
	/*
	 * Sums for each node of the tree (of the stacks that end there), and for each function: of
	 * the stacks in which it is innermost, and of those that have it anywhere.
	 */
	struct numbers *nodes, *self, *with;
	struct numbers total;
};

static void numbers_add(struct numbers *sum, const struct numbers *other)
{
	for (int side = 0; side < SIDES; side++) {
		for (int value = 0; value < AP_VALUES; value++) {
			sum->value[side][value] =
				ap_value_add(sum->value[side][value], other->value[side][value]);
			sum->estimate[side][value].value += other->estimate[side][value].value;
			sum->estimate[side][value].variance +=
				other->estimate[side][value].variance;
		}
	}
}

/* Whether its values are samples of bytes: then the error can be told. */
static bool is_sampled(const struct ap_profile *profile)
{
	if (!profile || profile->info.period <= 0)
		return false;
	for (int value = 0; value < AP_VALUES; value += 2)
		if (!ap_profile_has(profile, value) != !ap_profile_has(profile, value + 1))
			return false;
	return true;
}

static void estimates_read(
	struct writer *writer, struct numbers *numbers, int side, const struct ap_sample *sample)
{
	const struct ap_profile *profile = writer->profile[side], *base = writer->profile[1];
	bool cancels = !side && base && ap_estimate_cancels(profile, sample, base);

	for (int value = 0; value < AP_VALUES; value++) {
		struct ap_estimate one = {0}, *sum = &numbers->estimate[side][value];

		ap_estimate_add(&one, profile, sample, value);
		sum->value += one.value;
		if (cancels && (value == AP_INUSE_OBJECTS || value == AP_INUSE_SPACE))
			sum->variance -= one.variance;
		else
			sum->variance += one.variance;
	}
}

/* Sums up the stacks that end in each node. */
static void nodes_read(struct writer *writer)
{
	const struct ap_call_tree *tree = writer->tree;

	for (uint32_t node = 0; node < tree->node_count; node++)
		memcpy(writer->nodes[node].value, tree->nodes[node].self,
			sizeof(writer->nodes[node].value));
	for (int side = 0; side < SIDES && writer->profile[side]; side++) {
		const struct ap_profile *profile = writer->profile[side];

		for (uint32_t i = 0; i < profile->sample_count; i++)
			estimates_read(writer, &writer->nodes[tree->ends[side][i]], side,
				&profile->samples[i]);
	}
}

/* Adds up functions and the total. A function counts once in a stack. */
static int numbers_collect(struct writer *writer)
{
	const struct ap_call_tree *tree = writer->tree;
	uint32_t *seen = calloc((size_t)tree->function_count + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	nodes_read(writer);
	for (uint32_t node = 0; node < tree->node_count; node++) {
		const struct numbers *numbers = &writer->nodes[node];

		numbers_add(&writer->total, numbers);
		if (node)
			numbers_add(&writer->self[tree->frames[tree->nodes[node].frame].function],
				numbers);
		for (uint32_t at = node; at; at = tree->nodes[at].parent) {
			uint32_t function = tree->frames[tree->nodes[at].frame].function;

			if (seen[function] != node)
				numbers_add(&writer->with[function], numbers);
			seen[function] = node;
		}
	}
	free(seen);
	return 0;
}

static void change_put(struct writer *writer, const struct numbers *numbers, enum ap_value value)
{
	int64_t now = numbers->value[0][value], before = numbers->value[1][value];
	struct ap_json *json = &writer->json;

	ap_json_number(json, "base", before);
	ap_json_number(
		json, "change", ap_value_add(now, before == INT64_MIN ? INT64_MAX : -before));
	if (is_sampled(writer->profile[0]) && is_sampled(writer->profile[1]))
		ap_json_real(json, "error",
			ap_estimate_interval(numbers->estimate[0][value].variance +
					     numbers->estimate[1][value].variance));
}

static void range_put(struct writer *writer, const struct ap_estimate *estimate)
{
	double low, high;

	if (!is_sampled(writer->profile[0]))
		return;
	ap_estimate_range(estimate, &low, &high);
	ap_json_real(&writer->json, "low", low);
	ap_json_real(&writer->json, "high", high);
}

static void numbers_put(struct writer *writer, const char *key, const struct numbers *numbers)
{
	const struct ap_profile *profile = writer->profile[0];
	struct ap_json *json = &writer->json;

	ap_json_object(json, key);
	for (int value = 0; value < AP_VALUES; value++) {
		if (!profile->type[value].type[0])
			continue;
		ap_json_object(json, profile->type[value].type);
		ap_json_number(json, "value", numbers->value[0][value]);
		if (writer->profile[1])
			change_put(writer, numbers, value);
		else
			range_put(writer, &numbers->estimate[0][value]);
		ap_json_close(json);
	}
	ap_json_close(json);
}

static void info_put(struct writer *writer, const char *key, const struct ap_profile_info *info)
{
	struct ap_json *json = &writer->json;
	time_t start = (time_t)(info->start_ns / AP_SECOND_NS);
	char moment[40] = "";
	struct tm parts;

	if (info->start_ns > 0 && gmtime_r(&start, &parts))
		strftime(moment, sizeof(moment), "%Y-%m-%dT%H:%M:%SZ", &parts);
	ap_json_object(json, key);
	ap_json_text(json, "command", info->command);
	ap_json_text(json, "comm", info->comm);
	ap_json_text(json, "host", info->host);
	ap_json_number(json, "pid", info->pid);
	ap_json_text(json, "start", *moment ? moment : NULL);
	ap_json_real(json, "duration_s", (double)info->duration_ns / AP_SECOND_NS);
	ap_json_text(json, "end", info->end_reason);
	ap_json_number(json, "period", info->period);
	ap_json_number(
		json, "period_lowest", info->period_lowest ? info->period_lowest : info->period);
	ap_json_number(json, "samples", (int64_t)info->samples);
	ap_json_number(json, "frees", (int64_t)info->frees);
	ap_json_number(json, "lost", (int64_t)info->lost);
	ap_json_number(json, "whole_stacks", (int64_t)info->whole_stacks);
	if (info->filter) {
		ap_json_text(json, "filter", info->filter);
		ap_json_object(json, "left_out");
		for (int value = 0; value < AP_VALUES; value++)
			ap_json_number(json, ap_value_names[value], info->left_out[value]);
		ap_json_close(json);
	}
	ap_json_close(json);
}

static void functions_put(struct writer *writer)
{
	const struct ap_call_tree *tree = writer->tree;
	struct ap_json *json = &writer->json;

	ap_json_array(json, "functions");
	for (uint32_t i = 0; i < tree->function_count; i++) {
		const struct ap_call_function *function = &tree->functions[i];

		ap_json_object(json, NULL);
		ap_json_text(json, "name", function->name);
		ap_json_text(json, "file", *function->file ? function->file : NULL);
		ap_json_text(json, "library", *function->library ? function->library : NULL);
		numbers_put(writer, "self", &writer->self[i]);
		numbers_put(writer, "total", &writer->with[i]);
		ap_json_close(json);
	}
	ap_json_close(json);
}

static bool is_nothing(const struct ap_call_node *node)
{
	for (int side = 0; side < SIDES; side++)
		for (int value = 0; value < AP_VALUES; value++)
			if (node->self[side][value])
				return false;
	return true;
}

static void stacks_put(struct writer *writer)
{
	const struct ap_call_tree *tree = writer->tree;
	struct ap_json *json = &writer->json;

	ap_json_array(json, "stacks");
	for (uint32_t node = 0; node < tree->node_count; node++) {
		if (is_nothing(&tree->nodes[node]))
			continue;
		ap_json_object(json, NULL);
		ap_json_array(json, "frames");
		for (uint32_t at = node; at; at = tree->nodes[at].parent) {
			const struct ap_call_frame *frame = &tree->frames[tree->nodes[at].frame];

			ap_json_object(json, NULL);
			ap_json_number(json, "function", frame->function);
			if (frame->line)
				ap_json_number(json, "line", frame->line);
			if (frame->flags & AP_FRAME_INLINED)
				ap_json_bool(json, "inlined", true);
			ap_json_close(json);
		}
		ap_json_close(json);
		numbers_put(writer, "values", &writer->nodes[node]);
		ap_json_parts_put(json, &writer->parts, node);
		ap_json_close(json);
	}
	ap_json_close(json);
}

static int all_put(struct writer *writer)
{
	const struct ap_profile *profile = writer->profile[0];
	struct ap_json *json = &writer->json;

	errno = 0;
	ap_json_object(json, NULL);
	ap_json_number(json, "schema", 1);
	ap_json_text(json, "version", AP_VERSION);
	info_put(writer, "profile", &profile->info);
	if (writer->profile[1]) {
		info_put(writer, "base", &writer->profile[1]->info);
		ap_json_real(json, "base_scale",
			writer->options->base_scale > 0 ? writer->options->base_scale : 1);
	}
	ap_json_object(json, "units");
	for (int value = 0; value < AP_VALUES; value++)
		if (profile->type[value].type[0])
			ap_json_text(json, profile->type[value].type, profile->type[value].unit);
	ap_json_close(json);
	ap_json_text(json, "shown", profile->type[writer->options->value].type);
	numbers_put(writer, "total", &writer->total);
	functions_put(writer);
	stacks_put(writer);
	ap_json_close(json);
	return fflush(json->out) || ferror(json->out) ? ap_errno() : 0;
}

static int tree_put(struct writer *writer)
{
	size_t nodes = writer->tree->node_count, functions = writer->tree->function_count;
	struct numbers *numbers = calloc(nodes + 2 * functions, sizeof(*numbers));
	int err;

	if (!numbers)
		return -ENOMEM;
	writer->nodes = numbers;
	writer->self = numbers + nodes;
	writer->with = writer->self + functions;
	err = numbers_collect(writer);
	if (!err)
		err = ap_json_parts_collect(&writer->parts, writer->profile[0], writer->tree);
	if (!err)
		err = all_put(writer);
	ap_json_parts_clear(&writer->parts);
	free(numbers);
	return err;
}

int ap_format_json_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct ap_call_tree *tree = ap_call_tree_new();
	struct writer writer = {
		.json.out = out,
		.options = options,
		.profile = {profile, options->base},
		.tree = tree,
	};
	int err;

	if (!tree)
		return -ENOMEM;
	tree->without_allocator = !options->show_allocator;
	err = ap_call_tree_add(tree, profile, 0);
	if (!err && options->base)
		err = ap_call_tree_add(tree, options->base, 1);
	if (!err)
		err = tree_put(&writer);
	ap_call_tree_free(tree);
	return err;
}
