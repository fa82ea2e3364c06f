/* SPDX-License-Identifier: MIT */
/*
 * Which of several ranges of addresses holds, where they overlap: the latest, and what stands out
 * of an earlier one at either side stays its own. So are mappings that were made over others since
 * the maps were read, and code that a runtime has put where other code was.
 */
#ifndef ALLOCPROF_CODE_RANGE_H
#define ALLOCPROF_CODE_RANGE_H

#include <stddef.h>
#include <stdint.h>

struct ap_mapping_table;

struct ap_code_range {
	uint64_t start, end; /* addresses in the target: [start, end) */
	uint32_t id;   /* of what holds there, a part of it perhaps; later ones have higher ids */
	uint32_t zero; /* ranges are compared as memory */
};

/*
 * The same without overlaps, by address, beside each other where they are of one id; not more than
 * two for each. To be freed. NULL: out of memory. The ranges are not empty; they are sorted.
 */
struct ap_code_range *ap_code_ranges_flatten(
	struct ap_code_range *ranges, size_t count, size_t *ret_count);

/*
 * What is mapped now, by id of the mapping: what the last reading saw and what was added after it.
 * As above.
 */
struct ap_code_range *ap_code_ranges_get(const struct ap_mapping_table *table, size_t *ret_count);

#endif
