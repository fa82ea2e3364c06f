/* SPDX-License-Identifier: MIT */
/* What kind of blocks a row of the text table has, in lines below it: --lifetimes and --sizes. */
#ifndef ALLOCPROF_TEXT_BLOCKS_H
#define ALLOCPROF_TEXT_BLOCKS_H

#include <stdio.h>

#include "format.h"

/* Sums over the samples of a row. Start with {0}. */
struct ap_text_blocks {
	/* Of what was allocated, in the unit that is shown. */
	int64_t allocated, live, live_old; /* old: from the first half of the recording */
	int64_t lifetime[AP_LIFETIMES];
	/* Of the value that is shown. */
	int64_t shown, size[AP_SIZE_CLASSES];
};

void ap_text_blocks_add(
	struct ap_text_blocks *blocks, const struct ap_sample *sample, enum ap_value value);

/* The lines that the options ask for; none of what nothing is known of, and of a difference. */
void ap_text_blocks_write(
	FILE *out, const struct ap_text_blocks *blocks, const struct ap_format_options *options);

#endif
