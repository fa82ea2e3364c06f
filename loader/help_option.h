/* SPDX-License-Identifier: MIT */
/*
 * The options of a command, parsed from the lines of its help (see cmd.h). The completions of the
 * shells are made from them, so that an option is described in one place.
 */
#ifndef ALLOCPROF_HELP_OPTION_H
#define ALLOCPROF_HELP_OPTION_H

#include <stdbool.h>

#define AP_HELP_TEXT 96

struct ap_help_option {
	char letter;			/* 0: none */
	char name[AP_HELP_TEXT];	/* without its dashes */
	char value[AP_HELP_TEXT];	/* "FILE", "live|allocated"; "" takes none */
	bool is_optional;		/* the value, behind a "=" */
	char description[AP_HELP_TEXT]; /* the first line of it */
};

/*
 * The next option in the pieces of a help, which end in NULL. *at, NULL at first, keeps the place
 * between calls. False: there are no more.
 */
bool ap_help_option_next(const char *const help[], const char **at, struct ap_help_option *ret);

/* The n-th of the words between the bars of a value; false: there are no more, or it has no bars.
 */
bool ap_help_choice(const char *value, unsigned int n, char ret[AP_HELP_TEXT]);

#endif
