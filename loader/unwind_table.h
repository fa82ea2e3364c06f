/* SPDX-License-Identifier: MIT */
/*
 * Makes the unwind tables of the mapped files of a process, in the kernel's arrays: see
 * allocprof/unwind.h. Tables are added and never moved: a BPF program that walks a stack meanwhile
 * sees either the old mappings with the old tables, or the new ones with the new.
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
	uint32_t *version; /* the programs' count of the lists that were published; NULL: none */
};

struct ap_work;

struct ap_unwind_counts {
	uint32_t files, without; /* files with a table, and files without one */
	uint32_t cached;	 /* how many tables came from the cache */
	uint32_t mappings;
	uint64_t rows, unsupported; /* in all tables */
	uint64_t bytes;		    /* of kernel memory */
	uint32_t rules;
	uint32_t rules_lost; /* rules for which there was no room: stacks end there */
};

/* 0 or a negative errno. The descriptors stay the caller's. */
int ap_unwind_new(struct ap_unwind **ret, const struct ap_unwind_maps *maps);

/*
 * Brings a list, and the tables that it needs, up to date with what the process has mapped:
 * compiles the tables of new files, or reads them from the cache. Cheap when nothing is new. 0, or
 * a negative errno when only a part could be added.
 */
int ap_unwind_update(struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table);

/*
 * Waits for threads of ap_kernel_array_put() that are still running, some 10 ms. Only needed before
 * rights are given up.
 */
void ap_unwind_settle(struct ap_unwind *unwind);

/*
 * The lists of several processes, counted by users. List 0 always exists. A new one has one user,
 * who made it, and is gone when its last user leaves it. AP_LIST_NONE: there are too many.
 */
uint32_t ap_unwind_list_new(struct ap_unwind *unwind);
void ap_unwind_list_share(struct ap_unwind *unwind, uint32_t list); /* one user more */
void ap_unwind_list_leave(struct ap_unwind *unwind, uint32_t list);

/* Whether it has several users. True for AP_LIST_NONE, too: neither may be changed. */
bool ap_unwind_list_is_shared(const struct ap_unwind *unwind, uint32_t list);

/* Whether the list is up to date with the table. */
bool ap_unwind_list_fits(
	const struct ap_unwind *unwind, uint32_t list, const struct ap_mapping_table *table);

/* Sets who is told of each file that is compiled; NULL: nobody. */
void ap_unwind_set_work(struct ap_unwind *unwind, struct ap_work *work);

const struct ap_unwind_counts *ap_unwind_counts(const struct ap_unwind *unwind);

void ap_unwind_free(struct ap_unwind *unwind); /* NULL is fine */

#endif
