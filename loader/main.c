// SPDX-License-Identifier: MIT
/* From the command line to a command. */
#include <errno.h>
#include <locale.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/*
 * A standard stream that was closed would be the next file that is opened: a profile would go to
 * it. What is opened in its place fails as a closed one does.
 */
static void streams_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			abort();
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	streams_open();
	/* Which characters there are, and how wide. Numbers are written as in C. */
	setlocale(LC_CTYPE, "");
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
