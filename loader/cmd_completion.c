// SPDX-License-Identifier: MIT
/*
 * allocprof completion SHELL: prints a script that completes commands, options and their values. It
 * is made from the helps, where the name of a value tells what kind it is: FILE, PID, or words
 * between bars.
 */
#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "help_option.h"

const char *const cmd_completion_help[] = {
	"usage: allocprof completion bash|zsh|fish\n"
	"Prints a script that completes commands and options. To use it in this shell:\n"
	"  bash: source <(allocprof completion bash)\n"
	"  zsh:  source <(allocprof completion zsh)\n"
	"  fish: allocprof completion fish | source\n",
	"  -h, --help               this text\n",
	NULL,
};

enum value_kind { VALUE_OTHER, VALUE_FILE, VALUE_PROCESS, VALUE_COMM, VALUE_COMMAND, VALUE_WORDS };

/* ---- What can stand where ---- */

/* The kind of a value, by its name in the help. */
static enum value_kind value_kind(const char *name)
{
	static const struct {
		const char *name;
		enum value_kind kind;
	} kinds[] = {{"FILE", VALUE_FILE}, {"BASE", VALUE_FILE}, {"PID", VALUE_PROCESS},
		{"COMM", VALUE_COMM}, {"[COMMAND]", VALUE_WORDS}, {"COMMAND ", VALUE_COMMAND}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0)
			return kinds[i].kind;
	return strchr(name, '|') ? VALUE_WORDS : VALUE_OTHER;
}

/*
 * What follows the options in the usage: "PID", "COMMAND [ARGUMENTS]", "". Valid
 * until the next call.
 */
static const char *operands(const struct command *command)
{
	const char *text = command->help[0] + strlen("usage: allocprof ") + strlen(command->name);
	static const char *const skipped[] = {" [OPTIONS]", " [--]"};
	static char line[AP_HELP_TEXT];

	for (size_t i = 0; i < sizeof(skipped) / sizeof(*skipped); i++)
		if (strncmp(text, skipped[i], strlen(skipped[i])) == 0)
			text += strlen(skipped[i]);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line + (*line == ' ');
}

/*
 * Prints, separated by spaces, the words that a value may be: those between its bars, the formats,
 * or the commands.
 */
static void words_put(const char *option, const char *value)
{
	char word[AP_HELP_TEXT];
	const char *space = "";

	for (unsigned int i = 0; ap_help_choice(value, i, word); i++, space = " ")
		printf("%s%s", space, word);
	if (strcmp(option, "format") == 0)
		for (const struct ap_format *format = ap_formats; format->name; format++)
			printf("%s%s", format == ap_formats ? "" : " ", format->name);
	if (strcmp(value, "[COMMAND]") == 0)
		for (const struct command *command = commands; command->name; command++)
			printf("%s%s", command == commands ? "" : " ", command->name);
}

static enum value_kind option_kind(const struct ap_help_option *option)
{
	return strcmp(option->name, "format") == 0 ? VALUE_WORDS : value_kind(option->value);
}

/* ---- bash ---- */

static void bash_values_put(const char *option, const char *value, enum value_kind kind)
{
	switch (kind) {
	case VALUE_WORDS:
		fputs("COMPREPLY=($(compgen -W '", stdout);
		words_put(option, value);
		fputs("' -- \"$cur\"))", stdout);
		break;
	case VALUE_PROCESS:
		fputs("COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$cur\"))",
			stdout);
		break;
	case VALUE_COMM:
		fputs("COMPREPLY=($(compgen -W \"$(cat /proc/[0-9]*/comm 2>/dev/null)\" -- "
		      "\"$cur\"))",
			stdout);
		break;
	case VALUE_COMMAND:
		fputs("COMPREPLY=($(compgen -c -f -- \"$cur\"))", stdout);
		break;
	case VALUE_FILE:
		fputs("COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null",
			stdout);
		break;
	case VALUE_OTHER:
		fputs("COMPREPLY=()", stdout);
		break;
	}
	fputs(" ;;\n", stdout);
}

