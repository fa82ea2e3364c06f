// SPDX-License-Identifier: MIT
/* allocprof attach PID: records a running process. */
#include "cmd_recording.h"

#include <stdio.h>

#include "probe_state.h"
#include "units.h"

const char *const cmd_attach_help[] = {
	("usage: allocprof attach [OPTIONS] PID|--name COMM\n"
	 "Records where a running process allocates, until Ctrl-C, the end of\n"
	 "--duration, or its exit; then writes a flame graph and a pprof file.\n"),
	process_option_help,
	whole_recording_options_help,
	recording_options_help,
	filter_options_help,
	output_options_help,
	NULL,
};

static const struct command_options own = {
	.letters = "",
	.options = {PROCESS_OPTION},
	.take = recording_process_take,
};

int recording_attach(struct recording *recording, pid_t pid, struct ap_error *error)
{
	struct ap_target *target = &recording->target;
	int err = ap_target_open(target, pid, error);

	if (!err)
		err = ap_target_scan(target, error);
	if (!err)
		err = ap_target_check_probes(target, error);
	if (!err) {
		recording->is_shared = ap_probes_attached(target);
		err = recording_session_open(recording, error);
	}
	if (!err)
		err = recording_prepare(recording, error);
	if (err)
		return err;
	recording_begin(recording);
	ap_session_set_work(recording->session, recording_work_begin(recording, WORK_TABLES));
	recording_tree_follow(recording, recording->begin_ns);
	err = recording_scan(recording, error);
	recording_work_end(recording);
	ap_session_set_work(recording->session, NULL);
	if (!err)
		err = recording_variables_check(recording, error);
	return err ? err : recording_privilege_drop(recording, error);
}

void recording_shadow_warn(const struct ap_target *target)
{
	if (ap_target_is_shadowed(target))
		warning_print("%s has a malloc of its own, which comes before that of a library: "
			      "what it allocates is not recorded, unless it is built without",
			target->comm);
}

static int record(struct recording *recording, pid_t pid, struct ap_error *error)
{
	const struct ap_target *target = &recording->target;
	char size[AP_SIZE_TEXT];
	int err = recording_attach(recording, pid, error);

	if (err)
		return err;
	recording_shadow_warn(target);
	if (!recording->options->out.quiet) {
		fprintf(stderr, "attached to %s (pid %d)", target->comm, target->pid);
		if (recording_period(recording))
			fprintf(stderr, "; 1 sample per %s",
				ap_size_format(size, recording_period(recording)));
		fputs("; Ctrl-C stops\nnote: memory allocated before now is not visible\n", stderr);
		if (recording->is_shared)
			fputs("note: somebody else records it, too: what one sets by --period, "
			      "--max-rate or --guard holds for both\n",
				stderr);
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
	err = recording_options_parse(&options, &own, argc, argv, &error);
	if (!err && options.help) {
		help_print(cmd_attach_help);
		recording_options_clear(&options);
		return AP_EXIT_OK;
	}
	if (!err)
		err = process_choose("attach", options.name, options.tree, argc - optind,
			argv + optind, &pid, &error);
	if (!err)
		err = record(&recording, pid, &error);
	recording_clear(&recording);
	recording_options_clear(&options);
	if (!err)
		return AP_EXIT_OK;
	ap_error_print(stderr, &error);
	return error.status;
}
