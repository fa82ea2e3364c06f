/* SPDX-License-Identifier: MIT */
/*
 * What a profile lacks and its reader can do something about: names of functions, and the outer
 * parts of stacks. Both are weighed by allocated bytes, so that rare stacks do not count for much.
 */
#ifndef ALLOCPROF_GAPS_H
#define ALLOCPROF_GAPS_H

struct ap_profile;

struct ap_gap {
	double share;	  /* 0 to 1 */
	const char *file; /* which has most of it (the profile's string); NULL: none, or unknown */
};

struct ap_gaps {
	struct ap_gap names;  /* frames of mapped code without a function's name */
	struct ap_gap stacks; /* stacks that are cut although the code is known */
};

/* Of a profile that was recorded. 0 or -ENOMEM. */
int ap_gaps_find(struct ap_gaps *gaps, const struct ap_profile *profile);

#endif
