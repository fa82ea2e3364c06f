// SPDX-License-Identifier: MIT
#include "top_print.h"

#include <inttypes.h>
#include <math.h>

#include "error.h"
#include "json.h"

/* As wide as names may be: nothing is cut that a script could want. */
#define WIDTH 200

static int written(FILE *out)
{
	return fflush(out) || ferror(out) ? ap_errno() : 0;
}

static uint32_t rows_shown(const struct ap_top_rows *rows, unsigned int most)
{
	return most && most < rows->count ? most : rows->count;
}

int ap_top_table_write(FILE *out, const struct ap_top *top, unsigned int most)
{
	const struct ap_top_rows *rows = &top->rows;
	uint32_t count = rows_shown(rows, most);
	struct ap_top_columns columns;
	char text[AP_TOP_TEXT], place[AP_TOP_TEXT];

	errno = 0;
	ap_top_columns_choose(&columns, WIDTH, WIDTH, false, false);
	ap_top_title(text, &top->state);
	fprintf(out, "%s\n", text);
	ap_top_sums(text, &top->state, &top->sites);
	fprintf(out, "%s\n", text);
	for (unsigned int i = 0; i < top->warning_count; i++)
		fprintf(out, "warning: %s\n", top->warnings[i]);
	for (unsigned int i = 0; i < columns.count; i++)
		fprintf(out, "%*s", (int)columns.column[i]->width, columns.column[i]->head);
	fputs("  FUNCTION\n", out);
	for (uint32_t i = 0; i < count; i++) {
		ap_top_numbers(text, &columns, &rows->rows[i].value);
		fputs(text, out);
		ap_top_name(text, place, &columns, &top->sites, &rows->rows[i]);
		fprintf(out, "  %s%s%s\n", text, *place ? "  " : "", place);
	}
	if (count < rows->count)
		fprintf(out, "  and %" PRIu32 " more\n", rows->count - count);
	fputc('\n', out);
	return written(out);
}

static void values_put(struct ap_json *json, const struct ap_top_values *value)
{
	ap_json_number(json, "live_bytes", value->live);
	ap_json_number(json, "live_bytes_error", llround(ap_top_error(value)));
	ap_json_number(json, "live_objects", ap_top_objects_round(value->objects));
	ap_json_number(json, "allocated_bytes_per_second", llround(value->rate));
}

static void row_put(
	struct ap_json *json, const struct ap_top_sites *sites, const struct ap_top_row *row)
{
	const struct ap_function *function = &sites->profile->functions[row->function];

	ap_json_object(json, NULL);
	ap_json_text(json, "function", function->name);
	ap_json_text(json, "file", *function->file ? function->file : NULL);
	if (row->line)
		ap_json_number(json, "line", row->line);
	values_put(json, &row->value);
	ap_json_close(json);
}

int ap_top_json_write(FILE *out, const struct ap_top *top, unsigned int most)
{
	const struct ap_top_rows *rows = &top->rows;
	uint32_t count = rows_shown(rows, most);
	const struct ap_top_state *state = &top->state;
	struct ap_json json = {.out = out};

	errno = 0;
	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_number(&json, "pid", state->pid);
	ap_json_text(&json, "comm", state->comm);
	ap_json_real(&json, "uptime_seconds", (double)state->uptime_ns / 1e9);
	ap_json_real(&json, "interval_seconds", top->sites.seconds);
	ap_json_number(&json, "period", (int64_t)state->period);
	ap_json_number(&json, "samples", (int64_t)state->samples);
	ap_json_number(&json, "frees", (int64_t)state->frees);
	ap_json_number(&json, "stacks", (int64_t)state->stacks);
	ap_json_number(&json, "lost", (int64_t)state->lost);
	ap_json_number(&json, "whole_stacks", (int64_t)state->whole);
	values_put(&json, &top->sites.total);
	ap_json_text(&json, "end", state->end);
	ap_json_array(&json, "warnings");
	for (unsigned int i = 0; i < top->warning_count; i++)
		ap_json_text(&json, NULL, top->warnings[i]);
	ap_json_close(&json);
	ap_json_array(&json, "functions");
	for (uint32_t i = 0; i < count; i++)
		row_put(&json, &top->sites, &rows->rows[i]);
	ap_json_close(&json);
	ap_json_number(&json, "functions_left_out", rows->count - count);
	ap_json_close(&json);
	return written(out);
}
