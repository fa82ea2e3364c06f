// SPDX-License-Identifier: MIT
#include "top_print.h"

#include <inttypes.h>

#include "clock.h"
#include "error.h"
#include "json.h"

/* Wide enough to cut no usual name, which a script could want. */
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

static void values_put(struct ap_json *json, const char *key, const struct ap_top_values *value)
{
	struct ap_estimate estimate = ap_top_estimate(value);
	double low, high;

	ap_estimate_range(&estimate, &low, &high);
	ap_json_object(json, key);
	ap_json_object(json, ap_value_names[AP_INUSE_SPACE]);
	ap_json_number(json, "value", value->live);
	ap_json_real(json, "low", low);
	ap_json_real(json, "high", high);
	ap_json_close(json);
	ap_json_object(json, ap_value_names[AP_INUSE_OBJECTS]);
	ap_json_number(json, "value", ap_top_objects_round(value->objects));
	ap_json_close(json);
	ap_json_object(json, "alloc_space_per_s");
	ap_json_real(json, "value", value->rate);
	ap_json_close(json);
	ap_json_close(json);
}

static void row_put(
	struct ap_json *json, const struct ap_top_sites *sites, const struct ap_top_row *row)
{
	const struct ap_function *function = &sites->profile->functions[row->function];

	ap_json_object(json, NULL);
	ap_json_text(json, "name", function->name);
	ap_json_text(json, "file", *function->file ? function->file : NULL);
	if (row->line)
		ap_json_number(json, "line", row->line);
	values_put(json, "self", &row->value);
	ap_json_close(json);
}

int ap_top_json_write(FILE *out, const struct ap_top *top, unsigned int most)
{
	const struct ap_top_state *state = &top->state;
	uint32_t count = rows_shown(&top->rows, most);
	struct ap_json json = {.out = out};

	errno = 0;
	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_text(&json, "version", AP_VERSION);
	ap_json_number(&json, "pid", state->pid);
	ap_json_text(&json, "comm", state->comm);
	ap_json_real(&json, "duration_s", (double)state->uptime_ns / AP_SECOND_NS);
	ap_json_real(&json, "interval_s", top->sites.seconds);
	ap_json_text(&json, "end", state->end);
	ap_json_number(&json, "period", (int64_t)state->period);
	ap_json_number(&json, "samples", (int64_t)state->samples);
	ap_json_number(&json, "frees", (int64_t)state->frees);
	ap_json_number(&json, "stacks", (int64_t)state->stacks);
	ap_json_number(&json, "lost", (int64_t)state->lost);
	ap_json_number(&json, "whole_stacks", (int64_t)state->whole);
	ap_json_array(&json, "warnings");
	for (unsigned int i = 0; i < top->warning_count; i++)
		ap_json_text(&json, NULL, top->warnings[i]);
	ap_json_close(&json);
	values_put(&json, "total", &top->sites.total);
	ap_json_array(&json, "functions");
	for (uint32_t i = 0; i < count; i++)
		row_put(&json, &top->sites, &top->rows.rows[i]);
	ap_json_close(&json);
	ap_json_number(&json, "functions_left_out", top->rows.count - count);
	ap_json_close(&json);
	return written(out);
}
