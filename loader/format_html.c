/* SPDX-License-Identifier: MIT */
/*
 * One HTML file that asks for nothing else: flame.html with the style, the scripts and the profile
 * put in. The profile's JSON is described where it is read, in flame_profile.js. The policy in
 * the file allows the style and scripts by their hashes and nothing more, so that a name that
 * got past the escaping still could not run.
 */
#include "format_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "flame.css.h"
#include "flame.html.h"
#include "flame.js.h"
#include "flame_canvas.js.h"
#include "flame_frame.js.h"
#include "flame_input.js.h"
#include "flame_profile.js.h"
#include "flame_state.js.h"
#include "flame_table.js.h"
#include "format.h"
#include "json.h"
#include "printable.h"
#include "tint.h"

#define TOP_ROWS 20

struct asset {
	const unsigned char *bytes;
	size_t size;
	const char *sha256; /* hex */
};

#define ASSET(name)                                                                \
	{                                                                          \
		embedded_##name, sizeof(embedded_##name), embedded_##name##_sha256 \
	}

static const struct asset style = ASSET(flame_css);
/* In the order in which they use each other. */
static const struct asset scripts[] = {
	ASSET(flame_profile_js),
	ASSET(flame_canvas_js),
	ASSET(flame_table_js),
	ASSET(flame_state_js),
	ASSET(flame_frame_js),
	ASSET(flame_js),
	ASSET(flame_input_js),
};

#define SCRIPTS (sizeof(scripts) / sizeof(*scripts))

struct page {
	FILE *out;
	const struct ap_profile *profile;
	const struct ap_profile *base; /* NULL: no comparison */
	const struct ap_format_options *options;
	struct ap_call_tree *tree;
};

/* ---- Text in HTML ---- */

static void html_put(FILE *out, const char *text)
{
	char shown[4096];

	ap_printable(shown, sizeof(shown), text);
	for (const char *c = shown; *c; c++) {
		switch (*c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*c, out);
		}
	}
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

/* ---- The policy ---- */

static unsigned int hex_digit(char c)
{
	return c <= '9' ? (unsigned int)(c - '0') : (unsigned int)(c - 'a') + 10;
}

/* 'sha256-BASE64=' of 64 hex digits. */
static void hash_put(FILE *out, const char *hex)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	fputs(" 'sha256-", out);
	for (int i = 0; i < 64; i += 6) {
		/* 6 hex digits are 4 of base64; the last 4 are 3 and a sign for the padding. */
		unsigned int bits = 0, count = i + 6 <= 64 ? 6 : 4;

		for (unsigned int j = 0; j < 6; j++)
			bits = bits << 4 | (j < count ? hex_digit(hex[i + j]) : 0);
		for (unsigned int j = 0; j < (count == 6 ? 4 : 3); j++)
			fputc(digits[bits >> (18 - 6 * j) & 63], out);
	}
	fputs("='", out);
}

static void policy_put(FILE *out)
{
	fputs("default-src 'none'; script-src", out);
	for (size_t i = 0; i < SCRIPTS; i++)
		hash_put(out, scripts[i].sha256);
	fputs("; style-src", out);
	hash_put(out, style.sha256);
	fputs("; img-src data:; base-uri 'none'; form-action 'none'; "
	      "require-trusted-types-for 'script'; trusted-types 'none'",
		out);
}

/* ---- The profile as JSON ---- */

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
 * Sorted, so that neighbours share their beginnings. Only ASCII is shared: there bytes, and the
 * UTF-16 units that the reader counts in, are the same.
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

/* The frames most used first: short numbers for them make the tree a third shorter. */
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

static bool has_self(const struct ap_call_node *node, int side)
{
	for (int v = 0; v < AP_VALUES; v++)
		if (node->self[side][v])
			return true;
	return false;
}

/* The next node in preorder, and how many frames are left on the way to it; 0 at the end. */
static uint32_t node_after(const struct ap_call_tree *tree, uint32_t node, uint32_t *ret_left)
{
	*ret_left = 0;
	if (tree->nodes[node].first_child)
		return tree->nodes[node].first_child;
	while (node && !tree->nodes[node].next) {
		node = tree->nodes[node].parent;
		++*ret_left;
	}
	++*ret_left;
	return node ? tree->nodes[node].next : 0;
}

