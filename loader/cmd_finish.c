// SPDX-License-Identifier: MIT
/* The end of a recording: its result, its losses, and the outputs. */
#include "cmd_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "gaps.h"
#include "printable.h"
#include "profile.h"
#include "record.h"
#include "redact.h"
#include "units.h"

/* From this share on, bytes in code that was not known yet get a note. */
#define UNKNOWN_NOTED 0.01

static void loss_warn(void *context, const char *text)
{
	warning_print("%s", text);
}

static void losses_warn(const struct recording *recording, const struct ap_snapshot *snapshot,
	const struct ap_record_faults *faults)
{
	recording_losses_tell(recording, snapshot, loss_warn, NULL);
	if (faults->sites)
		warning_print("%llu sites have damaged keys; they are under [damaged key]",
			(unsigned long long)faults->sites);
	if (faults->negative)
		warning_print(
			"%llu sites have more freed than allocated; they count as nothing live",
			(unsigned long long)faults->negative);
	if (faults->sums_differ)
		warning_print("the sites do not add up to the totals: this is a bug of allocprof");
}

/*
 * Why the recording ended: "the time was over", "was killed by the OOM killer at 14:02:11 UTC, live
 * 3.9 GiB".
 */
#define END_TEXT (AP_DEATH_TEXT + AP_SIZE_TEXT + RECORDING_EXEC_PATH)
static char *end_format(
	char out[END_TEXT], const struct recording *recording, const struct ap_totals *totals)
{
	static const char *const ends[] = {
		[END_INTERRUPTED] = "interrupted",
		[END_DURATION] = "the time was over",
		[END_NOT_YET] = "a snapshot of it",
	};
	double held = (double)(totals->allocated.weight - totals->freed.weight);
	char death[AP_DEATH_TEXT], live[AP_SIZE_TEXT];

	if (recording->end == END_EXITED)
		snprintf(out, END_TEXT, "%s, live %s", ap_death_format(death, &recording->death),
			ap_size_format(live, held));
	else if (recording->end == END_EXECUTED)
		snprintf(out, END_TEXT, "executed %s, which %s; live %s", recording->exec.path,
			recording->exec.lack, ap_size_format(live, held));
	else
		snprintf(out, END_TEXT, "%s", ends[recording->end]);
	return out;
}

/* Notes in the header what --min-size and --max-size have left out. */
static int sizes_note(struct ap_profile *profile, const struct ap_session_options *options,
	const struct ap_totals *totals)
{
	char text[96] = "";

	if (options->min_size)
		snprintf(text, sizeof(text), "--min-size=%" PRIu64, options->min_size);
	if (options->max_size != UINT64_MAX)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s--max-size=%" PRIu64,
			*text ? " " : "", options->max_size);
	profile->info.left_out[AP_ALLOC_OBJECTS] =
		(int64_t)(totals->filtered.objects >> AP_OBJECT_SHIFT);
	profile->info.left_out[AP_ALLOC_SPACE] = (int64_t)totals->filtered.weight;
	return *text ? ap_profile_set(&profile->info.filter, text) : 0;
}

int recording_profile(struct recording *recording, const struct ap_snapshot *snapshot,
	struct ap_profile **ret, struct ap_record_faults *faults)
{
	struct ap_profile *profile = ap_profile_new();
	char host[256] = "", end[END_TEXT];
	struct ap_error unused; /* not filled in: our own profiles have what a filter asks for */
	int err;

	if (!profile)
		return -ENOMEM;
	gethostname(host, sizeof(host) - 1);
	profile->info.pid = recording->target.pid;
	profile->info.start_ns = recording->start_ns;
	profile->info.duration_ns = recording->end_ns - recording->begin_ns;
	profile->info.period = recording_period(recording);
	if (recording->period_highest) {
		profile->info.period_lowest = profile->info.period;
		profile->info.period = (int64_t)recording->period_highest;
	}
	profile->default_value = recording->options->out.format.value;
	err = ap_profile_set(&profile->info.command, recording->target.command);
	if (!err)
		err = ap_profile_set(&profile->info.comm, recording->target.comm);
	if (!err)
		err = ap_profile_set(&profile->info.host, host);
	if (!err)
		err = ap_profile_set(
			&profile->info.end_reason, end_format(end, recording, &snapshot->totals));
	if (!err)
		err = recording_names_open(recording);
	if (!err)
		err = recording_profile_fill(recording, profile, snapshot, faults,
			recording_work_begin(recording, WORK_NAMES));
	recording_work_end(recording);
	recording_names_close(recording);
	if (!err)
		err = sizes_note(profile, &recording->options->session, &snapshot->totals);
	if (!err)
		err = ap_filter_apply(&recording->options->out.filter, profile, &unused);
	if (!err && recording->options->out.redact)
		err = ap_profile_redact(profile);
	if (err) {
		ap_profile_free(profile);
		return err;
	}
	if (!profile->total[profile->default_value])
		profile->default_value =
			recording->options->out.objects ? AP_ALLOC_OBJECTS : AP_ALLOC_SPACE;
	*ret = profile;
	return 0;
}

