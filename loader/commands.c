// SPDX-License-Identifier: MIT
/* The table of commands. */
#include <string.h>

#include "cmd.h"

const struct command commands[] = {
	{"attach", cmd_attach, cmd_attach_help, "record a running process"},
	{"run", cmd_run, cmd_run_help, "start a command under the allocator and record it"},
	{"top", cmd_top, cmd_top_help, "show a running process live"},
	{"report", cmd_report, cmd_report_help, "print a profile, or turn it into another format"},
	{"diff", cmd_diff, cmd_diff_help, "compare two profiles"},
	{"list", cmd_list, cmd_list_help, "list the processes that can be recorded"},
	{"doctor", cmd_doctor, cmd_doctor_help, "say what is missing for a recording"},
	{"completion", cmd_completion, cmd_completion_help,
		"print a completion script for a shell"},
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
