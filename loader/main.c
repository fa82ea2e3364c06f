// SPDX-License-Identifier: MIT
/* From the command line to a command. */
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
	struct ap_error error;
	const char *name;
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
	name = argv[1];
	if (!strcmp(name, "-h") || !strcmp(name, "--help"))
		name = "help";
	if (!strcmp(name, "-V") || !strcmp(name, "--version"))
		name = "version";
	command = command_find(name);
	if (!command)
		return command_unknown(name);
	status = command->run(argc - 1, argv + 1);
	if (fflush(stdout) && status == AP_EXIT_OK) {
		status = AP_EXIT_FAILURE;
		ap_error_errno(&error, status, ap_errno(), "cannot write to standard output");
		ap_error_print(stderr, &error);
	}
	return status;
}
