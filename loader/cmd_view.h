/* SPDX-License-Identifier: MIT */
/* What report and diff have in common: options, files, and what is shown of them. */
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

/* Parses them all; `files` must follow. 0 or a negative errno with the error filled in. */
int view_options_parse(struct view_options *options, int argc, char **argv,
	const struct option *known, int files, struct ap_error *error);

/* Reads a file, "-" being standard input. 0 or a negative errno with the error filled in. */
int view_load(const struct view_options *options, const char *path, struct ap_profile **ret,
	struct ap_error *error);

/* Which value is shown: what was asked for, which must be there, or what the file says. */
int view_choose(
	struct view_options *options, const struct ap_profile *profile, struct ap_error *error);

/* The table on standard output unless something is to be written. */
int view(const struct view_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error);

#endif
