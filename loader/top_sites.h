/* SPDX-License-Identifier: MIT */
/*
 * The data behind `top`: the sites of a recording with their values at the last refresh. A refresh
 * symbolizes only stacks that are new.
 */
#ifndef ALLOCPROF_TOP_SITES_H
#define ALLOCPROF_TOP_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate.h"
#include "mapping.h"
#include "profile.h"
#include "snapshot.h"
#include "table.h"

struct ap_symbolizer;

/*
 * Rates are means over at most this many refreshes: those of a site with few
 * samples would jump about.
 */
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
	uint32_t caller;       /* index among them of the site, see ap_site_frame() */
	bool uncertain;	       /* has code that is in no file, whose names may still come */
	struct ap_counters allocated, freed; /* sums over all its keys, at the last refresh */
	struct ap_top_values value;
	int64_t live_at_reset;
	uint64_t past[AP_TOP_WINDOW]; /* bytes allocated since the attach, at each refresh */
};

struct ap_top_sites {
	struct ap_profile *profile; /* has functions and locations, but no samples */
	struct ap_symbolizer *symbolizer;
	pid_t pid;
	bool show_allocator;
	uint32_t window; /* refreshes that rates are means over, 1 to AP_TOP_WINDOW */
	struct ap_top_site *sites;
	uint32_t count, room;
	struct ap_table by_stack;
	struct ap_shown_frame *frames;
	uint32_t frame_count, frame_room;
	uint64_t at_ns[AP_TOP_WINDOW]; /* of the refreshes, as in ap_top_site.past */
	uint32_t refreshes;	       /* since the last reset, that one included */
	bool rename;		       /* uncertain sites are to be symbolized again */
	bool reset;		       /* there has been a reset: growth differs from live */
	struct ap_top_values total;
	double seconds; /* the time that rates are means over; 0: too early */
};

/* Starts with {0}. 0 or -ENOMEM. */
int ap_top_sites_open(struct ap_top_sites *sites, pid_t pid);
void ap_top_sites_clear(struct ap_top_sites *sites);

/*
 * Takes the counters of a moment (now_ns: CLOCK_MONOTONIC). The first call is to be made at the
 * attach, so that the first rates have a start. 0 or -ENOMEM.
 */
int ap_top_sites_update(struct ap_top_sites *sites, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, uint64_t now_ns);

/* From now on counts rates and growth from the last refresh. */
void ap_top_sites_reset(struct ap_top_sites *sites);

/* Whether there are uncertain sites, for which it pays to read the names of a runtime again. */
bool ap_top_sites_uncertain(const struct ap_top_sites *sites);

/* To be called after those names have changed: the next update symbolizes such sites again. */
void ap_top_sites_rename(struct ap_top_sites *sites);

/* The estimate of values->live, with its variance. */
struct ap_estimate ap_top_estimate(const struct ap_top_values *values);

void ap_top_values_add(struct ap_top_values *to, const struct ap_top_values *more);

#endif
