/* SPDX-License-Identifier: MIT */
/*
 * What a profile lacks that its reader can do something about: names of functions, and the outer
 * parts of stacks. Shares are of what was allocated, so that what is rare is not what is told.
 */
#ifndef ALLOCPROF_GAPS_H
#define ALLOCPROF_GAPS_H

struct ap_profile;

struct ap_gap {
	double share;	  /* 0 to 1 */
	const char *file; /* that has most of it, the profile's; NULL: none, or it is not known */
};

struct ap_gaps {
	struct ap_gap names;  /* frames of mapped code without a function's name */
	struct ap_gap stacks; /* stacks that are cut in code that is known */
};

/* Of a profile that was recorded. 0 or -ENOMEM. */
int ap_gaps_find(struct ap_gaps *gaps, const struct ap_profile *profile);

#endif
