// SPDX-License-Identifier: MIT
#include "top_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "columns.h"
#include "short_name.h"
#include "units.h"

/* The least width of a place. With less room it is left out, since even a cut name tells more. */
#define PLACE_COLUMNS 12

/* Room for what follows the function's name where a half of a sandwich begins. */
#define HALF_ROOM 16
static const char *const halves[] = {
	[AP_TOP_WHOLE] = "", [AP_TOP_CALLED_BY] = ", called by", [AP_TOP_CALLS] = ", calls"};

static const struct ap_top_column live = {"LIVE", AP_TOP_BY_LIVE, 11, true};
static const struct ap_top_column error = {"+-", AP_TOP_BY_LIVE, 7, false};
static const struct ap_top_column growth = {"GROWTH", AP_TOP_BY_GROWTH, 12, true};
static const struct ap_top_column rate = {"ALLOC/s", AP_TOP_BY_RATE, 11, true};
static const struct ap_top_column objects = {"OBJECTS", AP_TOP_BY_OBJECTS, 10, true};

void ap_top_columns_choose(
	struct ap_top_columns *ret, unsigned int width, unsigned int room, bool grows, bool ascii)
{
	/* With less room, the least important columns go first. */
	bool has_error = room >= 64, has_objects = room >= 50, has_rate = room >= 40;
	bool has_growth = grows && room >= 56;
	const struct ap_top_column *const all[] = {&live, has_error ? &error : NULL,
		has_growth ? &growth : NULL, has_rate ? &rate : NULL,
		has_objects ? &objects : NULL};

	*ret = (struct ap_top_columns){.ascii = ascii};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i])
			continue;
		ret->column[ret->count++] = all[i];
		ret->width += all[i]->width;
	}
	ret->name = width > ret->width + 2 ? width - ret->width - 2 : 0;
}

int64_t ap_top_objects_round(int64_t fixed)
{
	return llround((double)fixed / (1 << AP_OBJECT_SHIFT));
}

/* "12345", "1.2 M". */
static void objects_text(char out[16], int64_t fixed)
{
	double number = (double)ap_top_objects_round(fixed);

	if (number < 999999.5)
		snprintf(out, 16, "%.0f", number);
	else if (number < 999.95e6)
		snprintf(out, 16, "%.1f M", number / 1e6);
	else
		snprintf(out, 16, "%.1f G", number / 1e9);
}

static double live_share(const struct ap_top_values *value)
{
	struct ap_estimate estimate = ap_top_estimate(value);

	return ap_estimate_share(&estimate);
}

static void number_text(
	char out[32], const struct ap_top_column *column, const struct ap_top_values *value)
{
	char size[AP_SIZE_TEXT];

	out[0] = '\0';
	if (column == &live)
		snprintf(out, 32, "%s", ap_size_format(size, (double)value->live));
	else if (column == &error && value->live > 0)
		snprintf(out, 32, "%.0f%%", 100 * live_share(value));
	else if (column == &growth)
		snprintf(out, 32, "%c%s", value->growth < 0 ? '-' : '+',
			ap_size_format(size, fabs((double)value->growth)));
	else if (column == &rate)
		snprintf(out, 32, "%s", ap_size_format(size, value->rate));
	else if (column == &objects)
		objects_text(out, value->objects);
}

void ap_top_numbers(char out[AP_TOP_TEXT], const struct ap_top_columns *columns,
	const struct ap_top_values *value)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < columns->count; i++) {
		char text[32];

		number_text(text, columns->column[i], value);
		used += (size_t)snprintf(out + used, AP_TOP_TEXT - used, "%*s",
			(int)columns->column[i]->width, text);
	}
}

/* The lines of the tree before a row; returns the columns. */
static unsigned int tree_lines(char *out, size_t room, const struct ap_top_row *row, bool ascii)
{
	size_t used = 0;
	unsigned int columns = 0;

	out[0] = '\0';
	for (uint32_t level = 1; level <= row->level; level++) {
		bool own = level == row->level && row->branch;
		bool goes_on = level <= 64 && row->guides >> (level - 1) & 1;
		const char *mark = "  ";

		if (own)
			mark = ascii ? (row->last ? "`-" : "|-") : row->last ? "└ " : "├ ";
		else if (goes_on)
			mark = ascii ? "| " : "│ ";
		if (used + strlen(mark) + 1 > room)
			break;
		used += (size_t)snprintf(out + used, room - used, "%s", mark);
		columns += 2;
	}
	return columns;
}

