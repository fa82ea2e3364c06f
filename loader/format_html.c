// SPDX-License-Identifier: MIT
/*
 * One HTML file that asks for nothing else: flame.html with the styles, the scripts and the profile
 * put in. The profile's JSON is described where it is read, in flame_profile.js. The policy in
 * the file allows the style and scripts by their hashes and nothing more, so that a name that
 * got past the escaping still could not run.
 */
#include "format.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "call_tree.h"
#include "flame.css.h"
#include "flame_cards.css.h"
#include "flame_media.css.h"
#include "flame_panes.css.h"
#include "flame.html.h"
#include "flame.js.h"
#include "flame_canvas.js.h"
#include "flame_change.js.h"
#include "flame_frame.js.h"
#include "flame_header.js.h"
#include "flame_input.js.h"
#include "flame_parts.js.h"
#include "flame_profile.js.h"
#include "flame_state.js.h"
#include "flame_table.js.h"
#include "flame_tree.js.h"
#include "error.h"
#include "markup.h"
#include "page_data.h"
#include "page_top.h"

struct asset {
	const unsigned char *bytes;
	size_t size;
	const char *sha256; /* hex */
};

#define ASSET(name)                                                                \
	{                                                                          \
		embedded_##name, sizeof(embedded_##name), embedded_##name##_sha256 \
	}

static const struct asset styles[] = {
	ASSET(flame_css),
	ASSET(flame_panes_css),
	ASSET(flame_cards_css),
	ASSET(flame_media_css),
};

/* In the order of their dependencies. */
static const struct asset scripts[] = {
	ASSET(flame_profile_js),
	ASSET(flame_parts_js),
	ASSET(flame_tree_js),
	ASSET(flame_canvas_js),
	ASSET(flame_table_js),
	ASSET(flame_state_js),
	ASSET(flame_change_js),
	ASSET(flame_header_js),
	ASSET(flame_frame_js),
	ASSET(flame_js),
	ASSET(flame_input_js),
};

#define STYLES	(sizeof(styles) / sizeof(*styles))
#define SCRIPTS (sizeof(scripts) / sizeof(*scripts))

#define PPROF_MOST (384 << 10) /* so that a page of 20,000 stacks stays below 2 MB */

struct page {
	FILE *out;
	const struct ap_profile *profile;
	const struct ap_profile *base; /* NULL: no comparison */
	const struct ap_format_options *options;
	struct ap_call_tree *tree;
};

/* ---- The policy ---- */

static unsigned int hex_digit(char c)
{
	return c <= '9' ? (unsigned int)(c - '0') : (unsigned int)(c - 'a') + 10;
}

/* Writes 'sha256-BASE64=' for a hash of 64 hex digits. */
static void hash_put(FILE *out, const char *hex)
{
	uint8_t bytes[32];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	fputs(" 'sha256-", out);
	ap_base64_put(out, bytes, sizeof(bytes));
	fputc('\'', out);
}

static void policy_put(FILE *out)
{
	fputs("default-src 'none'; script-src", out);
	for (size_t i = 0; i < SCRIPTS; i++)
		hash_put(out, scripts[i].sha256);
	fputs("; style-src", out);
	for (size_t i = 0; i < STYLES; i++)
		hash_put(out, styles[i].sha256);
	fputs("; img-src data:; base-uri 'none'; form-action 'none'; "
	      "require-trusted-types-for 'script'; trusted-types 'none'",
		out);
}

/* ---- The template ---- */

static int policy_fill(const struct page *page)
{
	policy_put(page->out);
	return 0;
}

static int version_fill(const struct page *page)
{
	ap_markup_put(page->out, AP_VERSION, SIZE_MAX);
	return 0;
}

static int title_fill(const struct page *page)
{
	const char *comm = page->profile->info.comm;

	ap_markup_put(page->out, comm && *comm ? comm : "profile", SIZE_MAX);
	if (page->profile->info.pid > 0)
		fprintf(page->out, " (%lld)", (long long)page->profile->info.pid);
	fputs(page->base ? ": memory compared" : ": memory", page->out);
	return 0;
}

static void assets_put(FILE *out, const char *tag, const struct asset *assets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "<%s>", tag);
		fwrite(assets[i].bytes, 1, assets[i].size, out);
		fprintf(out, "</%s>\n", tag);
	}
}

static int styles_fill(const struct page *page)
{
	assets_put(page->out, "style", styles, STYLES);
	return 0;
}

static int scripts_fill(const struct page *page)
{
	assets_put(page->out, "script", scripts, SCRIPTS);
	return 0;
}

static int top_fill(const struct page *page)
{
	return ap_page_top_put(page->out, page->profile, page->options->value);
}

static int data_fill(const struct page *page)
{
	return ap_page_data_put(page->out, page->profile, page->base, page->tree, page->options);
}

/*
 * Puts the profile itself into the page, in base64, so that it can be saved from there; nothing
 * when it is large.
 */
static int pprof_fill(const struct page *page)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&bytes, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	err = ap_format_pprof_write(memory, page->profile, page->options);
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err && size <= PPROF_MOST)
		ap_base64_put(page->out, bytes, size);
	free(bytes);
	return err;
}

static const struct hole {
	const char *name;
	int (*fill)(const struct page *page);
} holes[] = {
	{"POLICY", policy_fill},
	{"VERSION", version_fill},
	{"TITLE", title_fill},
	{"STYLES", styles_fill},
	{"TOP", top_fill},
	{"DATA", data_fill},
	{"PPROF", pprof_fill},
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

int ap_format_html_write(
	FILE *out, const struct ap_profile *profile, const struct ap_format_options *options)
{
	struct ap_format_options first = *options;
	struct page page = {out, profile, options->base, &first, ap_call_tree_new()};
	int err;

	if (!page.tree)
		return -ENOMEM;
	/* The page has all values, so it does not begin with an empty picture. */
	if (!page.base && !profile->total[first.value])
		first.value = profile->default_value;
	errno = 0;
	err = ap_call_tree_add(page.tree, profile, 0);
	if (!err && page.base)
		err = ap_call_tree_add(page.tree, page.base, 1);
	if (!err)
		err = template_put(&page);
	if (!err && (fflush(out) || ferror(out)))
		err = ap_errno();
	ap_call_tree_free(page.tree);
	return err;
}
