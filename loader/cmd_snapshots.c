// SPDX-License-Identifier: MIT
/*
 * Profiles written while the recording goes on: --every, --keep, SIGUSR1.
 *
 * A child process (the writer) makes each one, so that the recording never waits for symbols: new
 * code of the target must get its unwind tables within milliseconds. The memory that symbols take
 * goes with the child, too, except the names themselves, which the next writer finds in a memory
 * file. The child has copies of our descriptors, also those of the probes, and so must not outlive
 * this process.
 */
#include "cmd_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile.h"
#include "record.h"

/* The writer is not urgent. */
#define WRITER_NICE 10

/* What the writer sends at its end; nothing when it is killed. */
struct result {
	int err;
	struct ap_error error;
};

static struct result snapshot_write(struct recording *recording, const struct output_options *named)
{
	struct result result = {.error = {.status = AP_EXIT_FAILURE}};
	struct ap_profile *profile = NULL;
	struct ap_snapshot snapshot = {0};
	struct ap_record_faults faults;

	result.err = recording_snapshot(recording, &snapshot);
	if (!result.err && !snapshot.totals.allocated.samples) {
		ap_error_what(&result.error, AP_EXIT_NO_SAMPLE, "nothing has been sampled yet");
		result.err = -ENODATA;
		goto out;
	}
	if (!result.err)
		result.err = recording_profile(recording, &snapshot, &profile, &faults);
	if (result.err)
		ap_error_errno(
			&result.error, AP_EXIT_FAILURE, result.err, "cannot make the profile");
	else
		result.err = outputs_write(named, profile, NULL, &result.error);
out:
	ap_profile_free(profile);
	ap_snapshot_clear(&snapshot);
	return result;
}

static _Noreturn void writer_main(struct recording *recording, pid_t parent, int to)
{
	struct output_options named = recording->snapshots.named;
	struct result result;
	int nowhere;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(AP_EXIT_FAILURE);
	setpriority(PRIO_PROCESS, 0, WRITER_NICE);
	/* Warnings are printed once, at the end of the recording. */
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0)
		_exit(AP_EXIT_FAILURE);
	named.quiet = true;
	if (recording->end != END_EXITED)
		recording->end = END_NOT_YET;
	result = snapshot_write(recording, &named);
	if (write(to, &result, sizeof(result)) != sizeof(result))
		_exit(AP_EXIT_FAILURE);
	_exit(AP_EXIT_OK);
}

static int snapshot_begin(struct recording *recording, uint64_t now_ns)
{
	struct recording_snapshots *snapshots = &recording->snapshots;
	pid_t parent = getpid(), writer;
	int ends[2];
	int err;

	if (recording->end != END_EXITED)
		recording->end_ns = now_ns;
	err = recording_outputs_name(recording,
		recording->start_ns + (int64_t)(now_ns - recording->begin_ns), &snapshots->named);
	if (err)
		return err;
	if (snapshots->names < 0)
		snapshots->names = memfd_create("allocprof-names", MFD_CLOEXEC);
	if (pipe2(ends, O_CLOEXEC)) {
		err = ap_errno();
		goto fail;
	}
	writer = fork();
	if (!writer)
		writer_main(recording, parent, ends[1]);
	err = ap_errno();
	close(ends[1]);
	if (writer > 0) {
		snapshots->writer = writer;
		snapshots->result = ends[0];
		return 0;
	}
	close(ends[0]);
fail:
	recording_outputs_clear(&snapshots->named);
	return err;
}

/* ---- --keep ---- */

static void written_forget(struct recording_snapshots *snapshots, size_t index)
{
	free(snapshots->written[index].path);
	memmove(&snapshots->written[index], &snapshots->written[index + 1],
		(--snapshots->written_count - index) * sizeof(*snapshots->written));
}

