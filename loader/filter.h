/* SPDX-License-Identifier: MIT */
/*
 * Leaving out what is not looked for. The totals of the profile follow, and its header says what
 * was left out and why: info.filter, info.left_out.
 */
#ifndef ALLOCPROF_FILTER_H
#define ALLOCPROF_FILTER_H

#include <regex.h>

#include "error.h"
#include "profile.h"

struct ap_filter_regex {
	const char *text;
	regex_t compiled;
	bool excludes;
};

/* All zero: nothing is left out. */
struct ap_filter {
	struct ap_filter_regex *regex;
	size_t regex_count;
	const char *thread; /* its number, or a pattern of its name as in fnmatch(3); NULL: any */
	/* Live blocks younger than so many tenths of the recording are left out; 0: none. */
	unsigned int leak;
	bool show_allocator; /* the allocator's frames are looked at as well */
};

/*
 * A stack stays if a function of it matches one of the including ones, if there are any, and none
 * of the excluding ones: extended regular expressions, anywhere in the name. 0, -ENOMEM, or -EINVAL
 * with the reason in reason[size].
 */
int ap_filter_add_regex(
	struct ap_filter *filter, const char *text, bool excludes, char *reason, size_t size);

bool ap_filter_is_empty(const struct ap_filter *filter);

/*
 * 0 or -ENOMEM; -ENODATA, with the error filled in, of a profile that does not know its threads or
 * ages.
 */
int ap_filter_apply(
	const struct ap_filter *filter, struct ap_profile *profile, struct ap_error *error);

void ap_filter_clear(struct ap_filter *filter);

#endif
