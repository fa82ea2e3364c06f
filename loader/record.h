/* SPDX-License-Identifier: MIT */
/* From the kernel's counters to a profile: every site becomes a sample, every loss too. */
#ifndef ALLOCPROF_RECORD_H
#define ALLOCPROF_RECORD_H

#include "mapping.h"
#include "profile.h"
#include "snapshot.h"

struct ap_symbolizer;
struct ap_work;

/* How the name of the frame begins that stands at the outer end of a stack that was cut. */
#define AP_TRUNCATED "[truncated: "

/* What went wrong on the way, beside the losses that the programs have counted. */
struct ap_record_faults {
	uint64_t sites;	   /* with a key that no program writes: filed as "[damaged key]" */
	uint64_t negative; /* sites with more freed than allocated: shown as nothing live */
	bool sums_differ;  /* the sites do not add up to the totals */
};

/*
 * Fills a profile from a snapshot of process pid, symbolized by its mappings, and sets the
 * numbers of profile->info that follow from the snapshot. `work` (may be NULL) is told of each
 * site. 0 or -ENOMEM.
 */
int ap_record(struct ap_profile *profile, const struct ap_snapshot *snapshot,
	const struct ap_mapping_table *table, struct ap_symbolizer *symbolizer, pid_t pid,
	struct ap_record_faults *faults, struct ap_work *work);

/* One process of a recorded tree. */
struct ap_record_process {
	uint32_t process; /* as it stands in keys; includes programs that it executed before */
	const char *name; /* name of the frame above all its stacks: "worker (4128)" */
	const struct ap_mapping_table *table;
	const struct ap_jit *jit; /* NULL: none */
};

/* Frees an array of them with their names. NULL is fine. */
void ap_record_processes_free(struct ap_record_process *processes, size_t count);

/*
 * As ap_record(), for a tree of processes. The first one is the root, whose program
 * is the main mapping.
 */
int ap_record_tree(struct ap_profile *profile, const struct ap_snapshot *snapshot,
	const struct ap_record_process *processes, size_t count, struct ap_symbolizer *symbolizer,
	struct ap_record_faults *faults, struct ap_work *work);

/*
 * Adds the locations of one stack to a profile, leaf first; the reason why it was cut, if
 * it was, is the outermost. Returns their number, -ENOMEM, or -EINVAL for a stack that no
 * BPF program writes.
 */
int ap_record_stack(struct ap_profile *profile, struct ap_symbolizer *symbolizer,
	const struct ap_mapping_table *table, const struct ap_stack *stack,
	uint32_t location[AP_FRAMES + 1]);

#endif
