// SPDX-License-Identifier: MIT
/* allocprof version: the version, and with --json what this build can do. */
#include "cmd.h"

#include <stdio.h>

#include "json.h"

const char *const cmd_version_help[] = {
	"usage: allocprof version [OPTIONS]\n"
	"Prints the version.\n",
	"      --json               print it as JSON, with what this build can do\n"
	"  -h, --help               this text\n",
	NULL,
};

enum { OPTION_JSON = OPTION_OWN };

static const struct option version_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void features_print(void)
{
	struct ap_json json = {.out = stdout};

	ap_json_object(&json, NULL);
	ap_json_number(&json, "schema", 1);
	ap_json_text(&json, "version", AP_VERSION);
	ap_json_array(&json, "commands");
	for (const struct command *command = commands; command->name; command++)
		ap_json_text(&json, NULL, command->name);
	ap_json_close(&json);
	ap_json_array(&json, "formats");
	for (const struct ap_format *format = ap_formats; format->name; format++)
		ap_json_text(&json, NULL, format->name);
	ap_json_close(&json);
	ap_json_close(&json);
}

int cmd_version(int argc, char **argv)
{
	struct ap_error error = {0};
	bool json = false;
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", version_options, NULL)) >= 0) {
		switch (option) {
		case OPTION_JSON:
			json = true;
			break;
		case 'h':
			help_print(cmd_version_help);
			return AP_EXIT_OK;
		default:
			option_error(&error, option, argv, version_options);
			return command_fail(argc, argv, &error);
		}
	}
	if (optind < argc) {
		ap_error_what(&error, AP_EXIT_USAGE, "version takes no arguments");
		ap_error_hint(&error, "allocprof version --help");
		return command_fail(argc, argv, &error);
	}
	if (json)
		features_print();
	else
		printf("allocprof %s\n", AP_VERSION);
	return AP_EXIT_OK;
}
