// SPDX-License-Identifier: MIT
#include "cmd_view.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "profile.h"
#include "redact.h"
#include "units.h"

const char view_options_help[] =
	"  -n, --top N              print N rows of the table; 0: all (30)\n"
	"      --json               print everything as JSON, errors too\n";

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
	case OPTION_JSON:
		options->json = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return output_option_take(&options->out, option, text, error);
}

int view_options_parse(struct view_options *options, int argc, char **argv,
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
		if (files == 1 && argc - optind == 2)
			ap_error_hint(error, "two are compared by: allocprof diff BASE NEW");
		return -EINVAL;
	}
	if (options->json) {
		options->out.quiet = true;
		err = output_add(&options->out, "-", ap_format_by_name("json"), error);
	}
	/* --format without --output goes to standard output, like the table. */
	if (!err && options->out.named && !options->out.count)
		err = output_add(&options->out, "-", options->out.named, error);
	return err ? err : output_options_finish(&options->out, error);
}

int view_load(const struct view_options *options, const char *path, struct ap_profile **ret,
	struct ap_error *error)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	char shown[256], reason[192] = "";
	int err;

	ap_printable(shown, sizeof(shown), path);
	if (!in) {
		err = ap_errno();
		ap_error_errno(error, err == -EACCES ? AP_EXIT_PERMISSION : AP_EXIT_FAILURE, err,
			"cannot read %s", shown);
		if (err == -EACCES)
			ap_error_hint(error, "it is another user's: run allocprof with sudo");
		else
			ap_error_hint(error, "see what is here with: ls -t *.pb.gz");
		return err;
	}
	err = ap_format_pprof_read(in, ret, reason, sizeof(reason));
	if (!is_stdin)
		fclose(in);
	if (!err && !ap_filter_is_empty(&options->out.filter)) {
		err = ap_filter_apply(&options->out.filter, *ret, error);
		if (err)
			return err;
	}
	if (!err && options->out.redact) {
		err = ap_profile_redact(*ret);
		snprintf(reason, sizeof(reason), "%s", strerror(-err));
	}
	if (!err)
		return 0;
	ap_error_what(error, AP_EXIT_FAILURE, "cannot read %s", shown);
	ap_error_detail(error, "%s", reason);
	if (err == -EBADMSG || err == -EISDIR)
		ap_error_hint(
			error, "give a .pb.gz, or a heap profile of Go, jemalloc or gperftools");
	return err;
}

int view_choose(
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

int view_show(const struct view_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error)
{
	const struct output_options *out = &options->out;
	int err;

	/* A reader that closes the pipe early, as head does, ends this program silently. */
	if (!out->count || (out->count == 1 && !strcmp(out->output->path, "-")))
		signal(SIGPIPE, SIG_DFL);
	if (out->count)
		return outputs_write(out, profile, difference, error);
	err = ap_format_text_write(stdout, difference ? difference : profile, &options->out.format);
	if (err)
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot write to standard output");
	return err;
}
