/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables of a process, from its mapped files into the kernel's arrays, see
 * allocprof/unwind.h. Tables are added and never moved: a program that walks a stack at the same
 * time sees the old mappings with the old tables or the new ones with the new.
 */
#ifndef ALLOCPROF_UNWIND_TABLE_H
#define ALLOCPROF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "mapping.h"

struct ap_unwind;

/* The descriptors of the maps of bpf/maps.bpf.h. */
struct ap_unwind_maps {
	int blocks, pages, mappings, rules;
};

struct ap_work;

struct ap_unwind_counts {
	uint32_t files, without; /* with a table, and without one */
	uint32_t cached;	 /* of those with one, read from the cache */
	uint32_t mappings;
	uint64_t rows, unsupported; /* of the compiler */
	uint64_t bytes;		    /* of kernel memory */
	uint32_t rules;
	uint32_t rules_lost; /* for which there was no room: they are unsupported */
};

/* 0 or a negative errno. The descriptors stay the caller's. */
int ap_unwind_new(struct ap_unwind **ret, const struct ap_unwind_maps *maps);

/*
 * Brings a list of the kernel's tables to what the target has mapped: compiles new files, or reads
 * them from the cache. Costs nothing when nothing is new. 0 or a negative errno; what could be
 * added is there then.
 */
int ap_unwind_update(struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table);

/*
 * Waits for what the kernel still has to do of that, some 10 ms, for which nobody needs to wait who
 * does not give up rights after it.
 */
void ap_unwind_settle(struct ap_unwind *unwind);

/*
 * Lists of several processes. Number 0 is always there; another is the user's who has made it, and
 * gone when its last user has left it. AP_LIST_NONE: there are too many.
 */
uint32_t ap_unwind_list_new(struct ap_unwind *unwind);
void ap_unwind_list_share(struct ap_unwind *unwind, uint32_t list); /* one user more */
void ap_unwind_list_leave(struct ap_unwind *unwind, uint32_t list);

/* Whether it has several users; also true of AP_LIST_NONE, which nobody may change either. */
bool ap_unwind_list_is_shared(const struct ap_unwind *unwind, uint32_t list);

/* Whether it has what the table has. */
bool ap_unwind_list_fits(
	const struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table);

/* Who is told of the files that are compiled; NULL: nobody. */
void ap_unwind_set_work(struct ap_unwind *unwind, struct ap_work *work);

const struct ap_unwind_counts *ap_unwind_counts(const struct ap_unwind *unwind);

void ap_unwind_free(struct ap_unwind *unwind); /* NULL is fine */

#endif