/*
 * Prints the closing table. When everything that was sampled has been freed, it shows what was
 * allocated, as do the outputs that can show both.
 */
static void table_print(const struct output_options *options, const struct ap_profile *profile)
{
	struct ap_format_options format = options->format;

	if (!profile->total[format.value]) {
		format.value = profile->default_value;
		fputs(profile->info.filter && profile->info.left_out[format.value]
				? "note: live 0 B, all that is live is left out; this was allocated"
				: "note: live 0 B, all that was sampled has been freed; "
				  "this was allocated",
			stderr);
		fputs(options->count ? ", as outputs have it with --show allocated\n" : "\n",
			stderr);
	}
	ap_format_text_write(stderr, profile, &format);
}

static void period_print(const struct ap_profile_info *info)
{
	char lowest[AP_SIZE_TEXT], highest[AP_SIZE_TEXT];

	if (info->period_lowest)
		fprintf(stderr, "note: 1 sample per %s to %s, by --max-rate\n",
			ap_size_format(lowest, (double)info->period_lowest),
			ap_size_format(highest, (double)info->period));
}

/* From this share on, what the profile lacks gets a note. */
#define GAP_LEAST 0.25

static bool gap_is_told(const struct ap_gap *gap, char *file, size_t room)
{
	if (gap->share < GAP_LEAST || !gap->file)
		return false;
	ap_printable(file, room, gap->file);
	return true;
}

/*
 * Notes what the profile lacks. Files whose name begins with '[' stand for code made at run time.
 */
static void gaps_print(const struct ap_profile *profile)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct ap_gaps gaps;
	char file[256];

	if (ap_gaps_find(&gaps, profile))
		return;
	if (gap_is_told(&gaps.names, file, sizeof(file)))
		fprintf(stderr, "note: %.0f%% of the frames have no names, most of these in %s%s\n",
			100 * gaps.names.share,
			file[0] == '[' ? "code made at run time: see FILES in allocprof(1)" : file,
			file[0] == '[' || (urls && *urls)
				? ""
				: ": its debug symbols have them, see DEBUGINFOD_URLS in "
				  "allocprof(1)");
	if (gap_is_told(&gaps.stacks, file, sizeof(file)))
		fprintf(stderr, "note: %.0f%% of the bytes have a stack that is cut, most at %s\n",
			100 * gaps.stacks.share,
			file[0] == '[' ? "code made at run time, for want of frame pointers"
				       : file);
}

int recording_no_samples(
	const struct recording *recording, const struct ap_totals *totals, struct ap_error *error)
{
	uint64_t period = recording_period(recording);
	double seconds = (double)(recording->end_ns - recording->begin_ns) / AP_SECOND_NS;
	char size[AP_SIZE_TEXT] = "one period";

	if (period)
		ap_size_format(size, period);
	ap_error_what(error, AP_EXIT_NO_SAMPLE, "no samples in %.1f s", seconds);
	ap_error_detail(error,
		"process %d (%s) allocated less than about %s meanwhile; "
		"%llu frees of older blocks were seen",
		recording->target.pid, recording->target.comm, size, totals->frees_unknown);
	if (recording->child && !recording->target.probed_count) {
		ap_error_detail(error, "%s did not load liballocprof.so", recording->target.comm);
		ap_error_hint(error, "static and setuid programs ignore LD_PRELOAD; "
				     "link with liballocprof.a instead");
		return -ENODATA;
	}
	if (totals->filtered.samples) {
		ap_error_detail(error, "%llu samples were of sizes that are left out",
			totals->filtered.samples);
		ap_error_hint(error, "leave out --min-size and --max-size");
		return -ENODATA;
	}
	if (recording->watcher || recording->options->follow)
		ap_error_hint(error, "record for longer, or sample more often: --period 16K");
	else
		ap_error_hint(error,
			"record for longer, sample more often (--period 16K), or record its "
			"children, too (--%s)",
			recording->child ? "follow-fork" : "tree");
	return -ENODATA;
}

