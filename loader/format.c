// SPDX-License-Identifier: MIT
/* The table of outputs. */
#include "format.h"

#include <string.h>

const struct ap_format ap_formats[] = {
	{"html", {".html", ".htm"}, "open in a browser", ap_format_html_write, true},
	{"pprof", {".pb.gz", ".pprof"}, "allocprof report, or go tool pprof", ap_format_pprof_write,
		false},
	{"svg", {".svg"}, "a picture for a ticket or a README", ap_format_svg_write, true},
	{"folded", {".folded"}, "for flamegraph.pl, inferno, speedscope", ap_format_folded_write,
		false},
	{"speedscope", {".json"}, "drop it on https://www.speedscope.app",
		ap_format_speedscope_write, false},
	{"json", {".json"}, "for jq and scripts", ap_format_json_write, true},
	{"tree", {".tree"}, "the calls, from the start of the threads", ap_format_tree_write,
		false},
	{"text", {".txt"}, "the table of sites", ap_format_text_write, false},
	{0},
};

const struct ap_format *ap_format_by_name(const char *name)
{
	for (const struct ap_format *format = ap_formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t length = strlen(text), end = strlen(suffix);

	return length > end && strcmp(text + length - end, suffix) == 0;
}

bool ap_format_has_extension(const struct ap_format *format, const char *path)
{
	for (int i = 0; format->extension[i]; i++)
		if (has_suffix(path, format->extension[i]))
			return true;
	return false;
}

const struct ap_format *ap_format_by_extension(const char *path)
{
	for (const struct ap_format *format = ap_formats; format->name; format++)
		if (ap_format_has_extension(format, path))
			return format;
	return NULL;
}
