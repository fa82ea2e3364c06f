/* SPDX-License-Identifier: MIT */
/* The rows of `top`: its sites grouped, filtered and sorted as somebody wants to see them. */
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

/* What somebody wants to see; {0} is all of it, by live bytes, flat, as functions. */
struct ap_top_view {
	enum ap_top_sort sort;
	enum ap_top_layout layout;
	bool lines;		    /* the lines of a function apart */
	uint32_t function;	    /* of AP_TOP_SANDWICH */
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
	uint32_t function; /* index; AP_TOP_NO_FUNCTION: of `more` rows too small to be shown */
	uint32_t more;
	int64_t line;	       /* 0: unknown, or of several */
	enum ap_top_half half; /* that begins here */
	/*
	 * Where it hangs in a tree. Only where a row has several below it do they stand a level
	 * deeper: calls without a choice stand below each other.
	 */
	uint32_t level;
	bool branch;	 /* one of several */
	bool last;	 /* of them */
	uint64_t guides; /* bit n: a line goes on at level n, n < 64 */
	bool has_children, closed;
};

struct ap_top_rows {
	struct ap_top_row *rows;
	uint32_t count, room;
	struct ap_top_values total; /* of what the filter lets through */
};

/* Replaces the rows, which start as {0}. 0 or -ENOMEM. */
int ap_top_rows_build(
	struct ap_top_rows *rows, const struct ap_top_sites *sites, const struct ap_top_view *view);

/* The index of a row by its key, or -1. */
int64_t ap_top_rows_find(const struct ap_top_rows *rows, uint64_t key);

void ap_top_rows_clear(struct ap_top_rows *rows);

/* Opens or closes what hangs below a row. 0 or -ENOMEM. */
int ap_top_view_toggle(struct ap_top_view *view, uint64_t key);
void ap_top_view_clear(struct ap_top_view *view);

#endif
