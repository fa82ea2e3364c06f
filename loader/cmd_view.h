/* SPDX-License-Identifier: MIT */
/* What report and diff have in common: options, reading files, showing them. */
#ifndef ALLOCPROF_CMD_VIEW_H
#define ALLOCPROF_CMD_VIEW_H

#include "cmd.h"

struct view_options {
	struct output_options out;
	bool help;
	bool json;
	bool has_limit;
	uint64_t limit; /* --fail-above */
};

enum { OPTION_FAIL_ABOVE = OPTION_OWN, OPTION_JSON };

#define VIEW_OPTIONS_LONG                                           \
	OUTPUT_OPTIONS_LONG, {"top", required_argument, NULL, 'n'}, \
		{"json", no_argument, NULL, OPTION_JSON},           \
	{                                                           \
		"help", no_argument, NULL, 'h'                      \
	}
extern const char view_options_help[];

/*
 * Parses all options. `files`: how many other arguments there must be. 0 or a negative errno with
 * the error filled in.
 */
int view_options_parse(struct view_options *options, int argc, char **argv,
	const struct option *known, int files, struct ap_error *error);

/*
 * Reads a file ("-": standard input), and filters and redacts it as asked. 0 or a negative errno
 * with the error filled in; the caller frees *ret in either case.
 */
int view_load(const struct view_options *options, const char *path, struct ap_profile **ret,
	struct ap_error *error);

/*
 * Sets the value that is shown: the one that was asked for, which the profile must have, or the
 * profile's default. 0 or a negative errno with the error filled in.
 */
int view_choose(
	struct view_options *options, const struct ap_profile *profile, struct ap_error *error);

/*
 * Writes the outputs, or without any prints the table. `difference`: what is shown by formats that
 * cannot compare, NULL for report. 0 or a negative errno with the error filled in.
 */
int view_show(const struct view_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error);

#endif
