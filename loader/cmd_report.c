// SPDX-License-Identifier: MIT
/* allocprof report FILE: what has been recorded. */
#include "cmd_view.h"

#include "profile.h"

static const char usage[] =
	"usage: allocprof report [OPTIONS] FILE\n"
	"Prints a profile (.pb.gz, or a heap profile of Go, jemalloc or gperftools) as\n"
	"a table, or writes it in other formats. FILE - is standard input.\n";

const char *const cmd_report_help[] = {
	usage,
	view_options_help,
	filter_options_help,
	output_options_help,
	NULL,
};

static const struct option report_options[] = {
	VIEW_OPTIONS_LONG,
	{NULL, 0, NULL, 0},
};

int cmd_report(int argc, char **argv)
{
	struct view_options options = {0};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct ap_profile *profile = NULL;
	int err = view_options_parse(&options, argc, argv, report_options, 1, &error);

	if (!err && options.help) {
		help_print(cmd_report_help);
		output_options_clear(&options.out);
		return AP_EXIT_OK;
	}
	if (!err)
		err = view_load(&options, argv[optind], &profile, &error);
	if (!err)
		err = view_choose(&options, profile, &error);
	if (!err)
		err = view_show(&options, profile, NULL, &error);
	ap_profile_free(profile);
	output_options_clear(&options.out);
	return err ? command_fail(argc, argv, &error) : AP_EXIT_OK;
}
