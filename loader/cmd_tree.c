// SPDX-License-Identifier: MIT
/* Recordings of a whole tree of processes: --follow-fork, --tree. */
#include "cmd_recording.h"

#include <errno.h>
#include <string.h>

#include "descendants.h"
#include "process_tree.h"
#include "process_watch.h"
#include "units.h"

static int watch_open(struct recording *recording, struct ap_error *error)
{
	int err = ap_process_watch_open(&recording->deaths, true);

	if (!err)
		err = ap_process_watch_add(recording->deaths, recording->target.pid);
	if (err)
		ap_preflight_explain(error, err, "the kernel refuses to let children be followed");
	return err;
}

static int tree_open(struct recording *recording, struct ap_error *error)
{
	const struct recording_options *options = recording->options;
	struct ap_tree_options tree = {
		.watch = recording->deaths,
		.session = recording->session,
		.root = &recording->target,
		.files = &recording->files,
		.period = options->period,
		.guard = options->guard,
	};
	int err = ap_tree_open(&recording->tree, &tree);

	if (!err && options->tree)
		err = ap_descendants_watch(recording->deaths);
	if (err)
		ap_error_errno(error, AP_EXIT_FAILURE, err,
			"cannot follow the children of process %d", recording->target.pid);
	return err;
}

int recording_session_open(struct recording *recording, struct ap_error *error)
{
	const struct recording_options *options = recording->options;
	struct ap_session_options session = options->session;
	int err = 0;

	if (options->follow) {
		err = watch_open(recording, error);
		session.tree = recording->deaths;
	}
	if (!err)
		err = ap_session_open(&recording->session, recording->target.pid, &session, error);
	if (!err && options->follow)
		err = tree_open(recording, error);
	return err;
}

static void death_tell(void *context, const struct ap_tree_death *death)
{
	struct recording *recording = context;
	char text[AP_DEATH_TEXT], live[AP_SIZE_TEXT];

	if (recording->options->out.quiet || recording->watcher)
		return;
	ap_progress_end(&recording->progress);
	fprintf(stderr, "%s (%d) %s, live %s\n", death->name, death->pid,
		ap_death_format(text, &death->death), ap_size_format(live, (double)death->live));
}

int recording_tree_hold(struct recording *recording)
{
	int err = recording->tree ? ap_tree_hold(recording->tree) : -ENOENT;

	if (err && recording->tree && recording->options->verbose)
		fprintf(stderr, "what children execute is not held: %s\n", strerror(-err));
	return err;
}

void recording_tree_follow(struct recording *recording, uint64_t now_ns)
{
	if (!recording->tree)
		return;
	ap_tree_follow(recording->tree, now_ns, death_tell, recording);
	if (ap_tree_root_is_held(recording->tree))
		recording->scan_ns = now_ns;
}

void recording_tree_settle(struct recording *recording, uint64_t now_ns)
{
	if (recording->tree)
		ap_tree_settle(recording->tree, now_ns, death_tell, recording);
}

void recording_root_ended(struct recording *recording)
{
	char text[AP_DEATH_TEXT];

	recording->root_ended = true;
	recording->death = ap_process_watch_death(recording->deaths, recording->target.pid);
	if (recording->options->out.quiet || !recording_goes_on(recording))
		return;
	ap_progress_end(&recording->progress);
	fprintf(stderr, "%s %s; %zu of its children go on\n", recording->target.comm,
		ap_death_format(text, &recording->death), ap_tree_living(recording->tree));
}

bool recording_goes_on(const struct recording *recording)
{
	return !recording->root_ended || (recording->tree && ap_tree_living(recording->tree));
}

int recording_totals(const struct recording *recording, struct ap_totals *ret)
{
	int err = ap_session_totals(recording->session, ret);
	const struct ap_counters *released;

	if (err)
		return err;
	released = recording->tree ? ap_tree_released(recording->tree)
				   : &recording->exec.earlier.released;
	ap_counters_add(&ret->freed, released);
	return 0;
}

int recording_snapshot(struct recording *recording, struct ap_snapshot *ret)
{
	int err = ap_session_snapshot(recording->session, ret);

	if (err)
		return err;
	return recording->tree ? ap_tree_snapshot(recording->tree, ret)
			       : ap_site_pool_add(&recording->exec.earlier, ret);
}

int recording_profile_fill(struct recording *recording, struct ap_profile *profile,
	const struct ap_snapshot *snapshot, struct ap_record_faults *faults, struct ap_work *work)
{
	struct ap_record_process *processes;
	size_t count;
	int err;

	if (!recording->tree)
		return ap_record(profile, snapshot, &recording->target.table, recording->symbolizer,
			recording->target.pid, faults, work);
	processes = ap_tree_processes(recording->tree, &recording->jit, recording->end_ns, &count);
	if (!processes)
		return -ENOMEM;
	err = ap_record_tree(
		profile, snapshot, processes, count, recording->symbolizer, faults, work);
	ap_record_processes_free(processes, count);
	return err;
}
