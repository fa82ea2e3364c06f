/* SPDX-License-Identifier: MIT */
/*
 * Which mapping holds which code, when some have been seen since the maps were read: of those that
 * overlap the later one holds, and what stands out of the earlier one at either side stays its own.
 */
#ifndef ALLOCPROF_CODE_RANGE_H
#define ALLOCPROF_CODE_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "mapping.h"

struct ap_code_range {
	uint64_t start, end; /* addresses in the target: [start, end) */
	uint32_t id;	     /* of the mapping, of which it may be a part */
	uint32_t zero;	     /* ranges are compared as memory */
};

/*
 * What is mapped now: what the last reading saw and what was added after it, by address, without
 * overlaps; not more than two for a mapping. To be freed. NULL: out of memory.
 */
struct ap_code_range *ap_code_ranges_get(const struct ap_mapping_table *table, size_t *ret_count);

#endif
