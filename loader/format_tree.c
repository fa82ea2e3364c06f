// SPDX-License-Identifier: MIT
/* The tree of calls as text: a flame graph for the terminal. */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "error.h"
#include "printable.h"
#include "short_name.h"
#include "units.h"

/* Branches below this share of the total are summed up. */
#define SMALLEST_SHARE 0.01

/* The deepest level of branches that is drawn. Files are not trusted, so there has to be one. */
#define LEVELS 64

#define NAME_ROOM 256

struct writer {
	FILE *out;
	const struct ap_profile *profile;
	const struct ap_format_options *options;
	const struct ap_call_tree *tree;
	const int64_t *total; /* by node */
	double smallest;
	bool utf8;
	char lines[LEVELS * 4 + 1]; /* the tree lines of the levels above */
	size_t line_bytes;
	uint32_t level;
};

static double magnitude(int64_t value)
{
	return value < 0 ? -(double)value : (double)value;
}

static void value_write(struct writer *writer, int64_t value)
{
	const struct ap_format_options *options = writer->options;
	bool by_second = options->seconds > 0 && options->value <= AP_ALLOC_SPACE;
	const char *sign = value < 0 ? "-" : options->difference ? "+" : "";
	double number = magnitude(value) / (by_second ? options->seconds : 1);
	double all = magnitude(writer->total[0]);
	char size[AP_SIZE_TEXT], text[48];

	if (strcmp(writer->profile->type[options->value].unit, "bytes") == 0)
		ap_size_format(size, number);
	else
		snprintf(size, sizeof(size), "%.*f", by_second ? 1 : 0, number);
	snprintf(text, sizeof(text), "%s%s%s", sign, size, by_second ? "/s" : "");
	fprintf(writer->out, "  %11s", text);
	if (!options->difference)
		fprintf(writer->out, "  %5.1f%%", all > 0 ? 100 * magnitude(value) / all : 0);
	fprintf(writer->out, "  %s", writer->lines);
}

static void node_write(struct writer *writer, uint32_t node, const char *mark)
{
	const struct ap_call_tree *tree = writer->tree;
	const struct ap_call_frame *frame = &tree->frames[tree->nodes[node].frame];
	const struct ap_call_function *function = &tree->functions[frame->function];
	char name[NAME_ROOM], shown[NAME_ROOM];
	const char *slash = strrchr(function->file, '/');

	value_write(writer, writer->total[node]);
	ap_short_name(name, sizeof(name), function->name);
	ap_printable(shown, sizeof(shown), name);
	fprintf(writer->out, "%s%s", mark, shown);
	if (*function->file) {
		ap_printable(shown, sizeof(shown), slash ? slash + 1 : function->file);
		fprintf(writer->out, "  %s", shown);
	}
	fputc('\n', writer->out);
}

struct children {
	const int64_t *total;
	uint32_t *node; /* the children that are shown, the largest first */
	uint32_t count;
	uint32_t more; /* how many are too small to be shown */
	int64_t rest;  /* their sum */
};

static int child_compare(const void *a, const void *b, void *context)
{
	const int64_t *total = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (magnitude(total[x]) != magnitude(total[y]))
		return magnitude(total[x]) > magnitude(total[y]) ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int children_find(const struct writer *writer, uint32_t node, struct children *ret)
{
	const struct ap_call_node *nodes = writer->tree->nodes;
	uint32_t all = 0;

	*ret = (struct children){.total = writer->total};
	for (uint32_t child = nodes[node].first_child; child; child = nodes[child].next)
		all++;
	ret->node = calloc(all + 1, sizeof(*ret->node));
	if (!ret->node)
		return -ENOMEM;
	for (uint32_t child = nodes[node].first_child; child; child = nodes[child].next) {
		int64_t value = writer->total[child];

		if (magnitude(value) >= writer->smallest && value) {
			ret->node[ret->count++] = child;
		} else if (value) {
			ret->more++;
			ret->rest = ap_value_add(ret->rest, value);
		}
	}
	qsort_r(ret->node, ret->count, sizeof(*ret->node), child_compare,
		(void *)(uintptr_t)writer->total);
	return 0;
}

static const char *mark_of(const struct writer *writer, bool last)
{
	if (writer->utf8)
		return last ? "└ " : "├ ";
	return last ? "`-" : "|-";
}

static int below_write(struct writer *writer, uint32_t node);

/* Writes a node that has siblings: what is below it is a level deeper. */
static int branch_write(struct writer *writer, uint32_t node, bool last)
{
	size_t before = writer->line_bytes;
	const char *line = last ? "  " : writer->utf8 ? "│ " : "| ";
	int err;

	node_write(writer, node, mark_of(writer, last));
	if (writer->level == LEVELS)
		return 0;
	memcpy(writer->lines + before, line, strlen(line) + 1);
	writer->line_bytes += strlen(line);
	writer->level++;
	err = below_write(writer, node);
	writer->level--;
	writer->line_bytes = before;
	writer->lines[before] = '\0';
	return err;
}

static void rest_write(struct writer *writer, const struct children *children)
{
	value_write(writer, children->rest);
	fprintf(writer->out, "%s(%" PRIu32 " smaller)\n", mark_of(writer, true), children->more);
}

/* Writes what is below a node. An only child is written below its caller at the same level. */
static int below_write(struct writer *writer, uint32_t node)
{
	struct children children;
	int err = 0;

	for (;;) {
		err = children_find(writer, node, &children);
		if (err || children.count != 1 || children.more || !node)
			break;
		node = children.node[0];
		free(children.node);
		node_write(writer, node, "");
	}
	for (uint32_t i = 0; i < children.count && !err; i++) {
		if (node) {
			err = branch_write(writer, children.node[i],
				i + 1 == children.count && !children.more);
			continue;
		}
		node_write(writer, children.node[i], "");
		err = below_write(writer, children.node[i]);
	}
	if (!err && children.more)
		rest_write(writer, &children);
	free(children.node);
	return err;
}

/* What shares are relative to: in a difference, whose total may be small, the largest change. */
static double largest(const int64_t *total, uint32_t count)
{
	double most = 0;

	for (uint32_t i = 0; i < count; i++)
		most = magnitude(total[i]) > most ? magnitude(total[i]) : most;
	return most;
}

int ap_format_tree_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct ap_call_tree *tree = ap_call_tree_new();
	struct writer writer = {
		.out = out,
		.profile = profile,
		.options = options,
		.tree = tree,
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
	int64_t *total = NULL;
	int err = tree ? 0 : -ENOMEM;

	if (!err) {
		tree->functions_only = true;
		tree->without_allocator = !options->show_allocator;
		err = ap_call_tree_add(tree, profile, 0);
	}
	if (!err) {
		total = ap_call_tree_totals(tree, 0, options->value);
		err = total ? 0 : -ENOMEM;
	}
	errno = 0;
	if (!err) {
		writer.total = total;
		writer.smallest = SMALLEST_SHARE * largest(total, tree->node_count);
		err = below_write(&writer, 0);
		if (fflush(out) || ferror(out))
			err = err ? err : ap_errno();
	}
	free(total);
	ap_call_tree_free(tree);
	return err;
}
