/* SPDX-License-Identifier: MIT */
/*
 * Output files that appear whole or not at all: a file is written without a name and gets it
 * at the end. Until then an older file of that name stays, and when this process is killed
 * nothing is left behind.
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
 * Checks that a file can be made at a path, so that a mistyped one is found before the recording
 * and not after it. 0 or a negative errno.
 */
int ap_output_check(const char *path);

#endif
