/* SPDX-License-Identifier: MIT */
/* The rows of `top`: its sites grouped, filtered and sorted by a view. */
#ifndef ALLOCPROF_TOP_ROWS_H
#define ALLOCPROF_TOP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "top_sites.h"

enum ap_top_sort {
	AP_TOP_BY_LIVE,
	AP_TOP_BY_RATE,
	AP_TOP_BY_OBJECTS,
	AP_TOP_BY_NAME,
	AP_TOP_BY_GROWTH,
};

enum ap_top_layout {
	AP_TOP_FLAT,	 /* who called the allocator */
	AP_TOP_TREE,	 /* from the start of the threads down */
	AP_TOP_SANDWICH, /* who calls one function, outwards, and what it calls */
};

#define AP_TOP_FILTER 64

/* What is to be shown. {0}: everything, flat, a row for each function, sorted by live bytes. */
struct ap_top_view {
	enum ap_top_sort sort;
	enum ap_top_layout layout;
	bool lines;		    /* a row for each source line, not for each function */
	uint32_t function;	    /* the one in the middle of AP_TOP_SANDWICH */
	char filter[AP_TOP_FILTER]; /* a part of a name or of a file, in either case; "" none */
	uint64_t *closed;	    /* keys of rows whose children are not shown */
	uint32_t closed_count, closed_room;
};

#define AP_TOP_NO_FUNCTION UINT32_MAX

/* The two halves of a sandwich begin with a row of the function itself. */
enum ap_top_half { AP_TOP_WHOLE, AP_TOP_CALLED_BY, AP_TOP_CALLS };

struct ap_top_row {
	uint64_t key; /* stays from one refresh to the next */
	struct ap_top_values value;
	uint32_t function; /* index; AP_TOP_NO_FUNCTION: sum of `more` rows too small to show */
	uint32_t more;
	int64_t line;	       /* 0: unknown, or the row is of several lines */
	enum ap_top_half half; /* the half of a sandwich that begins with this row */
	/*
	 * The place in a tree. Only when a row has several children are they a level deeper: an
	 * only child stands below its parent at the same level.
	 */
	uint32_t level;
	bool branch;	 /* it has siblings */
	bool last;	 /* it is the last of them */
	uint64_t guides; /* bit n: a vertical line is drawn through this row at level n, n < 64 */
	bool has_children, closed;
};

struct ap_top_rows {
	struct ap_top_row *rows;
	uint32_t count, room;
	struct ap_top_values total; /* sum of what the filter lets through */
};

/* Makes the rows, replacing those that were there. Rows start as {0}. 0 or -ENOMEM. */
int ap_top_rows_build(
	struct ap_top_rows *rows, const struct ap_top_sites *sites, const struct ap_top_view *view);

/* The index of a row by its key, or -1. */
int64_t ap_top_rows_find(const struct ap_top_rows *rows, uint64_t key);

void ap_top_rows_clear(struct ap_top_rows *rows);

/* Opens or closes the children of a row, by its key. 0 or -ENOMEM. */
int ap_top_view_toggle(struct ap_top_view *view, uint64_t key);
void ap_top_view_clear(struct ap_top_view *view);

#endif
