// SPDX-License-Identifier: MIT
/*
 * The rights that a recording gives up once the probes are attached: after that it reads what the
 * target has made, such as symbols, code that is loaded later, and paths.
 */
#include "cmd_recording.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"
#include "privilege.h"

static bool outputs_can_be_written(const struct output_options *options)
{
	bool can = true;

	for (size_t i = 0; i < options->count && can; i++)
		can = !ap_output_check(options->output[i].path);
	return options->count ? can : !ap_output_check("./allocprof.html");
}

/*
 * Whether the outputs can be written as that user with those capabilities. Tried by a child, which
 * gives up the others.
 */
static bool can_write_with(
	const struct output_options *options, const struct ap_sudo_user *user, uint64_t keep)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(ap_privilege_drop(user, keep) || !outputs_can_be_written(options));
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* The capabilities that the rest of the recording needs. */
static uint64_t capabilities_needed(
	const struct recording *recording, const struct ap_sudo_user *user)
{
	/*
	 * For the unwind tables of code that is loaded later, which are new maps; before 5.19 also
	 * for reading maps.
	 */
	uint64_t needed = AP_CAPABILITY(CAP_BPF);

	/* A process that has only CAP_SYS_ADMIN, from which CAP_BPF was split off, keeps that. */
	if (!(ap_capabilities() & needed))
		needed = AP_CAPABILITY(CAP_SYS_ADMIN);
	/*
	 * When the memory file could not be kept open; or when the maps file is that of a thread
	 * that may exit, after which older kernels (5.10) do not read it.
	 */
	if (recording->target.table.files.memory < 0 || recording->tid != recording->target.pid)
		needed |= AP_CAPABILITY(CAP_SYS_PTRACE);
	/*
	 * The child of run may execute another program, whose files have to be opened then. It has
	 * the same rights.
	 */
	if (recording->child && !user->known && !geteuid())
		needed |= AP_CAPABILITY(CAP_SYS_PTRACE);
	/*
	 * Children are other processes, perhaps of other users, which have to be opened and
	 * attached to.
	 */
	if (recording->options->follow)
		needed |= AP_CAPABILITY(CAP_SYS_PTRACE) | AP_CAPABILITY(CAP_PERFMON) |
			  AP_CAPABILITY(CAP_DAC_READ_SEARCH);
	/*
	 * The thread that the perf uprobes are attached to may exit, as the first one has; they
	 * have to be attached anew then.
	 */
	if (!ap_session_kernel(recording->session)->has_uprobe_multi &&
		(recording->options->follow || recording->tid != recording->target.pid))
		needed |= AP_CAPABILITY(CAP_PERFMON) | AP_CAPABILITY(CAP_SYS_ADMIN);
	return needed;
}

int recording_privilege_drop(struct recording *recording, struct ap_error *error)
{
	const struct output_options *out = &recording->options->out;
	const struct ap_sudo_user nobody = {0};
	struct ap_sudo_user user;
	uint64_t keep;
	int err = ap_sudo_user_find(&user);

	if (err)
		goto fail;
	keep = capabilities_needed(recording, &user);
	/* The outputs belong to the user of sudo, unless they go to where only root can write. */
	if (!can_write_with(out, &user, keep)) {
		user = nobody;
		if (!can_write_with(out, &user, keep))
			keep |= AP_CAPABILITY(CAP_DAC_OVERRIDE);
	}
	err = ap_privilege_drop(&user, keep);
	if (err)
		goto fail;
	recording->has_dropped = true;
	if (recording->options->verbose)
		fprintf(stderr, "rights: user %d, capabilities %llx\n", geteuid(),
			(unsigned long long)ap_capabilities());
	return 0;
fail:
	ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot give up rights");
	ap_error_hint(error, "check SUDO_UID and SUDO_GID in the environment");
	return err;
}

bool recording_lacks_right(struct recording *recording, int err, const struct ap_error *error)
{
	char text[sizeof(error->what) + 128];

	if (!recording->has_dropped || (err != -EPERM && err != -EACCES))
		return false;
	if (recording->has_lacked)
		return true;
	recording->has_lacked = true;
	snprintf(text, sizeof(text),
		"%s; the right was given up after the attach: what the process has loaded since "
		"may be missing",
		error->what);
	recording_tell(recording, text);
	return true;
}