static void nodes_put(FILE *out, const struct ap_call_tree *tree, const uint32_t *rank)
{
	const char *comma = "";
	uint32_t left;

	fputs("\"tree\":[", out);
	for (uint32_t node = node_after(tree, 0, &left); node;
		node = node_after(tree, node, &left)) {
		if (left)
			fprintf(out, "%s-%u", comma, left);
		fprintf(out, "%s%u", left ? "," : comma, rank[tree->nodes[node].frame]);
		comma = ",";
	}
	fputs("],\n", out);
}

static void self_put(FILE *out, const struct ap_call_tree *tree, int side)
{
	uint32_t node = 0, position = 0, last = 0, left;
	const char *comma = "";

	fputs("\"self\":[", out);
	do {
		const int64_t *self = tree->nodes[node].self[side];

		if (has_self(&tree->nodes[node], side)) {
			fprintf(out, "%s%u,%lld,%lld,%lld,%lld", comma, position - last,
				(long long)self[0], (long long)self[1], (long long)self[2],
				(long long)self[3]);
			last = position;
			comma = ",";
		}
		position++;
		node = node_after(tree, node, &left);
	} while (node);
	fputc(']', out);
}

static void info_put(FILE *out, const struct ap_profile_info *info)
{
	const struct {
		const char *key, *text;
	} texts[] = {{"command", info->command}, {"comm", info->comm}, {"host", info->host},
		{"end", info->end_reason}, {"version", AP_VERSION}};

	fputs("\"info\":{", out);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fprintf(out, "\"%s\":", texts[i].key);
		ap_json_string(out, text_or(texts[i].text, ""));
		fputc(',', out);
	}
	fprintf(out, "\"pid\":%lld,\"start_ms\":%lld,\"duration_ms\":%lld,\"period\":%lld,",
		(long long)info->pid, (long long)info->start_ns / 1000000,
		(long long)info->duration_ns / 1000000, (long long)info->period);
	fprintf(out, "\"samples\":%llu,\"frees\":%llu,\"lost\":%llu,\"whole\":%llu},\n",
		(unsigned long long)info->samples, (unsigned long long)info->frees,
		(unsigned long long)info->lost, (unsigned long long)info->whole_stacks);
}

static int data_put(const struct page *page)
{
	const struct ap_call_tree *tree = page->tree;
	uint32_t *rank = calloc(tree->frame_count + 1, sizeof(*rank));
	FILE *out = page->out;
	int err;

	if (!rank)
		return -ENOMEM;
	fputs("{\"schema\":1,\n", out);
	info_put(out, &page->profile->info);
	fputs("\"types\":[", out);
	for (int v = 0; v < AP_VALUES; v++) {
		fputs(v ? "," : "", out);
		ap_json_string(out, page->profile->type[v].type);
		fputc(',', out);
		ap_json_string(out, page->profile->type[v].unit);
	}
	fprintf(out, "],\n\"show\":%d,\"allocator\":%d,\n", page->options->value,
		page->options->show_allocator);
	err = functions_put(out, tree);
	if (!err)
		err = frames_put(out, tree, rank);
	if (!err) {
		nodes_put(out, tree, rank);
		self_put(out, tree, 0);
		fputs(",\n\"base\":", out);
		if (page->base) {
			fputc('{', out);
			info_put(out, &page->base->info);
			self_put(out, tree, 1);
			fputc('}', out);
		} else {
			fputs("null", out);
		}
		fputs("}\n", out);
	}
	free(rank);
	return err;
}

/* ---- The page without script: who asked for most ---- */

struct row {
	const char *name;
	int64_t value[AP_VALUES];
	enum ap_value by;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int64_t p = x->value[x->by], q = y->value[y->by];

	return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

/* One row for each function that called the allocator; the caller frees *ret. */
static int rows_new(const struct page *page, struct row **ret, uint32_t *ret_count)
{
	const struct ap_profile *profile = page->profile;
	struct row *rows = calloc(profile->function_count + 1, sizeof(*rows));
	struct ap_shown_frames frames = {0};
	uint32_t count = profile->function_count + 1;
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		rows[i].name = i < count - 1 ? profile->functions[i].name : "[no stack]";
		rows[i].by = page->options->value;
	}
	for (uint32_t i = 0; i < profile->sample_count && !err; i++) {
		struct row *row = &rows[count - 1];

		err = ap_profile_frames(profile, &profile->samples[i], false, &frames);
		if (!err && frames.count)
			row = &rows[frames.frame[0].function];
		for (int v = 0; v < AP_VALUES; v++)
			row->value[v] += profile->samples[i].value[v];
	}
	free(frames.frame);
	if (err) {
		free(rows);
		return err;
	}
	qsort(rows, count, sizeof(*rows), compare_rows);
	*ret = rows;
	*ret_count = count;
	return 0;
}

