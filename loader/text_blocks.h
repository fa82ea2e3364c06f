/* SPDX-License-Identifier: MIT */
/*
 * --lifetimes and --sizes: the lines below a row of the text table that tell what
 * kind of blocks it has.
 */
#ifndef ALLOCPROF_TEXT_BLOCKS_H
#define ALLOCPROF_TEXT_BLOCKS_H

#include <stdio.h>

#include "format.h"

/* Sums over the samples of a row. Start with {0}. */
struct ap_text_blocks {
	/* Allocated values, in the unit that is shown. */
	int64_t allocated, live, live_old; /* live_old: from the first half of the recording */
	int64_t lifetime[AP_LIFETIMES];
	/* Sums of the value that is shown, in all and by class of size. */
	int64_t shown, size[AP_SIZE_CLASSES];
};

void ap_text_blocks_add(
	struct ap_text_blocks *blocks, const struct ap_sample *sample, enum ap_value value);

/* Writes the lines that the options ask for; none for a difference, nor where nothing is known. */
void ap_text_blocks_write(
	FILE *out, const struct ap_text_blocks *blocks, const struct ap_format_options *options);

#endif
