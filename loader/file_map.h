/* SPDX-License-Identifier: MIT */
/*
 * The mappings that a profile of somebody else names, and the files behind them on this machine, to
 * find names for its addresses. A path in a profile is not trusted: only regular files are opened,
 * and where the profile has a build id the file must have the same.
 */
#ifndef ALLOCPROF_FILE_MAP_H
#define ALLOCPROF_FILE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mapping.h"

struct ap_file_map {
	struct ap_mapping **mappings; /* by address once one has been looked for */
	struct ap_object **objects;
	uint32_t count, mapping_room, object_count, object_room;
	bool sorted;
};

/* Starts as {0}. build_id "": not known. 0; -E2BIG when there are too many, or -ENOMEM. */
int ap_file_map_add(struct ap_file_map *map, uint64_t start, uint64_t end, uint64_t offset,
	const char *path, const char *build_id);

/* The mapping that holds an address, or NULL. Stays where it is until the map is cleared. */
const struct ap_mapping *ap_file_map_find(struct ap_file_map *map, uint64_t address);

void ap_file_map_clear(struct ap_file_map *map);

#endif