/* Notes how much of a tree's allocations came before the unwind tables of a new program. */
static void unknown_print(const struct ap_snapshot *snapshot)
{
	const struct ap_stack *stack;
	double unknown = 0, share;

	for (size_t i = 0; i < snapshot->site_count; i++) {
		stack = ap_snapshot_stack(snapshot, snapshot->site_keys[i].stack);
		if (stack && stack->end == AP_END_CODE)
			unknown += (double)snapshot->sites[i].allocated.weight;
	}
	share = unknown / (double)snapshot->totals.allocated.weight;
	if (share > UNKNOWN_NOTED)
		fprintf(stderr,
			"note: %.0f%% of what was allocated is under [truncated: %s]: by programs "
			"that had just begun, or code just loaded\n",
			100 * share, ap_end_name(AP_END_CODE));
}

static void end_print(const struct recording *recording, const struct ap_totals *totals)
{
	uint64_t wishes_lost = ap_session_wishes_lost(recording->session);
	char end[END_TEXT];

	if (recording->options->verbose && wishes_lost)
		fprintf(stderr,
			"ring buffer full: %llu requests of the BPF programs to look at the "
			"mappings were lost\n",
			(unsigned long long)wishes_lost);
	if (recording->options->out.quiet)
		return;
	if (recording->end == END_EXITED || recording->end == END_EXECUTED)
		fprintf(stderr, "%s %s\n", recording->target.comm,
			end_format(end, recording, totals));
	else if (recording->root_ended)
		fprintf(stderr, "detached; the children of %s keep running\n",
			recording->target.comm);
	else
		fprintf(stderr, "detached; %s keeps running\n", recording->target.comm);
}

/* --strict: fails when samples were lost. The outputs are written all the same. */
static int completeness_check(const struct ap_snapshot *snapshot,
	const struct ap_record_faults *faults, struct ap_error *error)
{
	unsigned long long lost = faults->sites + faults->negative;

	for (int i = 0; i < AP_LOSSES; i++)
		lost += snapshot->losses[i].allocated.samples;
	if (!lost)
		return 0;
	ap_error_what(error, AP_EXIT_INCOMPLETE, "the profile is incomplete");
	ap_error_detail(error, "%llu samples lost their stack, or their free", lost);
	ap_error_hint(error, "see the warnings above; without --strict this is no failure");
	return -ENODATA;
}

int recording_finish(struct recording *recording, struct ap_error *error)
{
	struct ap_profile *profile = NULL;
	struct ap_snapshot snapshot = {0};
	struct ap_record_faults faults;
	struct output_options named;
	int err = recording_stop(recording, error);

	if (err == -ETIMEDOUT)
		warning_print(
			"a thread has not left the probe yet: its sample may be counted in part");
	else if (err)
		goto fail;
	recording_tree_settle(recording, recording->end_ns);
	err = recording_snapshot(recording, &snapshot);
	if (err)
		goto fail;
	end_print(recording, &snapshot.totals);
	if (recording->tree && !recording->options->out.quiet)
		unknown_print(&snapshot);
	if (!snapshot.totals.allocated.samples) {
		err = recording_no_samples(recording, &snapshot.totals, error);
		goto out;
	}
	err = recording_profile(recording, &snapshot, &profile, &faults);
	if (err)
		goto fail;
	if (!recording->options->out.quiet) {
		table_print(&recording->options->out, profile);
		period_print(&profile->info);
		gaps_print(profile);
	}
	losses_warn(recording, &snapshot, &faults);
	err = recording_outputs_name(
		recording, profile->info.start_ns + profile->info.duration_ns, &named);
	if (err)
		goto fail;
	err = recording_save(recording, &named, profile, error);
	if (!err)
		recording_snapshots_keep(recording, &named);
	recording_outputs_clear(&named);
	if (!err && recording->options->strict)
		err = completeness_check(&snapshot, &faults, error);
	goto out;
fail:
	ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot make the profile");
out:
	ap_profile_free(profile);
	ap_snapshot_clear(&snapshot);
	return err;
}
