// SPDX-License-Identifier: MIT
/* The options that attach and run have in common. */
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "units.h"

const char recording_options_help[] =
	"  -d, --duration TIME      stop after that long: 30s, 5m, 1h\n"
	"  -o, --output FILE        write this; repeatable, the extension says what:\n"
	"                           .html, .svg, .pb.gz (pprof), .folded, .txt\n"
	"  -f, --format NAME        what to write where the extension does not say it\n"
	"      --show live|allocated   what single-valued outputs hold (live)\n"
	"      --by bytes|objects      and in which unit (bytes)\n"
	"      --period BYTES       mean bytes between two samples: 64K, 512K, 2M\n"
	"      --max-stacks N       different stacks to keep apart (16384)\n"
	"      --max-live N         sampled blocks to follow until their free (65536)\n"
	"      --show-allocator     keep malloc, operator new, ... in the stacks\n"
	"  -q, --quiet              print errors and warnings only\n"
	"  -v, --verbose            print what libbpf says, too\n"
	"  -h, --help               this text\n";

enum {
	OPTION_SHOW = 256,
	OPTION_BY,
	OPTION_PERIOD,
	OPTION_MAX_STACKS,
	OPTION_MAX_LIVE,
	OPTION_SHOW_ALLOCATOR,
};

static const struct option long_options[] = {
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"show", required_argument, NULL, OPTION_SHOW},
	{"by", required_argument, NULL, OPTION_BY},
	{"period", required_argument, NULL, OPTION_PERIOD},
	{"max-stacks", required_argument, NULL, OPTION_MAX_STACKS},
	{"max-live", required_argument, NULL, OPTION_MAX_LIVE},
	{"show-allocator", no_argument, NULL, OPTION_SHOW_ALLOCATOR},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void libbpf_log(const char *text)
{
	fprintf(stderr, "libbpf: %s", text);
}

static int usage_error(
	struct ap_error *error, const char *option, const char *value, const char *expected)
{
	ap_error_what(error, AP_EXIT_USAGE, "bad value for %s: '%s'", option, value);
	ap_error_hint(error, "%s", expected);
	return -EINVAL;
}

/* The size of a map, which the kernel allocates at once: what would take about a gigabyte is not
 * what anybody means. */
static int count_take(
	const char *option, const char *text, uint32_t most, uint32_t *ret, struct ap_error *error)
{
	uint64_t count;

	if (ap_count_parse(text, &count) || count < 1 || count > most) {
		usage_error(error, option, text, "");
		ap_error_hint(error, "give a number from 1 to %u", most);
		return -EINVAL;
	}
	*ret = count;
	return 0;
}

static int choice_take(const char *option, const char *text, const char *no, const char *yes,
	bool *ret, struct ap_error *error)
{
	if (strcmp(text, no) && strcmp(text, yes)) {
		usage_error(error, option, text, "");
		ap_error_hint(error, "%s %s, or %s %s", option, no, option, yes);
		return -EINVAL;
	}
	*ret = !strcmp(text, yes);
	return 0;
}

static int output_add(struct recording_options *options, const char *path, struct ap_error *error)
{
	struct recording_output *grown =
		reallocarray(options->output, options->output_count + 1, sizeof(*grown));

	if (!grown) {
		ap_error_what(error, AP_EXIT_FAILURE, "out of memory");
		return -ENOMEM;
	}
	options->output = grown;
	grown[options->output_count++] = (struct recording_output){.path = path};
	return 0;
}

static int option_take(
	struct recording_options *options, int option, const char *text, struct ap_error *error)
{
	switch (option) {
	case 'd':
		if (ap_duration_parse(text, &options->duration_ns) || !options->duration_ns)
			return usage_error(error, "--duration", text,
				"give a number and a unit: 500ms, 30s, 5m, 1h");
		return 0;
	case 'o':
		return output_add(options, text, error);
	case 'f':
		options->named = ap_format_by_name(text);
		if (!options->named)
			return usage_error(error, "--format", text,
				"the formats are: html, svg, pprof, folded, text");
		return 0;
	case OPTION_SHOW:
		return choice_take("--show", text, "live", "allocated", &options->allocated, error);
	case OPTION_BY:
		return choice_take("--by", text, "bytes", "objects", &options->objects, error);
	case OPTION_PERIOD:
		if (ap_size_parse(text, &options->period) || !options->period)
			return usage_error(
				error, "--period", text, "give a number of bytes: 64K, 512K, 2M");
		return 0;
	case OPTION_MAX_STACKS:
		return count_take(
			"--max-stacks", text, 1 << 20, &options->session.max_stacks, error);
	case OPTION_MAX_LIVE:
		return count_take("--max-live", text, 1 << 23, &options->session.max_live, error);
	case OPTION_SHOW_ALLOCATOR:
		options->format.show_allocator = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->verbose = true;
		options->session.log = libbpf_log;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return -EINVAL;
}

static int output_check(const char *path, struct ap_error *error)
{
	int err = ap_output_check(path);

	if (!err)
		return 0;
	ap_error_what(error, AP_EXIT_FAILURE, "cannot write %s", path);
	ap_error_detail(error, "%s", strerror(-err));
	ap_error_hint(error, "give another place with -o");
	return err;
}

static int outputs_check(struct recording_options *options, struct ap_error *error)
{
	/* Without -o the files go to the current folder. */
	if (!options->output_count && !options->help)
		return output_check("./allocprof.html", error);
	for (size_t i = 0; i < options->output_count; i++) {
		struct recording_output *output = &options->output[i];
		int err;

		output->format = ap_format_by_extension(output->path);
		if (!output->format)
			output->format = options->named;
		if (!output->format) {
			ap_error_what(error, AP_EXIT_USAGE,
				"the name of the output does not say its format: '%s'",
				output->path);
			ap_error_hint(error,
				"end it in .html, .svg, .pb.gz, .folded or .txt, or add --format");
			return -EINVAL;
		}
		err = output_check(output->path, error);
		if (err)
			return err;
	}
	return 0;
}

int recording_options_parse(
	struct recording_options *options, int argc, char **argv, struct ap_error *error)
{
	int option, err = 0;

	*options = (struct recording_options){
		.session = AP_SESSION_DEFAULTS,
		.format = {.top = 10},
	};
	opterr = 0;
	optind = 1;
	while (!err && (option = getopt_long(argc, argv, "+:d:o:f:qvh", long_options, NULL)) >= 0) {
		if (option == '?' || option == ':') {
			ap_error_what(error, AP_EXIT_USAGE,
				option == ':' ? "%s needs a value" : "unknown option: %s",
				argv[optind - 1]);
			ap_error_hint(error, "allocprof %s --help", argv[0]);
			return -EINVAL;
		}
		err = option_take(options, option, optarg, error);
	}
	if (err)
		return err;
	if (options->objects)
		options->format.value = options->allocated ? AP_ALLOC_OBJECTS : AP_INUSE_OBJECTS;
	else
		options->format.value = options->allocated ? AP_ALLOC_SPACE : AP_INUSE_SPACE;
	return outputs_check(options, error);
}

void recording_options_clear(struct recording_options *options)
{
	free(options->output);
	options->output = NULL;
	options->output_count = 0;
}
