// SPDX-License-Identifier: MIT
/* The table of commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"attach", cmd_attach, "record a running process"},
	{"run", cmd_run, "start a command under the allocator and record it"},
	{"report", cmd_report, "print a profile, or turn it into another format"},
	{"diff", cmd_diff, "compare two profiles"},
	{"version", cmd_version, "print the version"},
	{"help", cmd_help, "print this, or the help of a command"},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void usage_print(FILE *out)
{
	fputs("usage: allocprof COMMAND [OPTIONS] ...\n"
	      "Which code holds, or churns, a process's memory?\n\n",
		out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\nexamples:\n"
	      "  allocprof attach 4127                      until Ctrl-C\n"
	      "  allocprof attach --duration 30s -o now.html 4127\n"
	      "  allocprof run -- ./program --its-option    from its start to its end\n",
		out);
}

/* A prefix is enough when only one command has it. NULL: none, or several. */
static const struct command *command_find(const char *name)
{
	const struct command *found = NULL;

	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
		if (strncmp(commands[i].name, name, strlen(name)) || !*name)
			continue;
		if (found)
			return NULL;
		found = &commands[i];
	}
	return found;
}

int cmd_version(int argc, char **argv)
{
	printf("allocprof %s\n", AP_VERSION);
	return AP_EXIT_OK;
}

static int command_unknown(const char *name)
{
	struct ap_error error = {0};

	ap_error_what(&error, AP_EXIT_USAGE, "no command '%s'", name);
	ap_error_hint(&error, "allocprof help");
	ap_error_print(stderr, &error);
	return error.status;
}

int cmd_help(int argc, char **argv)
{
	const struct command *command;
	char option[] = "--help";
	char *args[] = {argv[argc - 1], option, NULL};

	if (argc < 2) {
		usage_print(stdout);
		return AP_EXIT_OK;
	}
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	if (command->run == cmd_help || command->run == cmd_version) {
		printf("allocprof %s: %s\n", command->name, command->summary);
		return AP_EXIT_OK;
	}
	return command->run(2, args);
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	/* A pipe that nobody reads any more is an error of writing, with a message. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		usage_print(stderr);
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
