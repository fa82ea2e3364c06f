// SPDX-License-Identifier: MIT
/* The table of commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

const struct command commands[] = {
	{"attach", cmd_attach, cmd_attach_help, "record a running process"},
	{"run", cmd_run, cmd_run_help, "start a command under the allocator and record it"},
	{"report", cmd_report, cmd_report_help, "print a profile, or turn it into another format"},
	{"diff", cmd_diff, cmd_diff_help, "compare two profiles"},
	{"version", cmd_version, cmd_version_help, "print the version"},
	{"help", cmd_help, cmd_help_help, "print this, or the help of a command"},
	{0},
};

const struct command *command_find(const char *name)
{
	const struct command *found = NULL;

	for (const struct command *command = commands; command->name; command++) {
		if (!strcmp(command->name, name))
			return command;
		if (strncmp(command->name, name, strlen(name)) || !*name)
			continue;
		if (found)
			return NULL;
		found = command;
	}
	return found;
}

int command_unknown(const char *name)
{
	struct ap_error error = {0};

	ap_error_what(&error, AP_EXIT_USAGE, "no command '%s'", name);
	ap_error_hint(&error, "allocprof help");
	ap_error_print(stderr, &error);
	return error.status;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	/* A pipe that nobody reads any more is an error of writing, with a message. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		commands_print(stderr);
		return AP_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return cmd_help(1, argv);
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		return cmd_version(1, argv);
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	status = command->run(argc - 1, argv + 1);
	if (fflush(stdout) && status == AP_EXIT_OK) {
		fprintf(stderr, "allocprof: cannot write to standard output: %s\n",
			strerror(errno));
		return AP_EXIT_FAILURE;
	}
	return status;
}
