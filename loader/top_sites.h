/* SPDX-License-Identifier: MIT */
/*
 * What `top` is made from: the sites of a recording, each named once, with what has become of them
 * by the last refresh. A refresh costs no names but those of new stacks.
 */
#ifndef ALLOCPROF_TOP_SITES_H
#define ALLOCPROF_TOP_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate.h"
#include "mapping.h"
#include "profile.h"
#include "snapshot.h"
#include "symbolize.h"
#include "table.h"

/* Rates are of that many refreshes at most: a site with few samples would jump about. */
#define AP_TOP_WINDOW 10

/* Values that add up. */
struct ap_top_values {
	int64_t live;	 /* bytes, estimated */
	double variance; /* of live */
	double rate;	 /* bytes allocated in a second */
	int64_t objects; /* live, fixed point: see AP_OBJECT_SHIFT */
	int64_t growth;	 /* of live, since the last reset */
};

struct ap_top_site {
	uint64_t stack;
	uint32_t first, count; /* its frames in ap_top_sites.frames, leaf first; none when lost */
	uint32_t caller;       /* which of them a table names */
	bool uncertain;	       /* code that is in no file: its names may come */
	struct ap_counters allocated, freed; /* of all its keys, by the last refresh */
	struct ap_top_values value;
	int64_t live_at_reset;
	uint64_t past[AP_TOP_WINDOW]; /* bytes allocated in all, by refresh */
};

struct ap_top_sites {
	struct ap_profile *profile; /* has functions and locations, but no samples */
	struct ap_symbolizer *symbolizer;
	pid_t pid;
	bool show_allocator;
	uint32_t window; /* refreshes that a rate is of, 1 to AP_TOP_WINDOW */
	struct ap_top_site *sites;
	uint32_t count, room;
	struct ap_table by_stack;
	struct ap_shown_frame *frames;
	uint32_t frame_count, frame_room;
	uint64_t at_ns[AP_TOP_WINDOW]; /* the refreshes, as in ap_top_site.past */
	uint32_t refreshes;	       /* since the last reset, that one included */
	bool rename;		       /* uncertain sites are to be named again */
	bool reset;		       /* there has been one: growth is not the same as live */
	struct ap_top_values total;
	double seconds; /* that rates are of; 0: too early */
};

/* Starts with {0}. 0 or -ENOMEM. */
int ap_top_sites_open(struct ap_top_sites *sites, pid_t pid);
void ap_top_sites_clear(struct ap_top_sites *sites);

/*
 * Takes the counters of a moment, CLOCK_MONOTONIC; from the beginning on, so that the first rates
 * have something to start from. 0 or -ENOMEM.
 */
int ap_top_sites_update(struct ap_top_sites *sites, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t now_ns);

/* Rates and growth are to be counted from the last refresh on. */
void ap_top_sites_reset(struct ap_top_sites *sites);

/* Whether there is code that is in no file, so that a runtime's names would be of use. */
bool ap_top_sites_uncertain(const struct ap_top_sites *sites);

/* After they have changed: the next update names such code again. */
void ap_top_sites_rename(struct ap_top_sites *sites);

/* How far values.live may be off. */
struct ap_estimate ap_top_estimate(const struct ap_top_values *values);

void ap_top_values_add(struct ap_top_values *to, const struct ap_top_values *more);

#endif
