/* SPDX-License-Identifier: MIT */
/* The content of `top` at a moment, whatever it is shown on. */
#ifndef ALLOCPROF_TOP_H
#define ALLOCPROF_TOP_H

#include "top_rows.h"
#include "top_sites.h"
#include "top_text.h"

#define AP_TOP_WARNINGS 8

struct ap_top {
	struct ap_top_state state;
	struct ap_top_sites sites;
	struct ap_top_view view;
	struct ap_top_rows rows;
	char warnings[AP_TOP_WARNINGS][AP_TOP_TEXT];
	unsigned int warning_count; /* more are not kept */
};

/* Starts with {0}. 0 or -ENOMEM. state.comm, .period and .end are the caller's to set. */
int ap_top_open(struct ap_top *top, pid_t pid);
void ap_top_clear(struct ap_top *top);

/*
 * Takes the counters of a moment and makes the rows. uptime_ns: since the attach; now_ns:
 * CLOCK_MONOTONIC. 0 or -ENOMEM.
 */
int ap_top_refresh(struct ap_top *top, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t uptime_ns, uint64_t now_ns);

/* Makes the rows again, after the view has changed. 0 or -ENOMEM. */
int ap_top_arrange(struct ap_top *top);

/* Adds a warning, until the next refresh. `context` is the struct ap_top. */
void ap_top_warn(void *context, const char *text);

#endif
