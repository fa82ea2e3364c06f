/* SPDX-License-Identifier: MIT */
/*
 * The processes of a tree that have ended, as far as the profile still needs them: those of one
 * name whose mappings are the same, as a server's workers are, are one group.
 */
#ifndef ALLOCPROF_ENDED_PROCESSES_H
#define ALLOCPROF_ENDED_PROCESSES_H

#include <allocprof/process.h>

#include "mapping.h"
#include "site_pool.h"
#include "target.h"

/* How a group stands in keys: with a pid of 0. The last one is of all for which there is no room.
 */
#define AP_ENDED_KEY(group) (((group) + 1) << AP_PROCESS_SHIFT)
#define AP_ENDED_MAX	    1000

struct ap_ended_group {
	char name[96];
	char comm[64];
	struct ap_mapping_table table;
};

struct ap_ended {
	struct ap_object_set *files; /* of the tables */
	struct ap_ended_group *groups;
	uint32_t count, room;
	struct ap_site_pool pool;
};

/* The key of the group that the process belongs to, made when it is the first one. 0: out of
 * memory. */
uint32_t ap_ended_of(struct ap_ended *ended, const struct ap_target *target);

void ap_ended_clear(struct ap_ended *ended);

#endif
