// SPDX-License-Identifier: MIT
/* From the command line to a command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

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
