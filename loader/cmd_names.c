// SPDX-License-Identifier: MIT
/*
 * Where the names of a recording come from, beside the files that its target has mapped: debuginfod
 * and runtimes.
 */
#include "cmd_recording.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "debuginfod.h"
#include "printable.h"
#include "symbolize.h"
#include "units.h"

/* The user is waiting. What arrives is in the library's cache the next time. */
#define DEBUGINFOD_SECONDS 60

/* Shows a download in the line of progress. */
static void fetch_show(void *context, const char *name, long done, long total)
{
	struct recording *recording = context;
	char text[256], got[AP_SIZE_TEXT], all[AP_SIZE_TEXT], shown[128];
	const char *slash = strrchr(name, '/');
	uint64_t now = ap_clock_ns(CLOCK_MONOTONIC);

	if (!ap_progress_due(&recording->progress, now))
		return;
	ap_printable(shown, sizeof(shown), slash ? slash + 1 : name);
	if (total > 0)
		snprintf(text, sizeof(text), "debuginfod: %s of %s for %s",
			ap_size_format(got, (double)done), ap_size_format(all, (double)total),
			shown);
	else
		snprintf(text, sizeof(text), "debuginfod: asking for %s", shown);
	ap_progress_line(&recording->progress, now, text);
}

static void debuginfod_open(struct recording *recording)
{
	struct ap_debuginfod_options options = {
		.limit_ns = DEBUGINFOD_SECONDS * AP_SECOND_NS,
		.progress = fetch_show,
		.context = recording,
	};
	int err = ap_debuginfod_new(&recording->debuginfod, &options);

	if (err == -ENOSYS)
		warning_print("DEBUGINFOD_URLS is set, but there is no libdebuginfod.so.1; "
			      "nobody is asked for debug files");
	if (err)
		return;
	if (!recording->options->out.quiet)
		fprintf(stderr,
			"note: the servers in DEBUGINFOD_URLS are asked for debug files, "
			"for %d s at the most\n",
			DEBUGINFOD_SECONDS);
	ap_symbolizer_set_debuginfod(recording->symbolizer, recording->debuginfod);
}

/* Reads the names of code made at run time. That there are none is usual. */
static int jit_read(struct recording *recording)
{
	struct ap_jit *jit = &recording->jit;
	int err = ap_jit_read_map(jit);

	if (err == -EPERM)
		warning_print("/tmp/perf-%d.map of the process is not read: it must be a regular "
			      "file of the process's user or root",
			jit->pid);
	else if (err && err != -ENOENT)
		warning_print("cannot read /tmp/perf-%d.map of the process: %s", jit->pid,
			strerror(-err));
	return ap_jit_read_dumps(jit, &recording->target.table, recording->end_ns);
}

int recording_names_open(struct recording *recording)
{
	recording->symbolizer = ap_symbolizer_new();
	if (!recording->symbolizer)
		return -ENOMEM;
	ap_symbolizer_set_jit(recording->symbolizer, &recording->jit);
	if (recording->target.table.files.opened)
		ap_symbolizer_set_root(recording->symbolizer, recording->target.table.files.root);
	/* Without the memory file, each snapshot looks up again what is not cached on disk. */
	if (recording->snapshots.names >= 0)
		ap_symbolizer_set_memory(recording->symbolizer, recording->snapshots.names);
	debuginfod_open(recording);
	return jit_read(recording);
}

static void counts_report(const struct recording *recording)
{
	struct ap_symbolizer_counts counts = ap_symbolizer_counts(recording->symbolizer);

	if (recording->options->verbose)
		fprintf(stderr, "names: %u addresses (%u from the cache)\n", counts.addresses,
			counts.cached);
}

void recording_names_close(struct recording *recording)
{
	ap_progress_erase(&recording->progress);
	if (recording->debuginfod && ap_debuginfod_late(recording->debuginfod))
		warning_print("%u debug files were not waited for: more than %d s; "
			      "some names and lines are missing",
			ap_debuginfod_late(recording->debuginfod), DEBUGINFOD_SECONDS);
	if (recording->symbolizer) {
		ap_symbolizer_keep(recording->symbolizer);
		counts_report(recording);
	}
	ap_symbolizer_free(recording->symbolizer);
	ap_debuginfod_free(recording->debuginfod);
	recording->symbolizer = NULL;
	recording->debuginfod = NULL;
}
