/* SPDX-License-Identifier: MIT */
/* The texts of `top`, for a given width. */
#ifndef ALLOCPROF_TOP_TEXT_H
#define ALLOCPROF_TOP_TEXT_H

#include <stdbool.h>

#include "top_rows.h"

#define AP_TOP_TEXT 512

/* A column. Numbers are aligned right; the last column, FUNCTION, takes the width that is left. */
struct ap_top_column {
	const char *head;
	enum ap_top_sort sort;
	unsigned int width; /* with the space before it */
	bool sorts;	    /* whether rows can be sorted by it: not by +- */
};

/* The columns for which there is room. */
struct ap_top_columns {
	const struct ap_top_column *column[5];
	unsigned int count;
	unsigned int width; /* of all of them together: where FUNCTION begins */
	unsigned int name;  /* the width that is left for FUNCTION */
	bool ascii;
};

/*
 * Chooses the columns for a width of at least 20, with only as many numbers as a width of `room`
 * would have. `growth`: that column is wanted.
 */
void ap_top_columns_choose(
	struct ap_top_columns *ret, unsigned int width, unsigned int room, bool growth, bool ascii);

/* Writes the numbers of a row, columns->width wide. */
void ap_top_numbers(char out[AP_TOP_TEXT], const struct ap_top_columns *columns,
	const struct ap_top_values *value);

/*
 * Writes the name of a row: the lines of the tree and the function's short name to `name`, the
 * source file and line to `place`, or "" when there is no room. Both together fit in columns->name;
 * returns the columns of `name`.
 */
unsigned int ap_top_name(char name[AP_TOP_TEXT], char place[AP_TOP_TEXT],
	const struct ap_top_columns *columns, const struct ap_top_sites *sites,
	const struct ap_top_row *row);

/* A fixed-point number of objects (AP_OBJECT_SHIFT) as a whole number. */
int64_t ap_top_objects_round(int64_t objects);

/* What the header says of a recording. */
struct ap_top_state {
	const char *comm; /* printable */
	pid_t pid;
	uint64_t uptime_ns; /* of the recording */
	uint64_t period;    /* 0: unknown */
	uint64_t samples, frees, stacks, lost, whole;
	const char *end; /* why there will be no more; NULL: it goes on */
};

/*
 * The two lines of the header, without a newline: "redis-server (pid 4127)  00:12  1 sample per
 * 512 KiB", and the sums.
 */
void ap_top_title(char out[AP_TOP_TEXT], const struct ap_top_state *state);
void ap_top_sums(
	char out[AP_TOP_TEXT], const struct ap_top_state *state, const struct ap_top_sites *sites);

#endif
