// SPDX-License-Identifier: MIT
/*
 * A still picture for tickets and READMEs: one value of the profile as an icicle, without
 * script and without anything fetched. A frame's full name and numbers are in its title, which
 * browsers show as a tooltip. With a base the widths stay the profile's, and colour and text
 * say what has changed.
 */
#include "format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "clock.h"
#include "error.h"
#include "markup.h"
#include "tint.h"
#include "units.h"
#include "value.h"

#define WIDTH	      1200
#define MARGIN	      10
#define HEADER	      52
#define ROW	      19
#define NARROWEST     0.8 /* pixels; narrower frames are left out, and nobody can see them */
#define DEEPEST	      200 /* rows */
#define LETTER	      6.9 /* pixels, the mean of a wide sans-serif at 11.5 px */
#define POINTED_LEAST 3.0 /* pixels that a frame needs to be pointed at */
#define MINUS	      "\xe2\x88\x92"
#define LABEL_LEAST   24.0 /* pixels that a frame needs for a text */

struct picture {
	FILE *out;
	const struct ap_profile *profile;
	const struct ap_call_tree *tree;
	enum ap_value value;
	const int64_t *total; /* by node */
	const int64_t *base;  /* the same of what is compared with; NULL: nothing is */
	double *x;	      /* left edge of each node, in units of the value */
	uint32_t *depth;
	double scale; /* pixels for one of the value */
};

/* ---- Layout ---- */

