/* SPDX-License-Identifier: MIT */
/*
 * Two functions that two threads call: leak(), whose blocks are as old as the recording, and
 * churn(), whose blocks are freed after some ms, but for a young one. What is lost has no labels.
 */
#ifndef ALLOCPROF_TESTS_LABELED_PROFILE_H
#define ALLOCPROF_TESTS_LABELED_PROFILE_H

#include "sample_profile.h"

static inline void labeled_add(struct ap_profile *profile, uint32_t location,
	struct ap_labels labels, int64_t objects, int64_t bytes, bool is_live, uint64_t samples)
{
	int64_t value[AP_VALUES] = {objects, bytes, is_live ? objects : 0, is_live ? bytes : 0};

	ap_profile_add_labeled(profile, &location, 1, &labels, value, samples);
}

/* Allocated: 10000 bytes of leak(), 30000 of churn(), 500 lost; live: 10000, 1000, 500. */
static inline struct ap_profile *labeled_profile(void)
{
	struct ap_profile *profile = ap_profile_new();
	uint32_t leak = sample_location(profile, -1, 1, "leak", "l.c");
	uint32_t churn = sample_location(profile, -1, 2, "churn", "c.c");
	uint32_t lost = (uint32_t)ap_profile_reserved(profile, "[live map full]");
	int32_t first = ap_profile_add_thread(profile, "first", 11);
	int32_t second = ap_profile_add_thread(profile, "se;cond", 22);

	profile->info.period = 4096;
	labeled_add(profile, leak, (struct ap_labels){first, 6, -1, 9}, 60, 6000, true, 6);
	labeled_add(profile, leak, (struct ap_labels){second, 7, -1, 8}, 20, 4000, true, 4);
	labeled_add(profile, churn, (struct ap_labels){first, 6, 1, -1}, 200, 20000, false, 20);
	labeled_add(profile, churn, (struct ap_labels){first, 7, 2, -1}, 45, 9000, false, 9);
	labeled_add(profile, churn, (struct ap_labels){second, 7, -1, 0}, 5, 1000, true, 1);
	labeled_add(profile, lost, AP_LABELS_NONE, 5, 500, true, 1);
	return profile;
}

#endif
