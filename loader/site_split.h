/* SPDX-License-Identifier: MIT */
/*
 * A site's counters taken apart: what was freed by how long it lived, what is live by how old it
 * is. The parts add up to the whole, objects included, which are rounded as sums and not each.
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
 * Of all sites of a snapshot, in its order, and behind them of its losses by enum ap_loss. The
 * caller frees it. NULL: out of memory. A block whose site there is none of, which only a damaged
 * key can be, is left out.
 */
struct ap_site_ages *ap_site_ages_new(const struct ap_snapshot *snapshot);

struct ap_site_part {
	int lifetime, age; /* classes of labels.h; -1: not of that kind, or not known */
	int64_t value[AP_VALUES];
	uint64_t samples;
	double variance; /* of the bytes, in square bytes */
};

/* One for each class, and one for what is in none. */
#define AP_SITE_PARTS (AP_LIFETIMES + AP_AGES + 1)

/*
 * The number of parts; 0 of a site that has nothing. Counters are unsigned and add up modulo 2^64;
 * a hostile target can make more freed than allocated, by a pointer allocated twice: then nothing
 * counts as live and *is_negative is set.
 */
unsigned int ap_site_split(const struct ap_site *site, const struct ap_site_ages *ages,
	struct ap_site_part part[AP_SITE_PARTS], bool *is_negative);

#endif
