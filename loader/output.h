/* SPDX-License-Identifier: MIT */
/*
 * An output file that appears whole or not at all: it is written aside and takes its name at the
 * end, so that a file of that name stays until then, and nothing is left when we are killed.
 */
#ifndef ALLOCPROF_OUTPUT_H
#define ALLOCPROF_OUTPUT_H

#include "format.h"

/*
 * Writes the profile to a path, or to standard output for "-". What exists there and is no regular
 * file (a pipe, a terminal) is written to directly. 0 or a negative errno.
 */
int ap_output_write(const char *path, const struct ap_format *format,
	const struct ap_profile *profile, const struct ap_format_options *options);

/*
 * Whether a file could be made there, so that a mistyped path is known before the recording and
 * not after it. 0 or a negative errno.
 */
int ap_output_check(const char *path);

#endif