static int top_put(const struct page *page)
{
	static const enum ap_value columns[] = {
		AP_INUSE_SPACE, AP_INUSE_OBJECTS, AP_ALLOC_SPACE, AP_ALLOC_OBJECTS};
	const struct ap_profile *profile = page->profile;
	FILE *out = page->out;
	struct row *rows;
	uint32_t count;
	int err = rows_new(page, &rows, &count);

	if (err)
		return err;
	fputs("<h1>", out);
	html_put(out, text_or(profile->info.comm, "profile"));
	fprintf(out,
		"</h1><p>The functions that asked for most memory. With JavaScript this page is an "
		"interactive flame graph.</p>\n<table><thead><tr><th>Function</th>");
	for (int c = 0; c < AP_VALUES; c++) {
		fputs("<th>", out);
		html_put(out, profile->type[columns[c]].type);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n<tr><td>all</td>", out);
	for (int c = 0; c < AP_VALUES; c++)
		fprintf(out, "<td>%lld</td>", (long long)profile->total[columns[c]]);
	fputs("</tr>\n", out);
	for (uint32_t i = 0; i < count && i < TOP_ROWS && rows[i].value[rows[i].by] > 0; i++) {
		fputs("<tr><td>", out);
		html_put(out, rows[i].name);
		fputs("</td>", out);
		for (int c = 0; c < AP_VALUES; c++)
			fprintf(out, "<td>%lld</td>", (long long)rows[i].value[columns[c]]);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>", out);
	free(rows);
	return 0;
}

/* ---- The template ---- */

static int policy_fill(const struct page *page)
{
	policy_put(page->out);
	return 0;
}

static int version_fill(const struct page *page)
{
	html_put(page->out, AP_VERSION);
	return 0;
}

static int title_fill(const struct page *page)
{
	html_put(page->out, text_or(page->profile->info.comm, "profile"));
	if (page->profile->info.pid > 0)
		fprintf(page->out, " (%lld)", (long long)page->profile->info.pid);
	fputs(page->base ? ": memory compared" : ": memory", page->out);
	return 0;
}

static int style_fill(const struct page *page)
{
	fwrite(style.bytes, 1, style.size, page->out);
	return 0;
}

static int scripts_fill(const struct page *page)
{
	for (size_t i = 0; i < SCRIPTS; i++) {
		fputs("<script>", page->out);
		fwrite(scripts[i].bytes, 1, scripts[i].size, page->out);
		fputs("</script>\n", page->out);
	}
	return 0;
}

static const struct hole {
	const char *name;
	int (*fill)(const struct page *page);
} holes[] = {
	{"POLICY", policy_fill},
	{"VERSION", version_fill},
	{"TITLE", title_fill},
	{"STYLE", style_fill},
	{"TOP", top_put},
	{"DATA", data_put},
	{"SCRIPTS", scripts_fill},
};

static int hole_fill(const struct page *page, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++)
		if (strlen(holes[i].name) == length && memcmp(holes[i].name, name, length) == 0)
			return holes[i].fill(page);
	return -EINVAL;
}

/* Copies the template and fills its holes, which are written @@NAME@@. */
static int template_put(const struct page *page)
{
	const char *at = (const char *)embedded_flame_html;
	const char *end = at + sizeof(embedded_flame_html);
	int err = 0;

	while (!err) {
		const char *hole = memmem(at, (size_t)(end - at), "@@", 2);
		const char *close;

		if (!hole)
			break;
		fwrite(at, 1, (size_t)(hole - at), page->out);
		close = memmem(hole + 2, (size_t)(end - hole - 2), "@@", 2);
		err = hole_fill(page, hole + 2, (size_t)(close - hole - 2));
		at = close + 2;
	}
	if (!err)
		fwrite(at, 1, (size_t)(end - at), page->out);
	return err;
}

int ap_format_html_compare(FILE *out, const struct ap_profile *profile,
	const struct ap_profile *base, const struct ap_format_options *options)
{
	struct page page = {out, profile, base, options, ap_call_tree_new()};
	int err;

	if (!page.tree)
		return -ENOMEM;
	errno = 0;
	err = ap_call_tree_add(page.tree, profile, 0);
	if (!err && base)
		err = ap_call_tree_add(page.tree, base, 1);
	if (!err)
		err = template_put(&page);
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	ap_call_tree_free(page.tree);
	return err;
}

int ap_format_html_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	return ap_format_html_compare(out, profile, options->base, options);
}
