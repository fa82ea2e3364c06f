// SPDX-License-Identifier: MIT
/* allocprof attach PID: records a running process. */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>

#include "units.h"

const char *const cmd_attach_help[] = {
	"usage: allocprof attach [OPTIONS] PID\n"
	"Records where a running process allocates, until Ctrl-C, the end of\n"
	"--duration, or its exit; then writes a flame graph and a pprof file.\n",
	recording_options_help,
	output_options_help,
	NULL,
};

static int pid_parse(const char *text, pid_t *ret, struct ap_error *error)
{
	uint64_t number;

	if (ap_count_parse(text, &number) || number < 1 || number > INT32_MAX) {
		ap_error_what(error, AP_EXIT_USAGE, "not a process number: '%s'", text);
		ap_error_hint(error, "find it with: pgrep -a NAME");
		return -EINVAL;
	}
	*ret = number;
	return 0;
}

/* What is to be set must be there. */
static int variables_check(const struct recording *recording, struct ap_error *error)
{
	const struct recording_options *options = recording->options;
	const char *what, *option;

	if ((options->period || options->max_rate) && !recording->periods.count) {
		what = "does not let its sampling period be set";
		option = options->period ? "--period" : "--max-rate";
	} else if (options->guard && !recording->guards.count) {
		what = "cannot guard its sampled blocks";
		option = "--guard";
	} else {
		return 0;
	}
	ap_error_what(error, AP_EXIT_FAILURE, "the allocator of process %d %s",
		recording->target.pid, what);
	ap_error_hint(error, "leave out %s", option);
	return -ENOTSUP;
}

static int record(struct recording *recording, pid_t pid, struct ap_error *error)
{
	struct ap_target *target = &recording->target;
	char size[AP_SIZE_TEXT];
	int err = ap_target_open(target, pid, error);

	if (!err)
		err = ap_target_scan(target, error);
	if (!err)
		err = ap_target_check_probes(target, error);
	if (!err)
		err = ap_session_open(
			&recording->session, pid, &recording->options->session, error);
	if (!err)
		err = recording_prepare(recording, error);
	if (err)
		return err;
	recording_begin(recording);
	err = recording_scan(recording, error);
	if (!err)
		err = variables_check(recording, error);
	if (err)
		return err;
	if (!recording->options->out.quiet) {
		fprintf(stderr, "attached to %s (pid %d)", target->comm, target->pid);
		if (recording_period(recording))
			fprintf(stderr, "; 1 sample per %s",
				ap_size_format(size, recording_period(recording)));
		fputs("; Ctrl-C stops\nnote: memory allocated before now is not visible\n", stderr);
	}
	err = recording_wait(recording, error);
	return err ? err : recording_finish(recording, error);
}

int cmd_attach(int argc, char **argv)
{
	struct recording_options options = {0};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct recording recording;
	pid_t pid = 0;
	int err;

	recording_init(&recording, &options);
	err = recording_options_parse(&options, false, argc, argv, &error);
	if (!err && options.help) {
		help_print(cmd_attach_help);
		recording_options_clear(&options);
		return AP_EXIT_OK;
	}
	if (!err && argc - optind != 1) {
		ap_error_what(&error, AP_EXIT_USAGE,
			argc == optind ? "attach needs the number of a process"
				       : "attach takes one process");
		ap_error_hint(&error, "allocprof attach --help");
		err = -EINVAL;
	}
	if (!err)
		err = pid_parse(argv[optind], &pid, &error);
	if (!err)
		err = record(&recording, pid, &error);
	recording_clear(&recording);
	recording_options_clear(&options);
	if (!err)
		return AP_EXIT_OK;
	ap_error_print(stderr, &error);
	return error.status;
}
