// SPDX-License-Identifier: MIT
/* The state of a recording: the line of progress, and losses. */
#include "cmd_recording.h"

#include <string.h>

#include "clock.h"
#include "estimate.h"
#include "printable.h"
#include "process_watch.h"
#include "units.h"

#define RATE_WINDOW_NS (5 * AP_SECOND_NS)

/*
 * Bytes allocated a second, over the last 5 to 10 seconds: from one redrawing to the next it would
 * jump about.
 */
static double rate_now(struct recording *recording, uint64_t now, uint64_t allocated)
{
	struct recording_moment *past = recording->past;
	double seconds;

	if (!past[0].at_ns)
		past[0] = past[1] = (struct recording_moment){.at_ns = recording->begin_ns};
	seconds = (double)(now - past[0].at_ns) / AP_SECOND_NS;
	seconds = seconds > 0 ? (double)(allocated - past[0].allocated) / seconds : 0;
	if (now - past[1].at_ns >= RATE_WINDOW_NS) {
		past[0] = past[1];
		past[1] = (struct recording_moment){.at_ns = now, .allocated = allocated};
	}
	return seconds;
}

/* "live 41.2 MiB +/-4%". The counters may change while they are read. */
static void live_text(char *out, size_t room, const struct ap_totals *totals)
{
	const struct ap_counters *allocated = &totals->allocated, *freed = &totals->freed;
	char size[AP_SIZE_TEXT];
	struct ap_estimate estimate;
	uint64_t live = 0;

	if (allocated->weight > freed->weight && allocated->samples > freed->samples)
		live = allocated->weight - freed->weight;
	if (!live) {
		snprintf(out, room, "live 0 B");
		return;
	}
	estimate = (struct ap_estimate){
		.value = (double)live,
		.variance = ap_estimate_live_variance(allocated, freed),
	};
	snprintf(out, room, "live %s +/-%.0f%%", ap_size_format(size, (double)live),
		100 * ap_estimate_share(&estimate));
}

void recording_status_show(struct recording *recording, uint64_t now)
{
	struct ap_totals totals;
	struct ap_site losses[AP_LOSSES];
	char live[64], rate[AP_SIZE_TEXT], text[192];
	unsigned long long seconds = (now - recording->begin_ns) / AP_SECOND_NS;
	unsigned long long lost = 0;
	double whole = 100;

	if (recording_totals(recording, &totals) || ap_session_losses(recording->session, losses))
		return;
	for (int i = 0; i < AP_LOSSES; i++)
		lost += losses[i].allocated.samples;
	if (totals.allocated.samples)
		whole = 100.0 * (double)totals.ends[AP_END_START] /
			(double)totals.allocated.samples;
	live_text(live, sizeof(live), &totals);
	ap_size_format(rate, rate_now(recording, now, totals.allocated.weight));
	snprintf(text, sizeof(text),
		"%02llu:%02llu  samples %llu  %s  rate %s/s  stacks %llu  lost %llu  whole %.1f%%",
		seconds / 60, seconds % 60, totals.allocated.samples, live, rate, totals.stacks,
		lost, whole);
	ap_progress_line(&recording->progress, now, text);
}

static void work_show(struct ap_work *work, uint64_t done, uint64_t total, const char *next)
{
	struct recording_work *of = (struct recording_work *)work;
	const char *slash = next ? strrchr(next, '/') : NULL;
	uint64_t now = ap_clock_ns(CLOCK_MONOTONIC);
	char text[192], name[64] = "";

	/*
	 * Every file is shown, not only when a line is due: they are few, and one of them may take
	 * longer than all others.
	 */
	if (!ap_progress_due(of->progress, now) &&
		!(of->kind == WORK_TABLES && of->progress->terminal))
		return;
	if (next)
		ap_printable(name, sizeof(name), slash ? slash + 1 : next);
	if (of->kind == WORK_TABLES)
		snprintf(text, sizeof(text), "reading unwind tables %llu of %llu%s%s",
			(unsigned long long)done + 1, (unsigned long long)total, next ? ": " : "",
			name);
	else
		snprintf(text, sizeof(text), "resolving symbols: site %llu of %llu",
			(unsigned long long)done + 1, (unsigned long long)total);
	ap_progress_line(of->progress, now, text);
}

struct ap_work *recording_work_begin(struct recording *recording, enum recording_work_kind kind)
{
	recording->work = (struct recording_work){
		.work.step = work_show,
		.progress = &recording->progress,
		.kind = kind,
	};
	ap_progress_start_late(&recording->progress, stderr, recording->options->out.quiet,
		ap_clock_ns(CLOCK_MONOTONIC));
	return &recording->work.work;
}

void recording_work_end(struct recording *recording)
{
	ap_progress_erase(&recording->progress);
}

void recording_tell(struct recording *recording, const char *text)
{
	struct recording_watcher *watcher = recording->watcher;

	if (watcher)
		watcher->tell(watcher, text);
	else
		fprintf(stderr, "warning: %s\n", text);
}

void recording_losses_tell(const struct recording *recording, const struct ap_snapshot *snapshot,
	void (*tell)(void *context, const char *text), void *context)
{
	static const char *const remedies[AP_LOSSES] = {
		[AP_LOSS_STACKS] = "; use --max-stacks",
		[AP_LOSS_SITES] = "; use --max-stacks",
		[AP_LOSS_LIVE_FULL] = ", so they count as live even if freed; use --max-live",
	};
	const struct ap_session_options *options = &recording->options->session;
	unsigned long long samples = snapshot->totals.allocated.samples;
	char text[256];

	for (int i = 0; i < AP_LOSSES; i++) {
		unsigned long long lost = snapshot->losses[i].allocated.samples;
		uint64_t more = i == AP_LOSS_LIVE_FULL ? options->max_live : options->max_stacks;
		char remedy[96] = "";

		if (!lost)
			continue;
		if (remedies[i])
			snprintf(remedy, sizeof(remedy), "%s %llu", remedies[i],
				(unsigned long long)more * 4);
		snprintf(text, sizeof(text), "%llu of %llu samples are under [%s]%s", lost, samples,
			ap_loss_name(i), remedy);
		tell(context, text);
	}
	if (recording->target.table.is_full) {
		snprintf(text, sizeof(text),
			"the process has mapped code at %u places; that of more stays unknown",
			recording->target.table.count);
		tell(context, text);
	}
	if (recording->tree && ap_process_watch_lost(recording->deaths)) {
		snprintf(text, sizeof(text),
			"%llu children were not recorded: %d processes are the most at once",
			(unsigned long long)ap_process_watch_lost(recording->deaths), AP_PROCESSES);
		tell(context, text);
	}
	if (!snapshot->totals.frees_missed)
		return;
	snprintf(text, sizeof(text),
		"%llu blocks were allocated again without a free in between; "
		"they count as freed then",
		snapshot->totals.frees_missed);
	tell(context, text);
}