/* Notes a file of the latest snapshot; one of the same name is replaced. */
static int written_note(struct recording_snapshots *snapshots, const char *path)
{
	struct snapshot_file *grown;
	struct stat status;

	if (!strcmp(path, "-") || lstat(path, &status) || !S_ISREG(status.st_mode))
		return 0;
	for (size_t i = 0; i < snapshots->written_count; i++)
		if (!strcmp(snapshots->written[i].path, path))
			written_forget(snapshots, i--);
	grown = reallocarray(snapshots->written, snapshots->written_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	snapshots->written = grown;
	grown += snapshots->written_count;
	*grown = (struct snapshot_file){.path = strdup(path), .number = snapshots->count};
	if (!grown->path)
		return -ENOMEM;
	snapshots->written_count++;
	return 0;
}

/* How many files, from the oldest on, belong to none of the last `keep` snapshots. */
static size_t files_too_old(const struct recording_snapshots *snapshots, uint64_t keep)
{
	const struct snapshot_file *written = snapshots->written;
	size_t first = snapshots->written_count;
	uint64_t there = 0;

	for (; first; first--) {
		there += first == snapshots->written_count ||
			 written[first - 1].number != written[first].number;
		if (there > keep)
			break;
	}
	return first;
}

void recording_snapshots_keep(struct recording *recording, const struct output_options *named)
{
	struct recording_snapshots *snapshots = &recording->snapshots;
	uint64_t keep = recording->options->keep;
	size_t old;

	snapshots->count++;
	if (!keep)
		return;
	for (size_t i = 0; i < named->count; i++)
		if (written_note(snapshots, named->output[i].path))
			return;
	old = files_too_old(snapshots, keep);
	if (!old)
		return;
	for (size_t i = 0; i < old; i++) {
		unlink(snapshots->written[i].path);
		free(snapshots->written[i].path);
	}
	snapshots->written_count -= old;
	memmove(snapshots->written, snapshots->written + old,
		snapshots->written_count * sizeof(*snapshots->written));
}

/* ---- Starting and ending the writer ---- */

static void failure_tell(struct recording *recording, const char *what, const char *detail)
{
	char text[1024];

	snprintf(text, sizeof(text), "no snapshot: %s%s%s", what, *detail ? ": " : "", detail);
	recording_tell(recording, text);
}

/*
 * The end of a path after what it has in common with an earlier one: ".pb.gz" for
 * "a.html" and "a.pb.gz".
 */
static const char *difference(const char *path, const char *earlier)
{
	size_t same = 0, dot = 0;

	for (; path[same] && path[same] == earlier[same]; same++)
		if (path[same] == '.')
			dot = same;
	return strchr(path + dot, '/') ? path : path + dot;
}

/* Tells of all files of a snapshot in one line. */
static void written_tell(struct recording *recording)
{
	const struct output_options *named = &recording->snapshots.named;
	char text[1024];
	size_t used = (size_t)snprintf(text, sizeof(text), "wrote");

	for (size_t i = 0; i < named->count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s", i ? "," : "",
			i ? difference(named->output[i].path, named->output[0].path)
			  : named->output[i].path);
	recording_tell(recording, text);
}

/* Waits for the writer and tells how it has ended. */
static void snapshot_end(struct recording *recording)
{
	struct recording_snapshots *snapshots = &recording->snapshots;
	struct result result = {.err = -EIO};
	bool quiet = recording->options->out.quiet;
	ssize_t length;

	do {
		length = read(snapshots->result, &result, sizeof(result));
	} while (length < 0 && errno == EINTR);
	if (length != sizeof(result))
		ap_error_what(&result.error, AP_EXIT_FAILURE, "its writer was killed");
	close(snapshots->result);
	waitpid(snapshots->writer, NULL, 0);
	snapshots->writer = 0;
	ap_progress_end(&recording->progress);
	if (!result.err) {
		if (recording->watcher)
			written_tell(recording);
		for (size_t i = 0; i < snapshots->named.count && !recording->watcher && !quiet; i++)
			output_announce(&snapshots->named.output[i]);
		recording_snapshots_keep(recording, &snapshots->named);
	} else if (result.err != -ENODATA || snapshots->asked) {
		/*
		 * That nothing has been sampled yet is only told to somebody who
		 * asked for this snapshot.
		 */
		failure_tell(recording, result.error.what, result.error.detail);
	}
	snapshots->asked = false;
	recording_outputs_clear(&snapshots->named);
}

void recording_snapshots_follow(struct recording *recording, uint64_t now_ns)
{
	struct recording_snapshots *snapshots = &recording->snapshots;
	uint64_t every = recording->options->every_ns;
	struct pollfd ended = {.fd = snapshots->result, .events = POLLIN};
	int err;

	if (snapshots->writer && poll(&ended, 1, 0) > 0)
		snapshot_end(recording);
	if (every && now_ns - recording->begin_ns >= snapshots->due_ns + every) {
		snapshots->wanted = true;
		snapshots->due_ns = (now_ns - recording->begin_ns) / every * every;
	}
	if (!snapshots->wanted || snapshots->writer)
		return;
	snapshots->wanted = false;
	err = snapshot_begin(recording, now_ns);
	if (err)
		failure_tell(recording, strerror(-err), "");
}

void recording_snapshots_finish(struct recording *recording)
{
	if (recording->snapshots.writer)
		snapshot_end(recording);
}

void recording_snapshots_clear(struct recording *recording)
{
	struct recording_snapshots *snapshots = &recording->snapshots;

	if (snapshots->writer) {
		kill(snapshots->writer, SIGKILL);
		waitpid(snapshots->writer, NULL, 0);
		close(snapshots->result);
		recording_outputs_clear(&snapshots->named);
	}
	while (snapshots->written_count)
		written_forget(snapshots, snapshots->written_count - 1);
	free(snapshots->written);
	if (snapshots->names >= 0)
		close(snapshots->names);
	*snapshots = (struct recording_snapshots){.result = -1, .names = -1};
}
