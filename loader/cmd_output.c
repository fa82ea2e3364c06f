// SPDX-License-Identifier: MIT
/* The outputs of all commands: their options, and writing them. */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "printable.h"

const char output_options_help[] =
	"  -o, --output FILE        write FILE, in the format of its extension:\n"
	"                           .html, .svg, .pb.gz (pprof), .folded, .txt,\n"
	"                           .tree, or .json (for speedscope); repeatable\n"
	"  -f, --format NAME        format of outputs whose extension does not tell:\n"
	"                           html, svg, pprof, folded, speedscope, json,\n"
	"                           text, tree (of calls)\n"
	"      --show live|allocated   value of outputs that hold only one (live)\n"
	"      --by bytes|objects      unit of that value (bytes)\n"
	"      --show-allocator     keep malloc, operator new, ... in the stacks\n"
	"      --redact             leave out folders, arguments and the host's name\n"
	"  -q, --quiet              print errors and warnings only\n"
	"  -h, --help               this text\n";

int option_value_error(
	struct ap_error *error, const char *option, const char *value, const char *expected)
{
	char shown[128];

	ap_printable(shown, sizeof(shown), value);
	ap_error_what(error, AP_EXIT_USAGE, "bad value for %s: '%s'", option, shown);
	ap_error_hint(error, "%s", expected);
	return -EINVAL;
}

int option_error(struct ap_error *error, int option, char **argv, const struct option *known)
{
	const struct option *named = known;

	while (named->name && named->val != optopt)
		named++;
	/*
	 * optopt names a letter: argv[optind - 1] may be the argument before, while getopt_long()
	 * is in a group of letters.
	 */
	if (option == ':')
		ap_error_what(error, AP_EXIT_USAGE, "%s needs a value", argv[optind - 1]);
	else if (optopt && named->name)
		ap_error_what(error, AP_EXIT_USAGE, "--%s takes no value", named->name);
	else if (optopt)
		ap_error_what(error, AP_EXIT_USAGE, "unknown option: -%c", optopt);
	else
		ap_error_what(error, AP_EXIT_USAGE, "unknown option: %s", argv[optind - 1]);
	ap_error_hint(error, "allocprof %s --help", argv[0]);
	return -EINVAL;
}

static int choice_take(const char *option, const char *text, const char *no, const char *yes,
	bool *ret, struct ap_error *error)
{
	if (strcmp(text, no) && strcmp(text, yes)) {
		option_value_error(error, option, text, "");
		ap_error_hint(error, "%s %s, or %s %s", option, no, option, yes);
		return -EINVAL;
	}
	*ret = !strcmp(text, yes);
	return 0;
}

int output_add(struct output_options *options, const char *path, const struct ap_format *format,
	struct ap_error *error)
{
	struct command_output *grown =
		reallocarray(options->output, options->count + 1, sizeof(*grown));

	if (!grown)
		return ap_error_errno(error, AP_EXIT_FAILURE, -ENOMEM, "cannot note the outputs");
	options->output = grown;
	grown[options->count++] = (struct command_output){path, format};
	return 0;
}

static int format_error(struct ap_error *error, const char *text)
{
	char list[128] = "";

	for (const struct ap_format *format = ap_formats; format->name; format++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			*list ? ", " : "", format->name);
	option_value_error(error, "--format", text, "");
	ap_error_hint(error, "the formats are: %s", list);
	return -EINVAL;
}

int output_option_take(
	struct output_options *options, int option, const char *text, struct ap_error *error)
{
	switch (option) {
	case 'o':
		return output_add(options, text, NULL, error);
	case 'f':
		options->named = ap_format_by_name(text);
		if (!options->named)
			return format_error(error, text);
		return 0;
	case OPTION_SHOW:
		options->shown = true;
		return choice_take("--show", text, "live", "allocated", &options->allocated, error);
	case OPTION_BY:
		options->shown = true;
		return choice_take("--by", text, "bytes", "objects", &options->objects, error);
	case OPTION_SHOW_ALLOCATOR:
		options->format.show_allocator = true;
		return 0;
	case OPTION_REDACT:
		options->redact = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	}
	return filter_option_take(options, option, text, error);
}

static int write_error(const char *path, int err, struct ap_error *error)
{
	ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot write %s",
		strcmp(path, "-") ? path : "to standard output");
	if (err != -ENOMEM)
		ap_error_hint(error, "give another place with -o");
	return err;
}

int output_check(const char *path, struct ap_error *error)
{
	int err = ap_output_check(path);

	return err ? write_error(path, err, error) : 0;
}

/*
 * The format of an output: by its extension, or by --format where that fits the extension or there
 * is none.
 */
static const struct ap_format *format_choose(const struct ap_format *named, const char *path)
{
	const struct ap_format *format = ap_format_by_extension(path);

	return !format || (named && ap_format_has_extension(named, path)) ? named : format;
}

static void extensions_list(char *out, size_t room)
{
	*out = '\0';
	for (const struct ap_format *format = ap_formats; format->name; format++)
		if (format == ap_formats || strcmp(format->extension[0], format[-1].extension[0]))
			snprintf(out + strlen(out), room - strlen(out), "%s%s", *out ? ", " : "",
				format->extension[0]);
}

int output_options_finish(struct output_options *options, struct ap_error *error)
{
	if (options->objects)
		options->format.value = options->allocated ? AP_ALLOC_OBJECTS : AP_INUSE_OBJECTS;
	else
		options->format.value = options->allocated ? AP_ALLOC_SPACE : AP_INUSE_SPACE;
	options->filter.show_allocator = options->format.show_allocator;
	for (size_t i = 0; i < options->count; i++) {
		struct command_output *output = &options->output[i];
		char list[128];
		int err;

		if (!output->format)
			output->format = format_choose(options->named, output->path);
		if (!output->format) {
			ap_error_what(error, AP_EXIT_USAGE,
				"the name of the output does not say its format: '%s'",
				output->path);
			extensions_list(list, sizeof(list));
			ap_error_hint(error, "end it in one of %s, or add --format", list);
			return -EINVAL;
		}
		err = output_check(output->path, error);
		if (err)
			return err;
	}
	return 0;
}

int output_write(const struct output_options *options, const char *path,
	const struct ap_format *format, const struct ap_profile *profile, struct ap_error *error)
{
	int err = ap_output_write(path, format, profile, &options->format);

	if (err)
		return write_error(path, err, error);
	if (!options->quiet)
		output_announce(&(struct command_output){.path = path, .format = format});
	return 0;
}

void output_announce(const struct command_output *output)
{
	const char *next = output->format->next;

	if (strcmp(output->path, "-"))
		fprintf(stderr, "wrote %s   %s\n", output->path, next ? next : "");
}

int outputs_write(const struct output_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error)
{
	int err = 0;

	for (size_t i = 0; i < options->count; i++) {
		const struct command_output *output = &options->output[i];
		bool whole = !difference || output->format->compares;
		int failed = output_write(
			options, output->path, output->format, whole ? profile : difference, error);

		err = err ? err : failed;
	}
	return err;
}

void warning_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("warning: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

void output_options_clear(struct output_options *options)
{
	ap_filter_clear(&options->filter);
	free(options->output);
	options->output = NULL;
	options->count = 0;
}