static void bash_command_put(const struct command *command)
{
	struct ap_help_option option;
	const char *at = NULL, *rest = operands(command);

	while (ap_help_option_next(command->help, &at, &option)) {
		if (!option.value[0] || option.is_optional)
			continue;
		printf("  %s:--%s", command->name, option.name);
		if (option.letter)
			printf(" | %s:-%c", command->name, option.letter);
		fputs(") ", stdout);
		bash_values_put(option.name, option.value, option_kind(&option));
	}
	printf("  %s:*)\n    case $cur in\n    -*) COMPREPLY=($(compgen -W '", command->name);
	at = NULL;
	while (ap_help_option_next(command->help, &at, &option))
		printf("--%s%s ", option.name, option.is_optional ? "=" : "");
	printf("' -- \"$cur\")) ;;\n    *) ");
	bash_values_put("", rest, value_kind(rest));
	fputs("    esac\n    ;;\n", stdout);
}

static void bash_put(void)
{
	fputs("# bash completion of allocprof, by: allocprof completion bash\n"
	      "_allocprof() {\n"
	      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "  local command=${COMP_WORDS[1]}\n"
	      "  [ \"$COMP_CWORD\" -gt 1 ] || command=\n"
	      "  COMPREPLY=()\n"
	      "  # A \"=\" is a word of its own.\n"
	      "  if [ \"$cur\" = = ]; then cur='';\n"
	      "  elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
	      "  case $command:$prev in\n"
	      "  :*) COMPREPLY=($(compgen -W '",
		stdout);
	words_put("", "[COMMAND]");
	fputs("' -- \"$cur\")) ;;\n", stdout);
	for (const struct command *command = commands; command->name; command++)
		bash_command_put(command);
	fputs("  esac\n"
	      "}\n"
	      "complete -F _allocprof allocprof\n",
		stdout);
}

/* ---- zsh ---- */

