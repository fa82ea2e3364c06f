/* SPDX-License-Identifier: MIT */
/* What a flame graph's page shows when JavaScript is off. */
#ifndef ALLOCPROF_PAGE_TOP_H
#define ALLOCPROF_PAGE_TOP_H

#include <stdio.h>

#include "profile.h"

/* Writes a heading and a table of the functions that allocated most, by one value. 0 or -ENOMEM. */
int ap_page_top_put(FILE *out, const struct ap_profile *profile, enum ap_value by);

#endif
