/* SPDX-License-Identifier: MIT */
/*
 * The processes of a tree that have ended, as far as the profile still needs them. Those of one
 * name with the same mappings, such as the workers of a server, become one group.
 */
#ifndef ALLOCPROF_ENDED_PROCESSES_H
#define ALLOCPROF_ENDED_PROCESSES_H

#include <allocprof/process.h>

#include "mapping.h"
#include "site_pool.h"
#include "target.h"

/*
 * The `process` of a group in the keys of sites: its pid part is 0. The last group takes all for
 * which there is no room.
 */
#define AP_ENDED_KEY(group) (((group) + 1) << AP_PROCESS_SHIFT)
#define AP_ENDED_MAX	    1000

struct ap_ended_group {
	char name[96];
	char comm[64];
	struct ap_mapping_table table;
};

struct ap_ended {
	struct ap_object_set *files; /* that the tables refer to; the caller's */
	struct ap_ended_group *groups;
	uint32_t count, room;
	struct ap_site_pool pool;
};

/*
 * The key of the group that the process belongs to, which is made if it is the first in it. 0: out
 * of memory.
 */
uint32_t ap_ended_of(struct ap_ended *ended, const struct ap_target *target);

void ap_ended_clear(struct ap_ended *ended);

#endif
