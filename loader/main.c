// SPDX-License-Identifier: MIT
/* Finds the command of a command line and runs it. */
#include <locale.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/*
 * A closed standard stream would give its number to the next file that is opened, which then gets
 * what is printed. What is opened here in its place fails as a closed stream does.
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
	/* Only characters and their widths follow the locale; numbers are written as in C. */
	setlocale(LC_CTYPE, "");
	/* Writing to a pipe that nobody reads any more fails, and gets a message. */
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
