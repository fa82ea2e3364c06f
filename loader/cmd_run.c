// SPDX-License-Identifier: MIT
/* allocprof run -- COMMAND: starts a command under the allocator and records it. */
#include "cmd_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "mmap_watch.h"
#include "preload.h"

const char *const cmd_run_help[] = {
	("usage: allocprof run [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
	 "Starts a command with liballocprof.so preloaded and records it to its\n"
	 "end, or for --duration. Ends with the command's exit status.\n"),
	whole_recording_options_help,
	recording_options_help,
	filter_options_help,
	output_options_help,
	NULL,
};

static int library_find(char path[PATH_MAX], struct ap_error *error)
{
	int err = ap_preload_find(path);

	if (!err)
		return 0;
	ap_error_what(error, AP_EXIT_RUN_FAILURE, "liballocprof.so not found");
	ap_error_detail(error, "it is neither beside this program nor in a ../lib of it");
	ap_error_hint(error, "install liballocprof0, or build it with: make");
	return err;
}

/* Opens the library as an object of its own, since the child has not mapped it yet. */
static int library_open(
	const char *path, struct ap_object *object, struct ap_usdt *usdt, struct ap_error *error)
{
	int err;

	object->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (object->fd < 0) {
		err = ap_error_errno(
			error, AP_EXIT_RUN_FAILURE, ap_errno(), "cannot read %s", path);
		ap_error_hint(error, "build it again with make, or see its permissions");
		return err;
	}
	err = ap_usdt_read(object->fd, usdt);
	if (!err)
		return 0;
	ap_error_what(error, AP_EXIT_RUN_FAILURE, "%s has no otel_memory probes", path);
	ap_error_detail(error, "%s", strerror(-err));
	ap_error_hint(error, "build it without PROBES=0");
	return err;
}

/* Warns at the start, not at the end, when the program may have run for hours. */
static void program_warn(const struct ap_target *target)
{
	const struct ap_mapping *program = target->table.program;

	if (!target->probed_count && program && program->object &&
		ap_preload_is_static(program->object->fd))
		warning_print("%s is static, which ignores LD_PRELOAD: it is not recorded, "
			      "unless it is linked with liballocprof.a",
			target->comm);
	recording_shadow_warn(target);
}

/*
 * Starts the child with the probes attached, and lets it execute the command. 0, or a negative
 * errno with the error filled in when it does not run; there may be a child then, too.
 */
static int child_begin(struct recording *recording, struct ap_child *child,
	struct ap_object *library, char **command, struct ap_error *error)
{
	struct ap_usdt usdt;
	char path[PATH_MAX];
	int err = library_find(path, error);

	if (!err)
		err = library_open(path, library, &usdt, error);
	if (err)
		return err;
	err = ap_child_fork(child, command, path);
	if (err) {
		ap_error_errno(error, AP_EXIT_RUN_FAILURE, err, "cannot start a process");
		ap_error_hint(error, "allow more of them: ulimit -u");
		return err;
	}
	recording->child = recording->tid = child->pid;
	err = recording_prepare(recording, error);
	if (!err)
		err = ap_target_open(&recording->target, child->pid, error);
	if (!err)
		err = recording_session_open(recording, error);
	if (!err)
		err = ap_session_attach(recording->session, library, &usdt, child->pid, error);
	if (err)
		return err;
	/*
	 * If neither works, the mappings are only scanned now and then, which is
	 * enough for most programs.
	 */
	if (recording_tree_hold(recording))
		ap_mmap_watch_open(&recording->watch, child->pid);
	recording_begin(recording);
	return ap_child_exec(child, command[0], error);
}

/* *status gets the child's status once it has ended. `library` must outlive the session. */
static int record(struct recording *recording, struct ap_object *library, char **command,
	int *status, struct ap_error *error)
{
	struct ap_child child = {.go = -1, .failed = -1};
	struct ap_target *target = &recording->target;
	int err = child_begin(recording, &child, library, command, error);
	bool executed = !err;

	if (err)
		goto out;
	recording_exec_begin(recording);
	recording_tree_follow(recording, recording->begin_ns);
	ap_target_read_names(target);
	err = recording_scan(recording, error);
	recording->hold = &child.hold;
	ap_child_hold_go(recording->hold);
	program_warn(target);
	if (err == -ESRCH)
		err = 0;
	if (!err)
		err = recording_privilege_drop(recording, error);
	if (!err)
		err = recording_wait(recording, error);
	if (!err)
		err = recording_finish(recording, error);
	recording_forward(recording);
out:
	recording->hold = NULL;
	ap_child_clear(&child);
	if (child.pid)
		*status = ap_child_wait(&child);
	if (!executed)
		*status = error->status;
	return err;
}

int cmd_run(int argc, char **argv)
{
	struct recording_options options = {0};
	struct ap_error error = {.status = AP_EXIT_RUN_FAILURE};
	struct ap_object library = {.fd = -1};
	struct recording recording;
	int status = AP_EXIT_RUN_FAILURE;
	int err;

	recording_init(&recording, &options);
	err = recording_options_parse(&options, NULL, argc, argv, &error);
	if (!err && options.help) {
		help_print(cmd_run_help);
		recording_options_clear(&options);
		return AP_EXIT_OK;
	}
	if (!err && optind == argc) {
		ap_error_what(&error, AP_EXIT_USAGE, "run needs a command");
		ap_error_hint(&error, "allocprof run -- COMMAND");
		err = -EINVAL;
	}
	if (err)
		status = error.status;
	else
		err = record(&recording, &library, argv + optind, &status, &error);
	if (err && !status && options.strict)
		status = error.status;
	recording_clear(&recording);
	recording_options_clear(&options);
	if (library.fd >= 0)
		close(library.fd);
	if (err)
		ap_error_print(stderr, &error);
	return status;
}