/* Inside single quotes, in a description of _arguments. */
static void zsh_text_put(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

/* ":what it is:how it is completed". */
static void zsh_value_put(const char *option, const char *value, enum value_kind kind)
{
	putchar(':');
	zsh_text_put(*value ? value : " ");
	putchar(':');
	switch (kind) {
	case VALUE_WORDS:
		putchar('(');
		words_put(option, value);
		putchar(')');
		break;
	case VALUE_PROCESS:
		fputs("_pids", stdout);
		break;
	case VALUE_COMM:
		fputs("_process_names", stdout);
		break;
	case VALUE_COMMAND:
		fputs("_command_names -e", stdout);
		break;
	case VALUE_FILE:
		fputs("_files", stdout);
		break;
	case VALUE_OTHER:
		putchar(' ');
		break;
	}
}

static void zsh_option_put(
	const struct ap_help_option *option, const char *dashes, const char *name)
{
	/* "*": it may be given again; whether that makes sense is checked by the command. */
	printf(" \\\n      '*%s%s%s[", dashes, name,
		!option->value[0]     ? ""
		: option->is_optional ? "=-"
		: dashes[1]	      ? "="
				      : "+");
	zsh_text_put(option->description);
	putchar(']');
	if (option->is_optional)
		putchar(':');
	if (option->value[0])
		zsh_value_put(option->name, option->value, option_kind(option));
	putchar('\'');
}

static void zsh_command_put(const struct command *command)
{
	const char *at = NULL, *rest = operands(command);
	struct ap_help_option option;

	printf("    %s)\n      _arguments -s", command->name);
	while (ap_help_option_next(command->help, &at, &option)) {
		char letter[] = {option.letter, '\0'};

		zsh_option_put(&option, "--", option.name);
		if (option.letter)
			zsh_option_put(&option, "-", letter);
	}
	if (*rest) {
		fputs(" \\\n      '*", stdout);
		zsh_value_put("", rest, value_kind(rest));
		putchar('\'');
	}
	fputs("\n      ;;\n", stdout);
}

static void zsh_put(void)
{
	fputs("#compdef allocprof\n"
	      "# zsh completion of allocprof, by: allocprof completion zsh\n"
	      "_allocprof() {\n"
	      "  local -a commands\n"
	      "  commands=(\n",
		stdout);
	for (const struct command *command = commands; command->name; command++) {
		printf("    '%s:", command->name);
		zsh_text_put(command->summary);
		fputs("'\n", stdout);
	}
	fputs("  )\n"
	      "  if ((CURRENT == 2)); then\n"
	      "    _describe command commands\n"
	      "    return\n"
	      "  fi\n"
	      "  shift words\n"
	      "  ((CURRENT--))\n"
	      "  case $words[1] in\n",
		stdout);
	for (const struct command *command = commands; command->name; command++)
		zsh_command_put(command);
	fputs("  esac\n"
	      "}\n"
	      "if [ \"$funcstack[1]\" = _allocprof ]; then _allocprof \"$@\"; else compdef "
	      "_allocprof "
	      "allocprof; fi\n",
		stdout);
}

/* ---- fish ---- */

static void fish_quoted_put(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('\'');
}

static void fish_value_put(const char *option, const char *value, enum value_kind kind)
{
	switch (kind) {
	case VALUE_WORDS:
		fputs(" -x -a '", stdout);
		words_put(option, value);
		putchar('\'');
		break;
	case VALUE_PROCESS:
		fputs(" -x -a '(__fish_complete_pids)'", stdout);
		break;
	case VALUE_COMM:
		fputs(" -x -a '(cat /proc/[0-9]*/comm 2>/dev/null)'", stdout);
		break;
	case VALUE_COMMAND:
		fputs(" -x -a '(__fish_complete_subcommand)'", stdout);
		break;
	case VALUE_FILE:
		fputs(" -r -F", stdout);
		break;
	case VALUE_OTHER:
		fputs(" -x", stdout);
		break;
	}
}

static void fish_command_put(const struct command *command)
{
	const char *at = NULL, *rest = operands(command);
	struct ap_help_option option;

	printf("complete -c allocprof -f -n __fish_use_subcommand -a %s -d ", command->name);
	fish_quoted_put(command->summary);
	putchar('\n');
	while (ap_help_option_next(command->help, &at, &option)) {
		printf("complete -c allocprof -n '__fish_seen_subcommand_from %s' -l %s",
			command->name, option.name);
		if (option.letter)
			printf(" -s %c", option.letter);
		if (option.value[0] && !option.is_optional)
			fish_value_put(option.name, option.value, option_kind(&option));
		fputs(" -d ", stdout);
		fish_quoted_put(option.description);
		putchar('\n');
	}
	if (*rest) {
		printf("complete -c allocprof -n '__fish_seen_subcommand_from %s'", command->name);
		fish_value_put("", rest, value_kind(rest));
		putchar('\n');
	}
}

static void fish_put(void)
{
	fputs("# fish completion of allocprof, by: allocprof completion fish\n", stdout);
	for (const struct command *command = commands; command->name; command++)
		fish_command_put(command);
}

int cmd_completion(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} shells[] = {{"bash", bash_put}, {"zsh", zsh_put}, {"fish", fish_put}};
	struct ap_error error = {0};

	for (size_t i = 0; argc == 2 && i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(argv[1], shells[i].name) == 0) {
			shells[i].put();
			return AP_EXIT_OK;
		}
	}
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		help_print(cmd_completion_help);
		return AP_EXIT_OK;
	}
	ap_error_what(&error, AP_EXIT_USAGE, "completion needs bash, zsh or fish");
	ap_error_hint(&error, "allocprof completion bash");
	ap_error_print(stderr, &error);
	return error.status;
}
