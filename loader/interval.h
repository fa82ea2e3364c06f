/* SPDX-License-Identifier: MIT */
/* Address ranges that lie beside and inside each other, as scopes do, and which hold an address. */
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
 * The innermost that holds the address, or AP_INTERVAL_NONE; from there, `outer` leads on. Where
 * ranges cross, which only damaged files have, some may be missed.
 */
uint32_t ap_intervals_find(const struct ap_intervals *set, uint64_t address);

void ap_intervals_clear(struct ap_intervals *set);

#endif
