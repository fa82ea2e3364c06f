// SPDX-License-Identifier: MIT
/* allocprof report FILE and diff BASE NEW: what has been recorded, and how it has changed. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "profile.h"
#include "redact.h"
#include "units.h"

static const char table_help[] = "  -n, --top N              rows of the table; 0: all (30)\n";

const char *const cmd_report_help[] = {
	"usage: allocprof report [OPTIONS] FILE\n"
	"Prints who allocated in a .pb.gz, also one of Go, jemalloc or tcmalloc,\n"
	"or writes it in other formats. FILE - is standard input.\n",
	table_help,
	output_options_help,
	NULL,
};

const char *const cmd_diff_help[] = {
	"usage: allocprof diff [OPTIONS] BASE NEW\n"
	"Prints what has changed from one .pb.gz to another, or writes it. What was\n"
	"allocated is scaled to the length of NEW; what is live is taken as it is.\n",
	table_help,
	"      --fail-above SIZE    exit with status 8 when it grew by more: 5M, 1G\n",
	output_options_help,
	NULL,
};

struct view_options {
	struct output_options out;
	bool help;
	bool has_limit;
	uint64_t limit; /* --fail-above */
};

enum { OPTION_FAIL_ABOVE = OPTION_OWN };

static const struct option report_options[] = {
	OUTPUT_OPTIONS_LONG,
	{"top", required_argument, NULL, 'n'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct option diff_options[] = {
	OUTPUT_OPTIONS_LONG,
	{"top", required_argument, NULL, 'n'},
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int option_take(
	struct view_options *options, int option, const char *text, struct ap_error *error)
{
	uint64_t number;

	switch (option) {
	case 'n':
		if (ap_count_parse(text, &number) || number > UINT32_MAX)
			return option_value_error(error, "--top", text, "give a number of rows");
		options->out.format.top = (unsigned int)number;
		return 0;
	case OPTION_FAIL_ABOVE:
		options->has_limit = true;
		if (ap_size_parse(text, &options->limit))
			return option_value_error(
				error, "--fail-above", text, "give a size: 512K, 5M, 1G");
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return output_option_take(&options->out, option, text, error);
}

static int options_parse(struct view_options *options, int argc, char **argv,
	const struct option *known, int files, struct ap_error *error)
{
	int option, err = 0;

	options->out.format.top = 30;
	opterr = 0;
	optind = 1;
	while (!err &&
		(option = getopt_long(argc, argv, ":n:h" OUTPUT_OPTIONS_SHORT, known, NULL)) >= 0) {
		if (option == '?' || option == ':')
			return option_error(error, option, argv, known);
		err = option_take(options, option, optarg, error);
	}
	if (err || options->help)
		return err;
	if (argc - optind != files) {
		ap_error_what(error, AP_EXIT_USAGE, "%s needs %s", argv[0],
			files == 1 ? "one file" : "two files, the older one first");
		ap_error_hint(error, "allocprof %s --help", argv[0]);
		return -EINVAL;
	}
	return output_options_finish(&options->out, error);
}

static int profile_load(const char *path, const struct view_options *options,
	struct ap_profile **ret, struct ap_error *error)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	char shown[256], reason[192] = "";
	int err;

	ap_printable(shown, sizeof(shown), path);
	if (!in) {
		err = ap_errno();
		ap_error_what(error, err == -EACCES ? AP_EXIT_PERMISSION : AP_EXIT_FAILURE,
			"cannot read %s", shown);
		ap_error_detail(error, "%s", strerror(-err));
		return err;
	}
	err = ap_format_pprof_read(in, ret, reason, sizeof(reason));
	if (!is_stdin)
		fclose(in);
	if (!err && options->out.redact) {
		err = ap_profile_redact(*ret);
		snprintf(reason, sizeof(reason), "%s", strerror(-err));
	}
	if (!err)
		return 0;
	ap_error_what(error, AP_EXIT_FAILURE, "cannot read %s", shown);
	ap_error_detail(error, "%s", reason);
	if (err == -EBADMSG)
		ap_error_hint(error, "give a .pb.gz that allocprof, or another profiler, wrote");
	return err;
}

/* Which value is shown: what was asked for, which must be there, or what the file says. */
static int value_choose(
	struct view_options *options, const struct ap_profile *profile, struct ap_error *error)
{
	enum ap_value value = options->out.format.value;
	char list[192] = "", shown[32];

	if (!options->out.shown) {
		options->out.format.value = profile->default_value;
		return 0;
	}
	if (ap_profile_has(profile, value))
		return 0;
	ap_error_what(error, AP_EXIT_USAGE, "the profile does not say what is %s in %s",
		options->out.allocated ? "allocated" : "live",
		options->out.objects ? "objects" : "bytes");
	for (int i = 0; i < AP_VALUES; i++) {
		if (!profile->type[i].type[0])
			continue;
		ap_printable(shown, sizeof(shown), profile->type[i].type);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			*list ? ", " : "", shown);
	}
	ap_error_detail(error, "it has: %s", list);
	ap_error_hint(error, "leave out --show and --by");
	return -EINVAL;
}

/* The table on standard output unless something is to be written. */
static int view(const struct view_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error)
{
	int err;

	if (options->out.count)
		return outputs_write(&options->out, profile, difference, error);
	err = ap_format_text_write(stdout, difference ? difference : profile, &options->out.format);
	if (err) {
		ap_error_what(error, AP_EXIT_FAILURE, "cannot write to standard output");
		ap_error_detail(error, "%s", strerror(-err));
	}
	return err;
}

static int finish(struct view_options *options, int err, const struct ap_error *error)
{
	output_options_clear(&options->out);
	if (!err)
		return AP_EXIT_OK;
	ap_error_print(stderr, error);
	return error->status;
}

int cmd_report(int argc, char **argv)
{
	struct view_options options = {0};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct ap_profile *profile = NULL;
	int err = options_parse(&options, argc, argv, report_options, 1, &error);

	if (!err && options.help) {
		help_print(cmd_report_help);
		return finish(&options, 0, &error);
	}
	if (!err)
		err = profile_load(argv[optind], &options, &profile, &error);
	if (!err)
		err = value_choose(&options, profile, &error);
	if (!err)
		err = view(&options, profile, NULL, &error);
	ap_profile_free(profile);
	return finish(&options, err, &error);
}

/* What was allocated grows with the time: brings the base to the length of the other. */
static void base_scale(struct ap_profile *base, const struct ap_profile *profile,
	const struct view_options *options)
{
	double factor;

	if (base->info.duration_ns <= 0 || profile->info.duration_ns <= 0 ||
		base->info.duration_ns == profile->info.duration_ns)
		return;
	factor = (double)profile->info.duration_ns / (double)base->info.duration_ns;
	for (int value = AP_ALLOC_OBJECTS; value <= AP_ALLOC_SPACE; value++)
		if (ap_profile_has(base, value))
			ap_profile_scale(base, value, factor);
	if (!options->out.quiet && options->out.format.value <= AP_ALLOC_SPACE)
		fprintf(stderr, "note: the base lasted %.1f s, the other %.1f s: scaled by %.3f\n",
			(double)base->info.duration_ns / 1e9,
			(double)profile->info.duration_ns / 1e9, factor);
}

static int types_compare(
	const struct ap_profile *base, const struct ap_profile *profile, struct ap_error *error)
{
	for (int i = 0; i < AP_VALUES; i++) {
		if (strcmp(base->type[i].type, profile->type[i].type) == 0 &&
			strcmp(base->type[i].unit, profile->type[i].unit) == 0)
			continue;
		ap_error_what(error, AP_EXIT_FAILURE, "the two profiles hold different values");
		ap_error_hint(error, "see what they hold with allocprof report");
		return -EINVAL;
	}
	return 0;
}

static int difference_make(struct ap_profile **ret, const struct ap_profile *profile,
	const struct ap_profile *base, struct ap_error *error)
{
	struct ap_profile *difference = ap_profile_new();
	int err = difference ? ap_profile_merge(difference, profile, 1) : -ENOMEM;

	if (!err)
		err = ap_profile_merge(difference, base, -1);
	if (err) {
		ap_error_what(error, AP_EXIT_FAILURE, "out of memory");
		ap_profile_free(difference);
		return err;
	}
	/* The strings stay the profile's, which outlives the difference. */
	for (int i = 0; i < AP_VALUES; i++) {
		difference->type[i].type = profile->type[i].type;
		difference->type[i].unit = profile->type[i].unit;
	}
	difference->default_value = profile->default_value;
	*ret = difference;
	return 0;
}

static int limit_check(const struct view_options *options, const struct ap_profile *difference,
	struct ap_error *error)
{
	int64_t grown = difference->total[options->out.format.value];
	char by[AP_SIZE_TEXT], most[AP_SIZE_TEXT];

	if (!options->has_limit || grown <= 0 || (uint64_t)grown <= options->limit)
		return 0;
	ap_size_format(by, (double)grown);
	ap_size_format(most, (double)options->limit);
	ap_error_what(error, AP_EXIT_THRESHOLD, "grew by %s, more than %s", by, most);
	return -ERANGE;
}

int cmd_diff(int argc, char **argv)
{
	struct view_options options = {.out.format.difference = true};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct ap_profile *base = NULL, *profile = NULL, *difference = NULL;
	int err = options_parse(&options, argc, argv, diff_options, 2, &error);

	if (!err && options.help) {
		help_print(cmd_diff_help);
		return finish(&options, 0, &error);
	}
	if (!err)
		err = profile_load(argv[optind], &options, &base, &error);
	if (!err)
		err = profile_load(argv[optind + 1], &options, &profile, &error);
	if (!err)
		err = types_compare(base, profile, &error);
	if (!err)
		err = value_choose(&options, profile, &error);
	if (!err) {
		base_scale(base, profile, &options);
		err = difference_make(&difference, profile, base, &error);
	}
	if (!err) {
		options.out.format.base = base;
		err = view(&options, profile, difference, &error);
	}
	if (!err)
		err = limit_check(&options, difference, &error);
	ap_profile_free(difference);
	ap_profile_free(profile);
	ap_profile_free(base);
	return finish(&options, err, &error);
}
