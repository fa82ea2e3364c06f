/* SPDX-License-Identifier: MIT */
/*
 * The mappings that the profile of another profiler lists, and the files behind them on this
 * machine, to find names for its addresses. A path in a profile is not trusted: only regular files
 * are opened, and where the profile has a build id the file must have the same.
 */
#ifndef ALLOCPROF_FILE_MAP_H
#define ALLOCPROF_FILE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mapping.h"
#include "profile.h"

struct ap_file_map {
	struct ap_mapping **mappings; /* by address once one has been looked for */
	struct ap_object **objects;
	uint32_t count, mapping_room, object_count, object_room;
	bool sorted;
	struct ap_symbolizer *symbolizer; /* NULL: not needed yet */
};

/*
 * Adds a mapping. A map starts as {0}. build_id "": not known. 0; -E2BIG when there are too many,
 * or -ENOMEM. *ret stays valid until the map is cleared; ret may be NULL.
 */
int ap_file_map_add(struct ap_file_map *map, uint64_t start, uint64_t end, uint64_t offset,
	const char *path, const char *build_id, const struct ap_mapping **ret);

/* The mapping that holds an address, or NULL. */
const struct ap_mapping *ap_file_map_find(struct ap_file_map *map, uint64_t address);

/*
 * Adds the location of an address to the profile, with the names from the mapped file, or with
 * "file+0x1234" when it has none; mapping NULL: in no known one. is_return as for ap_symbolize().
 * The index of the location, or -ENOMEM.
 */
int ap_file_map_location(struct ap_file_map *map, struct ap_profile *profile,
	const struct ap_mapping *mapping, uint64_t address, bool is_return);

void ap_file_map_clear(struct ap_file_map *map);

#endif
