// SPDX-License-Identifier: MIT
/* Which process a command is about: PID, or --name COMM. */
#include "cmd.h"

#include <errno.h>

#include "process_name.h"
#include "units.h"

const char process_option_help[] =
	"      --name COMM          the process with this name, instead of PID\n";

static int pid_parse(const char *text, pid_t *ret, struct ap_error *error)
{
	uint64_t number;

	if (ap_count_parse(text, &number) || number < 1 || number > INT32_MAX) {
		ap_error_what(error, AP_EXIT_USAGE, "not a process number: '%s'", text);
		ap_error_hint(error, "find it with: pgrep -a NAME; or give its name with --name");
		return -EINVAL;
	}
	*ret = number;
	return 0;
}

int process_choose(const char *command, const char *name, bool of_tree, int argc, char **argv,
	pid_t *ret, struct ap_error *error)
{
	const char *what = NULL;

	if (!name && !argc) {
		ap_error_what(error, AP_EXIT_USAGE, "%s needs the number of a process", command);
		ap_error_hint(error,
			"allocprof list shows which can be recorded; then: allocprof %s PID",
			command);
		return -EINVAL;
	}
	if (argc > 1)
		what = "takes one process";
	else if (name && argc)
		what = "takes a number or --name, not both";
	if (what) {
		ap_error_what(error, AP_EXIT_USAGE, "%s %s", command, what);
		ap_error_hint(error, "allocprof %s --help", command);
		return -EINVAL;
	}
	return name ? ap_process_by_name(name, of_tree, ret, error)
		    : pid_parse(argv[0], ret, error);
}
