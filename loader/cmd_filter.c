// SPDX-License-Identifier: MIT
/* The options that choose which part of a profile is shown. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char filter_options_help[] =
	"      --leak[=SHARE]       only live blocks older than this share of the\n"
	"                           recording: 10%, 20%, ... (10%)\n"
	"  -I, --include REGEX      only stacks with a function that matches\n"
	"  -X, --exclude REGEX      no stacks with a function that matches\n"
	"      --thread NAME        only this thread, by name (* ? [] match) or number\n"
	"      --lifetimes          tell for each row how long its blocks lived\n"
	"      --sizes              tell for each row how large its blocks are\n";

static int regex_take(
	struct output_options *options, const char *text, bool excludes, struct ap_error *error)
{
	char reason[128] = "out of memory";
	int err = ap_filter_add_regex(&options->filter, text, excludes, reason, sizeof(reason));

	if (err) {
		option_value_error(error, excludes ? "--exclude" : "--include", text,
			"give an extended regular expression, as grep -E takes it");
		ap_error_detail(error, "%s", reason);
	}
	return err;
}

static int leak_take(struct output_options *options, const char *text, struct ap_error *error)
{
	const unsigned int step = 100 / AP_AGES;
	unsigned long percent = step;
	char *end = "";

	if (text)
		percent = strtoul(text, &end, 10);
	if (*end == '%')
		end++;
	if (*end || percent % step || percent < step || percent >= 100)
		return option_value_error(error, "--leak", text,
			"give a share in steps of ten: --leak=10%, --leak=50%");
	options->filter.leak = (unsigned int)percent / step;
	return 0;
}

int filter_option_take(
	struct output_options *options, int option, const char *text, struct ap_error *error)
{
	switch (option) {
	case 'I':
		return regex_take(options, text, false, error);
	case 'X':
		return regex_take(options, text, true, error);
	case OPTION_THREAD:
		options->filter.thread = text;
		return 0;
	case OPTION_LEAK:
		return leak_take(options, text, error);
	case OPTION_LIFETIMES:
		options->format.lifetimes = true;
		return 0;
	case OPTION_SIZES:
		options->format.sizes = true;
		return 0;
	}
	return -ENOENT;
}
