// SPDX-License-Identifier: MIT
#include "help_option.h"

#include <stdio.h>
#include <string.h>

/*
 * Copies a word up to one of the characters in `end`, cutting it if it is too long; returns what
 * follows it.
 */
static const char *word_take(char *out, const char *text, const char *end)
{
	size_t length = strcspn(text, end);

	snprintf(out, AP_HELP_TEXT, "%.*s", (int)length, text);
	return text + length;
}

/* "  -o, --output FILE   what it does", "      --leak[=SHARE]   what it does". */
static bool line_read(const char *line, struct ap_help_option *ret)
{
	*ret = (struct ap_help_option){0};
	/* The text before the options is not indented, and that of an option is further. */
	if (strspn(line, " ") != 2 && strspn(line, " ") != 6)
		return false;
	line += strspn(line, " ");
	if (line[0] == '-' && line[1] && line[1] != '-' && strncmp(line + 2, ", ", 2) == 0) {
		ret->letter = line[1];
		line += 4;
	}
	if (strncmp(line, "--", 2))
		return false;
	line = word_take(ret->name, line + 2, " [\n");
	if (strncmp(line, "[=", 2) == 0) {
		ret->is_optional = true;
		line = word_take(ret->value, line + 2, "]\n");
		line += *line == ']';
	} else if (line[0] == ' ' && line[1] != ' ') {
		line = word_take(ret->value, line + 1, " \n");
	}
	word_take(ret->description, line + strspn(line, " "), "\n");
	return true;
}

/* The line after this one, also in the next piece. NULL: it was the last. */
static const char *line_after(const char *const help[], const char *line)
{
	const char *end = strchr(line, '\n');

	if (end && end[1])
		return end + 1;
	while (*help && (line < *help || line > *help + strlen(*help)))
		help++;
	return *help ? help[1] : NULL;
}

bool ap_help_option_next(const char *const help[], const char **at, struct ap_help_option *ret)
{
	const char *line = *at ? line_after(help, *at) : help[0];

	while (line && !line_read(line, ret))
		line = line_after(help, line);
	*at = line;
	return line != NULL;
}

bool ap_help_choice(const char *value, unsigned int n, char ret[AP_HELP_TEXT])
{
	if (!strchr(value, '|'))
		return false;
	while (n--) {
		value = strchr(value, '|');
		if (!value++)
			return false;
	}
	word_take(ret, value, "|");
	return true;
}