struct child {
	uint32_t node;
	int64_t total;
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* A parent stands before its children, so one pass gives each its place: the largest first. */
static int layout(struct picture *picture)
{
	const struct ap_call_tree *tree = picture->tree;
	struct child *children = calloc(tree->node_count, sizeof(*children));

	if (!children)
		return -ENOMEM;
	for (uint32_t node = 0; node < tree->node_count; node++) {
		double x = picture->x[node];
		size_t count = 0;

		for (uint32_t n = tree->nodes[node].first_child; n; n = tree->nodes[n].next)
			children[count++] = (struct child){n, picture->total[n]};
		qsort(children, count, sizeof(*children), compare_children);
		for (size_t i = 0; i < count; i++) {
			picture->depth[children[i].node] = picture->depth[node] + 1;
			picture->x[children[i].node] = x;
			if (children[i].total > 0)
				x += (double)children[i].total;
		}
	}
	free(children);
	return 0;
}

static bool is_drawn(const struct picture *picture, uint32_t node)
{
	return picture->depth[node] < DEEPEST &&
	       (!node || (double)picture->total[node] * picture->scale >= NARROWEST);
}

/* ---- What has changed ---- */

#define CHANGE_TEXT 24

/* The change of a node as a share of the larger side: -1 is all gone, 1 is all new. */
static double change_of(const struct picture *picture, uint32_t node)
{
	double now = (double)picture->total[node], then = (double)picture->base[node];
	double larger = fmax(fabs(now), fabs(then));

	return larger > 0 ? (now - then) / larger : 0;
}

/* "+12%", "new", "=" */
static const char *change_format(
	char out[CHANGE_TEXT], const struct picture *picture, uint32_t node)
{
	int64_t now = picture->total[node], then = picture->base[node];
	double share = then ? 100 * ((double)now / (double)then - 1) : 0;

	if (now == then)
		snprintf(out, CHANGE_TEXT, "=");
	else if (!then)
		snprintf(out, CHANGE_TEXT, "new");
	else
		snprintf(out, CHANGE_TEXT, fabs(share) < 9.95 ? "%s%.1f%%" : "%s%.0f%%",
			share < 0 ? MINUS : "+", fabs(share));
	return out;
}

/* "+2.9 MiB" */
static const char *difference_format(
	char out[AP_VALUE_TEXT + 4], int64_t now, int64_t then, const struct ap_value_type *type)
{
	int64_t difference = now - then;
	char number[AP_VALUE_TEXT];

	ap_value_format(number, difference < 0 ? -difference : difference, type);
	snprintf(out, AP_VALUE_TEXT + 4, "%s%s", difference < 0 ? MINUS : "+", number);
	return out;
}

/* The sum of the stacks that only the base has: they would have no width. */
static int64_t gone(const struct picture *picture)
{
	const struct ap_call_tree *tree = picture->tree;
	int64_t sum = 0;

	for (uint32_t node = 1; node < tree->node_count; node++)
		if (!picture->total[node] && picture->total[tree->nodes[node].parent])
			sum = ap_value_add(sum, picture->base[node]);
	return sum;
}

/* Orange grew, blue shrank: told apart with any colour vision, and by lightness. */
static void change_colour(double change, uint8_t rgb[3])
{
	double depth = fabs(change);

	ap_oklch(0.915 - 0.14 * depth, 0.004 + 0.135 * depth, change < 0 ? 250 : 58, rgb);
}

/* ---- Drawing ---- */

static void colour(const struct picture *picture, uint32_t node, uint8_t rgb[3])
{
	const struct ap_call_tree *tree = picture->tree;
	const struct ap_call_function *function;
	const struct ap_call_frame *frame;
	struct ap_tint tint;
	uint32_t light, turn;

	if (picture->base) {
		change_colour(change_of(picture, node), rgb);
		return;
	}
	if (!node) {
		ap_oklch(0.925, 0.008, 260, rgb);
		return;
	}
	frame = &tree->frames[tree->nodes[node].frame];
	if (frame->flags & AP_FRAME_RESERVED) {
		ap_oklch(0.825, 0, 0, rgb);
		return;
	}
	function = &tree->functions[frame->function];
	tint = ap_tint(function->name, function->library,
		*function->library && function->library == tree->program);
	light = tint.shade % 100;
	turn = tint.shade / 100;
	ap_oklch(0.875 + (light / 100.0 - 0.5) * 0.055, *function->library ? 0.08 : 0.02,
		tint.hue + (turn / 100.0 - 0.5) * 16, rgb);
}

static const struct ap_call_function *function_of(const struct picture *picture, uint32_t node)
{
	static const struct ap_call_function root = {.name = "All stacks", .label = "All stacks"};
	const struct ap_call_tree *tree = picture->tree;

	return node ? &tree->functions[tree->frames[tree->nodes[node].frame].function] : &root;
}

static void frame_put(const struct picture *picture, uint32_t node)
{
	const struct ap_value_type *type = &picture->profile->type[picture->value];
	double x = MARGIN + picture->x[node] * picture->scale;
	double width = node ? (double)picture->total[node] * picture->scale : WIDTH - 2 * MARGIN;
	double share = picture->total[0]
			       ? 100.0 * (double)picture->total[node] / (double)picture->total[0]
			       : 0;
	unsigned int y = HEADER + picture->depth[node] * ROW;
	const struct ap_call_function *function = function_of(picture, node);
	char number[AP_VALUE_TEXT], difference[AP_VALUE_TEXT + 4], at_right[CHANGE_TEXT];
	FILE *out = picture->out;
	uint8_t rgb[3];

	if (picture->base)
		change_format(at_right, picture, node);
	else
		snprintf(at_right, sizeof(at_right), "%.1f%%", share);
	colour(picture, node, rgb);
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#%02x%02x%02x\"", x,
		y, width > 2 ? width - 1 : width, ROW - 1, rgb[0], rgb[1], rgb[2]);
	if (width < POINTED_LEAST) {
		fputs("/>\n", out);
		return;
	}
	fputs("><title>", out);
	ap_markup_put(out, function->name, SIZE_MAX);
	fprintf(out, "\n%s, %.2f%%", ap_value_format(number, picture->total[node], type), share);
	if (picture->base)
		fprintf(out, "; %s (%s)",
			difference_format(
				difference, picture->total[node], picture->base[node], type),
			at_right);
	fputs("</title></rect>\n", out);
	if (width >= LABEL_LEAST) {
		size_t letters = (size_t)((width - 8) / LETTER);
		const char *name =
			strlen(function->name) <= letters ? function->name : function->label;

		fprintf(out, "<text x=\"%.1f\" y=\"%u\">", x + 4, y + 13);
		ap_markup_put(out, name, letters);
		fputs("</text>", out);
		/* At the right, the share or the change, if there is room for it. */
		if ((node || picture->base) && width >= 130 &&
			(double)strlen(name) * LETTER + 60 < width)
			fprintf(out, "<text class=\"s\" x=\"%.1f\" y=\"%u\">%s</text>",
				x + width - 5, y + 13, at_right);
		fputc('\n', out);
	}
}

/* Behind the total: the total of the base, and a legend of the colours. */
static void change_put(const struct picture *picture)
{
	const struct ap_value_type *type = &picture->profile->type[picture->value];
	char change[CHANGE_TEXT], number[AP_VALUE_TEXT + 4];
	int64_t lost = gone(picture);
	static const double marks[] = {-0.8, 0.8};
	FILE *out = picture->out;

	fprintf(out, ", %s (%s)",
		difference_format(number, picture->total[0], picture->base[0], type),
		change_format(change, picture, 0));
	if (lost > 0)
		fprintf(out, "; in stacks that are gone: %s", ap_value_format(number, lost, type));
	fputs("</text>\n", out);
	for (size_t i = 0; i < 2; i++) {
		int x = WIDTH - MARGIN - 126 + (int)i * 70;
		uint8_t rgb[3];

		change_colour(marks[i], rgb);
		fprintf(out,
			"<rect x=\"%d\" y=\"12\" width=\"10\" height=\"10\" rx=\"2\" "
			"fill=\"#%02x%02x%02x\"/><text class=\"i\" x=\"%d\" y=\"21\">%s</text>\n",
			x, rgb[0], rgb[1], rgb[2], x + 15, i ? "grew" : "shrank");
	}
}

