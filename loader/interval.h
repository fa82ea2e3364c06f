/* SPDX-License-Identifier: MIT */
/*
 * Nested address ranges, as the scopes of debug information are, and the search for the innermost
 * that holds an address.
 */
#ifndef ALLOCPROF_INTERVAL_H
#define ALLOCPROF_INTERVAL_H

#include <stdint.h>

#define AP_INTERVAL_NONE UINT32_MAX

struct ap_interval {
	uint64_t low, high; /* [low, high) */
	uint32_t depth;	    /* of two equal ranges the deeper is inside */
	uint32_t outer;	    /* index of the next one around it; set by sorting */
	uint64_t value;	    /* the user's */
};

struct ap_intervals {
	struct ap_interval *items; /* by low; the outer one first */
	uint32_t count, room;
};

/* Empty ranges are not added. 0 or -ENOMEM. */
int ap_intervals_add(
	struct ap_intervals *set, uint64_t low, uint64_t high, uint32_t depth, uint64_t value);

/* To be called once, after the last was added. */
void ap_intervals_sort(struct ap_intervals *set);

/*
 * The index of the innermost range that holds the address, or AP_INTERVAL_NONE; `outer` leads from
 * it to those around it. Where ranges cross, as only in damaged files, some may be missed.
 */
uint32_t ap_intervals_find(const struct ap_intervals *set, uint64_t address);

void ap_intervals_clear(struct ap_intervals *set);

#endif