static void place_text(char out[AP_TOP_TEXT], const struct ap_top_columns *columns,
	const struct ap_function *function, int64_t line, unsigned int room)
{
	const char *base = strrchr(function->file, '/');
	char place[AP_TOP_TEXT];

	out[0] = '\0';
	if (room < PLACE_COLUMNS || !*function->file)
		return;
	base = base ? base + 1 : function->file;
	if (line)
		snprintf(place, sizeof(place), "%.*s:%" PRId64, AP_TOP_TEXT - 32, base, line);
	else
		snprintf(place, sizeof(place), "%.*s", AP_TOP_TEXT - 32, base);
	ap_columns_fit(out, AP_TOP_TEXT, place, room, columns->ascii);
}

unsigned int ap_top_name(char name[AP_TOP_TEXT], char place[AP_TOP_TEXT],
	const struct ap_top_columns *columns, const struct ap_top_sites *sites,
	const struct ap_top_row *row)
{
	unsigned int room = columns->name, used = 0;
	const struct ap_function *function;
	char lines[AP_TOP_TEXT / 2], text[AP_TOP_TEXT];
	size_t length, length_of_name;

	place[0] = '\0';
	/* When a tree is deeper than the screen is wide, its end is shown. */
	if (row->level * 2 + 8 > room)
		lines[0] = '\0';
	else
		used = tree_lines(lines, sizeof(lines), row, columns->ascii);
	length = (size_t)snprintf(name, AP_TOP_TEXT, "%s", lines);
	if (row->function == AP_TOP_NO_FUNCTION) {
		snprintf(text, sizeof(text), "(%" PRIu32 " smaller)", row->more);
		return used + ap_columns_fit(name + length, AP_TOP_TEXT - length, text, room - used,
				      columns->ascii);
	}
	function = &sites->profile->functions[row->function];
	length_of_name = ap_short_name(text, sizeof(text) - HALF_ROOM, function->name);
	snprintf(text + length_of_name, HALF_ROOM, "%s", halves[row->half]);
	if (row->closed)
		name[length++] = '+';
	used += row->closed;
	used += ap_columns_fit(
		name + length, AP_TOP_TEXT - length, text, room - used, columns->ascii);
	if (used + 2 < room)
		place_text(place, columns, function, row->line, room - used - 2);
	return used;
}

/* ---- Header ---- */

static void time_text(char out[32], uint64_t nanoseconds)
{
	unsigned long long seconds = nanoseconds / AP_SECOND_NS;

	if (seconds >= 3600)
		snprintf(out, 32, "%llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60,
			seconds % 60);
	else
		snprintf(out, 32, "%02llu:%02llu", seconds / 60, seconds % 60);
}

void ap_top_title(char out[AP_TOP_TEXT], const struct ap_top_state *state)
{
	char time[32], size[AP_SIZE_TEXT], period[64] = "";

	time_text(time, state->uptime_ns);
	if (state->period)
		snprintf(period, sizeof(period), "  1 sample per %s",
			ap_size_format(size, (double)state->period));
	snprintf(out, AP_TOP_TEXT, "%s (pid %d)  %s%s%s%s", state->comm, (int)state->pid, time,
		period, state->end ? "  " : "", state->end ? state->end : "");
}

void ap_top_sums(
	char out[AP_TOP_TEXT], const struct ap_top_state *state, const struct ap_top_sites *sites)
{
	const struct ap_top_values *total = &sites->total;
	char size[AP_SIZE_TEXT], speed[AP_SIZE_TEXT], off[32] = "";

	if (total->live > 0)
		snprintf(off, sizeof(off), " +/-%.0f%%", 100 * live_share(total));
	snprintf(out, AP_TOP_TEXT,
		"live %s%s  rate %s/s  samples %" PRIu64 "  lost %" PRIu64
		"  whole %.1f%%  stacks %" PRIu64,
		ap_size_format(size, (double)total->live), off, ap_size_format(speed, total->rate),
		state->samples, state->lost,
		state->samples ? 100.0 * (double)state->whole / (double)state->samples : 100,
		state->stacks);
}
