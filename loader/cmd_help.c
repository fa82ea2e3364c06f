// SPDX-License-Identifier: MIT
/* allocprof help: the list of commands, or the help of one; on a terminal the manual page. */
#include "cmd.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "own_file.h"
#include "printable.h"

const char *const cmd_help_help[] = {
	"usage: allocprof help [COMMAND]\n"
	"Prints the list of commands, or the help of one: on a terminal the manual\n"
	"page, if it is installed.\n",
	NULL,
};

int command_fail(int argc, char **argv, const struct ap_error *error)
{
	bool json = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		json = json || !strcmp(argv[i], "--json");
	if (json)
		ap_error_print_json(stderr, error);
	else
		ap_error_print(stderr, error);
	return error->status;
}

int command_unknown(const char *name)
{
	struct ap_error error = {0};
	char candidates[128] = "", shown[64];

	for (const struct command *command = commands; command->name; command++)
		if (*name && !strncmp(command->name, name, strlen(name)))
			snprintf(candidates + strlen(candidates),
				sizeof(candidates) - strlen(candidates), "%s%s",
				*candidates ? ", " : "", command->name);
	ap_printable(shown, sizeof(shown), name);
	ap_error_what(&error, AP_EXIT_USAGE, "no command '%s'", shown);
	if (*candidates)
		ap_error_detail(&error, "it begins several: %s", candidates);
	ap_error_hint(&error, "allocprof help");
	ap_error_print(stderr, &error);
	return error.status;
}

void help_print(const char *const help[])
{
	printf("%s\n", help[0]);
	for (size_t i = 1; help[i]; i++)
		fputs(help[i], stdout);
}

void commands_print(FILE *out)
{
	fputs("usage: allocprof COMMAND [OPTIONS] ...\n"
	      "Which code holds, or churns, a process's memory?\n\n",
		out);
	for (const struct command *command = commands; command->name; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->summary);
	fputs("\nexamples:\n"
	      "  allocprof attach 4127                      until Ctrl-C\n"
	      "  allocprof attach --duration 30s -o now.html 4127\n"
	      "  allocprof run -- ./program --its-option    from its start to its end\n",
		out);
}

/* Executes man; returns only if there is no man, or no page beside this program. */
static void page_open(void)
{
	static const char *const places[] = {"../share/man/man1/allocprof.1",
		"../share/man/man1/allocprof.1.gz", "../loader/allocprof.1"};
	char path[PATH_MAX];

	if (!ap_own_file_find(path, places, sizeof(places) / sizeof(*places)))
		execlp("man", "man", "-l", path, NULL);
}

int cmd_help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		commands_print(stdout);
		return AP_EXIT_OK;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		help_print(cmd_help_help);
		return AP_EXIT_OK;
	}
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	if (isatty(STDOUT_FILENO))
		page_open();
	help_print(command->help);
	return AP_EXIT_OK;
}
