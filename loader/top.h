/* SPDX-License-Identifier: MIT */
/* What `top` shows at a moment, apart from how it is shown. */
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

/* Takes the counters of a moment and makes the rows. 0 or -ENOMEM. */
int ap_top_refresh(struct ap_top *top, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t uptime_ns, uint64_t now_ns);

/* The rows again, after the view has changed. 0 or -ENOMEM. */
int ap_top_arrange(struct ap_top *top);

/* Adds a warning; a refresh takes the old ones away. `context` is the top. */
void ap_top_warn(void *context, const char *text);

#endif
