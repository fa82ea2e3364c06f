/* SPDX-License-Identifier: MIT */
/*
 * Leaves out of a profile what its reader is not looking for. The totals shrink accordingly, and
 * info.filter and info.left_out say which filter left out how much.
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
 * Adds an extended regular expression, which matches anywhere in a function's name. A stack stays
 * if one of its functions matches an including expression (or there is none), and none matches an
 * excluding one. 0, -ENOMEM, or -EINVAL with the reason in reason[size].
 */
int ap_filter_add_regex(
	struct ap_filter *filter, const char *text, bool excludes, char *reason, size_t size);

bool ap_filter_is_empty(const struct ap_filter *filter);

/*
 * Filters a profile in place. 0; -ENOMEM; or -ENODATA with the error filled in when the filter asks
 * for threads or ages, which the profile does not have.
 */
int ap_filter_apply(
	const struct ap_filter *filter, struct ap_profile *profile, struct ap_error *error);

void ap_filter_clear(struct ap_filter *filter);

#endif
