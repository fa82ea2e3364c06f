// SPDX-License-Identifier: MIT
/*
 * Writes the profile compactly: each name once, sorted, without the prefix that it shares with the
 * one before; and the tree as a preorder walk in numbers. So 20,000 stacks take less than 2 MB.
 */
#include "page_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "json.h"
#include "page_parts.h"
#include "printable.h"
#include "tint.h"

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The index of a string among the sorted ones. Every string of the tree is there. */
static long string_index(const struct ap_call_tree *tree, const char **sorted, const char *text)
{
	const char **found =
		bsearch(&text, sorted, tree->strings.count, sizeof(*sorted), compare_text);

	return found ? found - sorted : -1;
}

/*
 * Writes the sorted strings. Only ASCII prefixes are shared, for which bytes are the same as the
 * UTF-16 units that the reader counts in.
 */
static void strings_put(FILE *out, const struct ap_call_tree *tree, const char **sorted)
{
	char shown[2][4096] = {"", ""};

	fputs("\"strings\":[", out);
	for (uint32_t i = 0; i < tree->strings.count; i++) {
		const char *before = shown[!(i & 1)];
		char *now = shown[i & 1];
		size_t shared = 0;

		ap_printable(now, sizeof(shown[0]), sorted[i]);
		while (now[shared] && now[shared] == before[shared] && !(now[shared] & 0x80))
			shared++;
		fprintf(out, "%s%zu,", i ? "," : "", shared);
		ap_json_string(out, now + shared);
	}
	fputs("],\n", out);
}

struct use {
	uint32_t frame, uses;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Writes the frames, most used first: short numbers for these make the tree a third shorter. */
static int frames_put(FILE *out, const struct ap_call_tree *tree, uint32_t *rank)
{
	struct use *order = calloc(tree->frame_count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->frame_count; i++)
		order[i] = (struct use){i, tree->frames[i].uses};
	qsort(order, tree->frame_count, sizeof(*order), compare_uses);
	fputs("\"frames\":[", out);
	for (uint32_t i = 0; i < tree->frame_count; i++) {
		const struct ap_call_frame *frame = &tree->frames[order[i].frame];

		rank[order[i].frame] = i;
		fprintf(out, "%s%u,%lld,%u", i ? "," : "", frame->function, (long long)frame->line,
			frame->flags);
	}
	fputs("],\n", out);
	free(order);
	return 0;
}

static int functions_put(FILE *out, const struct ap_call_tree *tree)
{
	const char **sorted = calloc(tree->strings.count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->strings.count; i++)
		sorted[i] = tree->strings.strings[i];
	qsort(sorted, tree->strings.count, sizeof(*sorted), compare_text);
	strings_put(out, tree, sorted);
	fputs("\"functions\":[", out);
	for (uint32_t i = 0; i < tree->function_count; i++) {
		const struct ap_call_function *function = &tree->functions[i];
		struct ap_tint tint = ap_tint(function->name, function->library,
			*function->library && function->library == tree->program);

		fprintf(out, "%s%ld,%ld,%ld,%ld,%lld,%u,%u", i ? "," : "",
			string_index(tree, sorted, function->name),
			string_index(tree, sorted, function->label),
			string_index(tree, sorted, function->file),
			string_index(tree, sorted, function->library),
			(long long)function->start_line, tint.hue, tint.shade);
	}
	fputs("],\n", out);
	free(sorted);
	return 0;
}

static bool has_value(const int64_t value[AP_VALUES])
{
	for (int v = 0; v < AP_VALUES; v++)
		if (value[v])
			return true;
	return false;
}

static void nodes_put(FILE *out, const struct ap_call_tree *tree, const uint32_t *rank)
{
	const char *comma = "";
	uint32_t left;

	fputs("\"tree\":[", out);
	for (uint32_t node = ap_call_tree_after(tree, 0, &left); node;
		node = ap_call_tree_after(tree, node, &left)) {
		if (left)
			fprintf(out, "%s-%u", comma, left);
		fprintf(out, "%s%u", left ? "," : comma, rank[tree->nodes[node].frame]);
		comma = ",";
	}
	fputs("],\n", out);
}

/* rest: of each node; NULL: the values of side 1, which have no parts. */
static void self_put(FILE *out, const struct ap_call_tree *tree, int64_t (*rest)[AP_VALUES])
{
	uint32_t node = 0, position = 0, last = 0, left;
	const char *comma = "";

	fputs("\"self\":[", out);
	do {
		const int64_t *self = rest ? rest[node] : tree->nodes[node].self[1];

		if (has_value(self)) {
			fprintf(out, "%s%u,%lld,%lld,%lld,%lld", comma, position - last,
				(long long)self[0], (long long)self[1], (long long)self[2],
				(long long)self[3]);
			last = position;
			comma = ",";
		}
		position++;
		node = ap_call_tree_after(tree, node, &left);
	} while (node);
	fputc(']', out);
}

static void labels_put(FILE *out, const struct ap_call_tree *tree, const struct ap_profile *profile)
{
	fputs("\"labels\":[", out);
	for (uint32_t i = 0; i < tree->label_count; i++) {
		const struct ap_labels *labels = &tree->labels[i];

		fprintf(out, "%s%d,%d,%d,%d", i ? "," : "", labels->size, labels->lifetime,
			labels->age, labels->thread);
	}
	fputs("],\n\"threads\":[", out);
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		fputs(i ? "," : "", out);
		ap_json_string(out, profile->threads[i].name);
		fprintf(out, ",%lld", (long long)profile->threads[i].tid);
	}
	fputs("],\n", out);
}