static void header_put(const struct picture *picture, uint32_t rows)
{
	const struct ap_profile_info *info = &picture->profile->info;
	const struct ap_value_type *type = &picture->profile->type[picture->value];
	unsigned int height = HEADER + rows * ROW + MARGIN;
	char number[AP_VALUE_TEXT], period[AP_SIZE_TEXT];
	FILE *out = picture->out;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" role=\"img\">\n<style>text{pointer-events:none;font:11.5px "
		"Inter,system-ui,"
		"\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;fill:#1b2230}"
		".t{font-size:15px;font-weight:600}.i{fill:#5a6475}"
		".s{fill:#5a6475;text-anchor:end}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	fprintf(out, "<text class=\"t\" x=\"%d\" y=\"22\">", MARGIN);
	ap_markup_put(out, info->comm && *info->comm ? info->comm : "profile", 60);
	fprintf(out, ": %s %s", ap_value_format(number, picture->total[0], type),
		ap_value_name(type));
	if (picture->base)
		change_put(picture);
	else
		fputs("</text>\n", out);
	fprintf(out, "<text class=\"i\" x=\"%d\" y=\"41\">", MARGIN);
	if (info->command)
		ap_markup_put(out, info->command, 90);
	if (info->pid > 0)
		fprintf(out, " \xc2\xb7 pid %lld", (long long)info->pid);
	if (info->duration_ns > 0)
		fprintf(out, " \xc2\xb7 %.1f s", (double)info->duration_ns / AP_SECOND_NS);
	if (info->period > 0)
		fputs(" \xc2\xb7 one sample per ", out);
	if (info->period > 0 && info->period_lowest > 0)
		fprintf(out, "%s to ", ap_size_format(period, (double)info->period_lowest));
	if (info->period > 0)
		fputs(ap_size_format(period, (double)info->period), out);
	if (info->samples > 0)
		fprintf(out, " \xc2\xb7 %llu samples, %llu lost, %.1f%% whole stacks",
			(unsigned long long)info->samples, (unsigned long long)info->lost,
			100.0 * (double)info->whole_stacks / (double)info->samples);
	fputs("</text>\n", out);
}

static int picture_put(struct picture *picture)
{
	const struct ap_call_tree *tree = picture->tree;
	uint32_t rows = 1;
	bool cut = false;
	int err = layout(picture);

	if (err)
		return err;
	picture->scale =
		picture->total[0] > 0 ? (WIDTH - 2 * MARGIN) / (double)picture->total[0] : 0;
	for (uint32_t node = 0; node < tree->node_count; node++)
		if (is_drawn(picture, node) && picture->depth[node] >= rows)
			rows = picture->depth[node] + 1;
		else if (picture->depth[node] >= DEEPEST)
			cut = true;
	header_put(picture, rows + cut);
	if (cut)
		fprintf(picture->out,
			"<text class=\"i\" x=\"%d\" y=\"%d\">deeper frames are not drawn</text>\n",
			MARGIN, HEADER + DEEPEST * ROW + 13);
	for (uint32_t node = 0; node < tree->node_count; node++)
		if (is_drawn(picture, node))
			frame_put(picture, node);
	fputs("</svg>\n", picture->out);
	return 0;
}

int ap_format_svg_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct picture picture = {.out = out, .profile = profile, .value = options->value};
	struct ap_call_tree *tree = ap_call_tree_new();
	int64_t *total = NULL, *base = NULL;
	int err = -ENOMEM;

	if (!tree)
		return err;
	errno = 0;
	tree->functions_only = true;
	tree->without_allocator = !options->show_allocator;
	err = ap_call_tree_add(tree, profile, 0);
	if (!err && options->base)
		err = ap_call_tree_add(tree, options->base, 1);
	if (err)
		goto out;
	err = -ENOMEM;
	total = ap_call_tree_totals(tree, 0, options->value);
	if (options->base)
		base = ap_call_tree_totals(tree, 1, options->value);
	picture.x = calloc(tree->node_count, sizeof(*picture.x));
	picture.depth = calloc(tree->node_count, sizeof(*picture.depth));
	if (!total || (options->base && !base) || !picture.x || !picture.depth)
		goto out;
	picture.tree = tree;
	picture.total = total;
	picture.base = base;
	err = picture_put(&picture);
	if (!err && (fflush(out) || ferror(out)))
		err = ap_errno();
out:
	free(picture.x);
	free(picture.depth);
	free(total);
	free(base);
	ap_call_tree_free(tree);
	return err;
}
