// SPDX-License-Identifier: MIT
/*
 * What becomes of a recording when its target executes another program. What the old one held is
 * gone and counts as freed, and the recording goes on with the new one. If that has no probes, or
 * cannot be opened because the rights for it were given up after the attach, the recording is over
 * as if the old program had exited, and keeps what was live then.
 */
#include "cmd_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "child_hold.h"
#include "clock.h"
#include "printable.h"
#include "probe_state.h"
#include "process_watch.h"
#include "units.h"

/* How long a program may take to map its libraries. */
#define EXEC_WAIT_NS (2 * AP_SECOND_NS)

/* How long after an exec the next one is still held: a script executes the real program soon. */
#define HOLD_NS (2 * AP_SECOND_NS)

/* The path of the program, or its short name when the process may not be looked into. */
static void path_read(struct recording *recording)
{
	struct ap_target renamed = {.pid = recording->target.pid, .pidfd = -1, .comm = "?"};
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", recording->target.pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0) {
		ap_target_read_names(&renamed);
		length = snprintf(path, sizeof(path), "%s", renamed.comm);
	}
	path[length] = '\0';
	ap_printable(recording->exec.path, sizeof(recording->exec.path), path);
}

static void exec_begin(struct recording *recording, uint64_t now_ns)
{
	struct ap_process_files *files = &recording->target.table.files;
	int err;

	recording->exec.until_ns = now_ns + EXEC_WAIT_NS;
	recording->exec.lack = "has no probes";
	path_read(recording);
	/* The old variables were in memory that is gone. */
	recording_variables_restore(recording);
	recording->periods.count = recording->guards.count = 0;
	ap_jit_clear(&recording->jit);
	recording->jit = AP_JIT_NONE;
	ap_process_files_close(files);
	err = ap_process_files_open(files, recording->target.pid);
	if (err == -EACCES || err == -EPERM) {
		recording->exec.until_ns = now_ns;
		recording->exec.lack = "cannot be looked into: the right was given up";
	}
}

/* An ap_site_pool_owner_fn: sites stay under the number that they have. */
static uint32_t earlier_owner(void *context, uint32_t process)
{
	const struct recording *recording = context;
	uint32_t pid = (uint32_t)recording->target.pid;

	return AP_PROCESS_PID(process) == pid && process != pid + recording->exec.seen ? process
										       : 0;
}

static void exec_tell(const struct recording *recording, uint64_t gone)
{
	struct recording_watcher *watcher = recording->watcher;
	char text[sizeof(recording->exec.path) + 192], size[AP_SIZE_TEXT];

	if (recording->options->out.quiet)
		return;
	/* In a tree the target has its new name already, and what is gone is added up later. */
	if (recording->tree)
		snprintf(text, sizeof(text), "process %d executed %s; what it held is gone",
			recording->target.pid, recording->exec.path);
	else
		snprintf(text, sizeof(text), "%s executed %s; the %s that it held are gone",
			recording->target.comm, recording->exec.path,
			ap_size_format(size, (double)gone));
	if (watcher)
		watcher->tell(watcher, text);
	else
		fprintf(stderr, "note: %s\n", text);
}

/* Goes on with the new program. */
static void exec_finish(struct recording *recording, uint64_t now_ns)
{
	struct ap_site_pool *earlier = &recording->exec.earlier;
	struct ap_snapshot_maps maps = ap_session_maps(recording->session);
	uint64_t before = earlier->released.weight;

	recording->exec.until_ns = 0;
	/* What could not be taken, out of memory, stays live until the next time. */
	if (!recording->tree)
		ap_site_pool_take(earlier, &maps, earlier_owner, recording, now_ns);
	ap_progress_end(&recording->progress);
	exec_tell(recording, earlier->released.weight - before);
	recording->target.table.program = NULL;
	ap_target_read_names(&recording->target);
	recording_variables_renew(recording);
	recording->scan_ns = now_ns;
}

static bool newest_was_sampled(const struct recording *recording)
{
	struct ap_snapshot_maps maps = ap_session_maps(recording->session);
	uint32_t process = (uint32_t)recording->target.pid + recording->exec.seen;
	struct ap_map_dump dump = {0};
	bool found = false;

	if (!ap_map_dump_read(
		    maps.sites, sizeof(struct ap_site_key), sizeof(struct ap_site), &dump))
		for (size_t i = 0; i < dump.count; i++)
			found |= ((struct ap_site_key *)dump.keys)[i].process == process;
	free(dump.keys);
	free(dump.values);
	return found;
}

/* The number of execs so far, as it is part of the keys of sites. */
static uint32_t executed_now(const struct recording *recording)
{
	uint32_t pid = (uint32_t)recording->target.pid;
	struct ap_process process;

	if (!recording->tree)
		return ap_session_executed(recording->session);
	return ap_process_watch_get(recording->deaths, (pid_t)pid, &process) ? process.process - pid
									     : 0;
}

void recording_exec_begin(struct recording *recording)
{
	recording->exec.seen = executed_now(recording);
}

/*
 * Whether the newest program is known to be recorded. A scan from before its exec
 * was of the old one.
 */
static bool newest_is_recorded(const struct recording *recording)
{
	if (recording->root_ended)
		return newest_was_sampled(recording);
	return recording->scanned_ns > recording->exec.until_ns - EXEC_WAIT_NS &&
	       ap_probes_attached(&recording->target);
}

bool recording_exec_follow(struct recording *recording, uint64_t now_ns)
{
	struct recording_exec *exec = &recording->exec;
	uint32_t executed = executed_now(recording);

	if (executed != exec->seen) {
		exec->seen = executed;
		exec_begin(recording, now_ns);
	}
	if (!exec->until_ns)
		return false;
	if (newest_is_recorded(recording)) {
		exec_finish(recording, now_ns);
		return false;
	}
	if (now_ns < exec->until_ns && !recording->root_ended) {
		recording->scan_ns = now_ns;
		return false;
	}
	/* Not for run, whose child may have children with probes: it lasts until the child ends. */
	if (!recording->child && !recording->tree)
		return true;
	exec_finish(recording, now_ns);
	return false;
}

bool recording_hold_follow(struct recording *recording, uint64_t now_ns)
{
	struct ap_child_hold *hold = recording->hold;

	if (!hold || !hold->pid)
		return false;
	if (ap_child_hold_follow(hold)) {
		recording->scan_ns = now_ns;
		return true;
	}
	if (now_ns - recording->begin_ns >= HOLD_NS)
		ap_child_hold_end(hold, 0);
	return false;
}