static void info_put(FILE *out, const struct ap_profile_info *info)
{
	const struct {
		const char *key, *text;
	} texts[] = {{"command", info->command}, {"comm", info->comm}, {"host", info->host},
		{"filter", info->filter}, {"end", info->end_reason}, {"version", AP_VERSION}};

	fputs("\"info\":{", out);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fprintf(out, "\"%s\":", texts[i].key);
		ap_json_string(out, texts[i].text ? texts[i].text : "");
		fputc(',', out);
	}
	fprintf(out, "\"pid\":%lld,\"start_ms\":%lld,\"duration_ms\":%lld,", (long long)info->pid,
		(long long)info->start_ns / AP_MILLISECOND_NS,
		(long long)info->duration_ns / AP_MILLISECOND_NS);
	fprintf(out, "\"period\":%lld,\"period_lowest\":%lld,", (long long)info->period,
		(long long)info->period_lowest);
	fprintf(out, "\"left_out\":[%lld,%lld,%lld,%lld],", (long long)info->left_out[0],
		(long long)info->left_out[1], (long long)info->left_out[2],
		(long long)info->left_out[3]);
	fprintf(out, "\"samples\":%llu,\"frees\":%llu,\"lost\":%llu,\"whole\":%llu},\n",
		(unsigned long long)info->samples, (unsigned long long)info->frees,
		(unsigned long long)info->lost, (unsigned long long)info->whole_stacks);
}

int ap_page_data_put(FILE *out, const struct ap_profile *profile, const struct ap_profile *base,
	const struct ap_call_tree *tree, const struct ap_format_options *options)
{
	uint32_t *rank = calloc(tree->frame_count + 1, sizeof(*rank));
	struct ap_page_parts parts = {0};
	int err = rank ? ap_page_parts_make(&parts, tree) : -ENOMEM;

	if (err)
		goto out;
	fputs("{\"schema\":1,\n", out);
	info_put(out, &profile->info);
	fputs("\"types\":[", out);
	for (int v = 0; v < AP_VALUES; v++) {
		fputs(v ? "," : "", out);
		ap_json_string(out, profile->type[v].type);
		fputc(',', out);
		ap_json_string(out, profile->type[v].unit);
	}
	fprintf(out, "],\n\"show\":%d,\"allocator\":%d,\n", options->value,
		options->show_allocator);
	err = functions_put(out, tree);
	if (!err)
		err = frames_put(out, tree, rank);
	if (!err) {
		labels_put(out, tree, profile);
		ap_page_parts_put(out, &parts, tree);
		nodes_put(out, tree, rank);
		self_put(out, tree, parts.rest);
		fputs(",\n\"base\":", out);
		if (base) {
			fputc('{', out);
			info_put(out, &base->info);
			self_put(out, tree, NULL);
			fputc('}', out);
		} else {
			fputs("null", out);
		}
		fputs("}\n", out);
	}
out:
	ap_page_parts_clear(&parts);
	free(rank);
	return err;
}
