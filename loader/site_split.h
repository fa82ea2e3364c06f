/* SPDX-License-Identifier: MIT */
/*
 * Splits a site's counters: what was freed by how long it lived, what is live by how old it is. The
 * parts add up exactly to the whole, objects included: rounding is done on running sums.
 */
#ifndef ALLOCPROF_SITE_SPLIT_H
#define ALLOCPROF_SITE_SPLIT_H

#include <stdbool.h>

#include "profile.h"
#include "snapshot.h"

/* A site's live blocks by age, as the map of live blocks has them. */
struct ap_site_ages {
	struct ap_lifetime age[AP_AGES];
};

/*
 * The ages for all sites of a snapshot, in its order, followed by those for its losses, by enum
 * ap_loss. The caller frees the array. NULL: out of memory. A block without a site, which only a
 * damaged key can have, is left out.
 */
struct ap_site_ages *ap_site_ages_new(const struct ap_snapshot *snapshot);

struct ap_site_part {
	int lifetime, age; /* classes of labels.h; -1: of the other kind, or not known */
	int64_t value[AP_VALUES];
	uint64_t samples;
	double variance; /* of the bytes, in square bytes */
};

/* At most one part for each class, and one for what is in none. */
#define AP_SITE_PARTS (AP_LIFETIMES + AP_AGES + 1)

/*
 * Returns the number of parts, 0 for an empty site. A hostile target can have more freed than
 * allocated, by allocating a pointer twice: then nothing counts as live, and *is_negative is set.
 */
unsigned int ap_site_split(const struct ap_site *site, const struct ap_site_ages *ages,
	struct ap_site_part part[AP_SITE_PARTS], bool *is_negative);

#endif
