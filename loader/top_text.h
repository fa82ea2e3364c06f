/* SPDX-License-Identifier: MIT */
/* What `top` shows as text, for some width. */
#ifndef ALLOCPROF_TOP_TEXT_H
#define ALLOCPROF_TOP_TEXT_H

#include <stdbool.h>

#include "top_rows.h"

#define AP_TOP_TEXT 512

/* The head of a column with its key; a number stands right, FUNCTION takes what is left. */
struct ap_top_column {
	const char *head;
	enum ap_top_sort sort;
	unsigned int width; /* with the space before it */
	bool sorts;	    /* +- has no order of its own */
};

/* Which there is room for. */
struct ap_top_columns {
	const struct ap_top_column *column[5];
	unsigned int count;
	unsigned int width; /* of all of them: where FUNCTION begins */
	unsigned int name;  /* what is left for it */
	bool ascii;
};

/*
 * For a width of at least 20, with as many numbers as are usual in one of `room`; `growth`: that
 * column is wanted.
 */
void ap_top_columns_choose(
	struct ap_top_columns *ret, unsigned int width, unsigned int room, bool growth, bool ascii);

/* The numbers of a row, columns->width wide. */
void ap_top_numbers(char out[AP_TOP_TEXT], const struct ap_top_columns *columns,
	const struct ap_top_values *value);

/*
 * What a row is of: the lines of the tree and the function's short name in `name`, and the source
 * line, or file, in `place`, "" when there is no room. Both fit in columns->name together; returns
 * the columns of `name`.
 */
unsigned int ap_top_name(char name[AP_TOP_TEXT], char place[AP_TOP_TEXT],
	const struct ap_top_columns *columns, const struct ap_top_sites *sites,
	const struct ap_top_row *row);

/* Objects in whole numbers. */
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

/* "redis-server (pid 4127)  00:12  1 sample per 512 KiB", and the sums, without a newline. */
void ap_top_title(char out[AP_TOP_TEXT], const struct ap_top_state *state);
void ap_top_sums(
	char out[AP_TOP_TEXT], const struct ap_top_state *state, const struct ap_top_sites *sites);

#endif
