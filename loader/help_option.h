/* SPDX-License-Identifier: MIT */
/*
 * The options of a command, read back from the lines of its help (see cmd.h): what completion is
 * made from, so that an option stands in one place.
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
	char description[AP_HELP_TEXT]; /* its first line */
};

/*
 * The next option in pieces of a help that end in NULL. *at is where to go on, NULL at first.
 * False: there is none any more.
 */
bool ap_help_option_next(const char *const help[], const char **at, struct ap_help_option *ret);

/* The n-th of the words between the bars of a value; false: there are no more, or it has no bars.
 */
bool ap_help_choice(const char *value, unsigned int n, char ret[AP_HELP_TEXT]);

#endif
