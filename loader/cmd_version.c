// SPDX-License-Identifier: MIT
/* allocprof version: what this is. */
#include "cmd.h"

#include <stdio.h>

const char *const cmd_version_help[] = {
	"usage: allocprof version\n"
	"Prints the version.\n",
	"  -h, --help               this text\n",
	NULL,
};

static const struct option version_options[] = {
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int cmd_version(int argc, char **argv)
{
	struct ap_error error = {0};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", version_options, NULL)) >= 0) {
		if (option == 'h') {
			help_print(cmd_version_help);
			return AP_EXIT_OK;
		}
		option_error(&error, option, argv, version_options);
		ap_error_print(stderr, &error);
		return error.status;
	}
	printf("allocprof %s\n", AP_VERSION);
	return AP_EXIT_OK;
}
