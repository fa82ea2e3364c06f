// SPDX-License-Identifier: MIT
#include "page_top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "markup.h"
#include "value.h"

#define TOP_ROWS 20

static const enum ap_value columns[AP_VALUES] = {
	AP_INUSE_SPACE, AP_INUSE_OBJECTS, AP_ALLOC_SPACE, AP_ALLOC_OBJECTS};

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
static int rows_new(
	const struct ap_profile *profile, enum ap_value by, struct row **ret, uint32_t *ret_count)
{
	struct row *rows = calloc(profile->function_count + 1, sizeof(*rows));
	struct ap_shown_frames frames = {0};
	uint32_t count = profile->function_count + 1;
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		rows[i].name = i < count - 1 ? profile->functions[i].name : "[no stack]";
		rows[i].by = by;
	}
	for (uint32_t i = 0; i < profile->sample_count && !err; i++) {
		struct row *row = &rows[count - 1];

		err = ap_profile_frames(profile, &profile->samples[i], false, &frames);
		if (!err && frames.count)
			row = &rows[frames.frame[0].function];
		for (int v = 0; v < AP_VALUES; v++)
			row->value[v] = ap_value_add(row->value[v], profile->samples[i].value[v]);
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

static void cells_put(FILE *out, const struct ap_profile *profile, const int64_t value[AP_VALUES])
{
	for (size_t c = 0; c < AP_VALUES; c++) {
		enum ap_value v = columns[c];
		char text[AP_VALUE_TEXT];

		fprintf(out, "<td title=\"%lld\">%s</td>", (long long)value[v],
			ap_value_format(text, value[v], &profile->type[v]));
	}
	fputs("</tr>\n", out);
}

int ap_page_top_put(FILE *out, const struct ap_profile *profile, enum ap_value by)
{
	const struct ap_profile_info *info = &profile->info;
	struct row *rows;
	uint32_t count;
	int err = rows_new(profile, by, &rows, &count);

	if (err)
		return err;
	fputs("<h1>", out);
	ap_markup_put(out, info->comm && *info->comm ? info->comm : "profile", SIZE_MAX);
	fputs("</h1><p>", out);
	if (info->command)
		ap_markup_put(out, info->command, SIZE_MAX);
	fprintf(out, "</p><p>%llu samples, %llu lost, %llu with a whole stack</p>\n",
		(unsigned long long)info->samples, (unsigned long long)info->lost,
		(unsigned long long)info->whole_stacks);
	fputs("<p>The functions that asked for most memory. With JavaScript this page is an "
	      "interactive flame graph.</p>\n<table><thead><tr><th>Function</th>",
		out);
	for (size_t c = 0; c < AP_VALUES; c++) {
		fputs("<th>", out);
		ap_markup_put(out, ap_value_name(&profile->type[columns[c]]), SIZE_MAX);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n<tr><td>all</td>", out);
	cells_put(out, profile, profile->total);
	for (uint32_t i = 0; i < count && i < TOP_ROWS && rows[i].value[by] > 0; i++) {
		fputs("<tr><td>", out);
		ap_markup_put(out, rows[i].name, SIZE_MAX);
		fputs("</td>", out);
		cells_put(out, profile, rows[i].value);
	}
	fputs("</tbody></table>", out);
	free(rows);
	return 0;
}
