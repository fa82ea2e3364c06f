/* SPDX-License-Identifier: MIT */
/* The profile inside a flame graph's page. */
#ifndef ALLOCPROF_PAGE_DATA_H
#define ALLOCPROF_PAGE_DATA_H

#include <stdio.h>

#include "call_tree.h"
#include "format.h"

/*
 * Writes the JSON that flame_profile.js describes. `tree` holds the profile as side 0 and base, if
 * not NULL, as side 1. 0 or -ENOMEM.
 */
int ap_page_data_put(FILE *out, const struct ap_profile *profile, const struct ap_profile *base,
	const struct ap_call_tree *tree, const struct ap_format_options *options);

#endif
