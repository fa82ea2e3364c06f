/* SPDX-License-Identifier: MIT */
/*
 * Address ranges that overlap, made flat: where several cover an address, the latest one holds, and
 * what an earlier one has beyond it stays. This serves mappings that were made over others since
 * the maps were read, and code that a runtime has put where other code was.
 */
#ifndef ALLOCPROF_CODE_RANGE_H
#define ALLOCPROF_CODE_RANGE_H

#include <stddef.h>
#include <stdint.h>

struct ap_mapping_table;

struct ap_code_range {
	uint64_t start, end; /* addresses in the target: [start, end) */
	uint32_t id;	     /* of what this is a range of; later ones have higher ids */
	uint32_t zero;	     /* no padding: ranges are compared as bytes */
};

/*
 * Returns the ranges without overlaps, sorted by address, with neighbours of one id joined: at most
 * twice as many. The caller frees them. NULL: out of memory. The ranges that are given must not be
 * empty; they are sorted in place.
 */
struct ap_code_range *ap_code_ranges_flatten(
	struct ap_code_range *ranges, size_t count, size_t *ret_count);

/*
 * The same of what is mapped now (what the last reading of the table saw, and what was added after
 * it), with the ids of the mappings.
 */
struct ap_code_range *ap_code_ranges_get(const struct ap_mapping_table *table, size_t *ret_count);

#endif
