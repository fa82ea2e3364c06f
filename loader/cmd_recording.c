// SPDX-License-Identifier: MIT
/* A recording from its attach to its outputs, as attach and run both do it. */
#include "cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <allocprof/probe.h>

#include "printable.h"
#include "profile.h"
#include "record.h"
#include "units.h"

#define SECOND_NS 1000000000ULL

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void recording_init(struct recording *recording, const struct recording_options *options)
{
	*recording = (struct recording){
		.options = options,
		.target = {.pidfd = -1},
		.signals = -1,
		.watch = AP_MMAP_WATCH_NONE,
	};
}

void recording_clear(struct recording *recording)
{
	for (size_t i = 0; i < recording->period_count; i++)
		ap_period_close(&recording->periods[i]);
	free(recording->periods);
	ap_mmap_watch_close(&recording->watch);
	ap_session_close(recording->session);
	ap_target_clear(&recording->target);
	if (recording->signals >= 0)
		close(recording->signals);
	recording_init(recording, recording->options);
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void ending_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		sigaddset(set, ending_signals[i]);
}

int recording_prepare(struct recording *recording, struct ap_error *error)
{
	struct rlimit limit;
	sigset_t set;

	/* Every mapped file of a target is kept open. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	ending_set(&set);
	/* To the child of run other signals mean something, too. */
	if (recording->child) {
		sigaddset(&set, SIGUSR1);
		sigaddset(&set, SIGUSR2);
	}
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		goto fail;
	recording->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recording->signals >= 0)
		return 0;
fail:
	ap_error_what(error, AP_EXIT_FAILURE, "cannot wait for signals: %s", strerror(errno));
	return -EIO;
}

void recording_begin(struct recording *recording)
{
	recording->start_ns = clock_ns(CLOCK_REALTIME);
	recording->begin_ns = clock_ns(CLOCK_MONOTONIC);
}

static int period_take(struct recording *recording, uint64_t address, struct ap_error *error)
{
	struct ap_period *grown, period = {.memory = -1};
	int err;

	for (size_t i = 0; i < recording->period_count; i++)
		if (recording->periods[i].address == address)
			return 0;
	grown = reallocarray(recording->periods, recording->period_count + 1, sizeof(*grown));
	if (!grown) {
		ap_error_what(error, AP_EXIT_FAILURE, "out of memory");
		return -ENOMEM;
	}
	recording->periods = grown;
	err = ap_period_open(&period, recording->tid, address);
	if (!err && recording->options->period)
		err = ap_period_set(&period, recording->options->period);
	if (err) {
		ap_period_close(&period);
		/* To know it is nice to have; to set it has been asked for. */
		if (!recording->options->period)
			return 0;
		ap_error_what(error, AP_EXIT_FAILURE,
			"cannot set the sampling period of process %d", recording->target.pid);
		ap_error_detail(error, "writing to its memory: %s", strerror(-err));
		ap_error_hint(error, "leave out --period");
		return err;
	}
	recording->periods[recording->period_count++] = period;
	return 0;
}

uint64_t recording_period(const struct recording *recording)
{
	/* A child of run may be gone before its period could be read. */
	if (!recording->period_count)
		return recording->child ? AP_PERIOD_DEFAULT : 0;
	return recording->periods[0].now ? recording->periods[0].now : AP_PERIOD_DEFAULT;
}

static bool has_exited(const struct recording *recording)
{
	struct pollfd exited = {.fd = recording->target.pidfd, .events = POLLIN};

	return poll(&exited, 1, 0) > 0;
}

static int scan(struct recording *recording, struct ap_error *error)
{
	struct ap_target *target = &recording->target;
	pid_t tid = ap_target_live_thread(target);
	size_t known = target->probed_count;
	bool moved = tid && tid != recording->tid && !ap_thread_alive(target->pid, recording->tid);
	int err = ap_target_scan(target, error);

	if (err)
		return err;
	if (!recording->tid || moved) {
		recording->tid = tid;
		known = 0;
	}
	for (size_t i = 0; i < target->probed_count; i++) {
		if (!target->probed[i].period_address)
			continue;
		err = period_take(recording, target->probed[i].period_address, error);
		if (err)
			return err;
	}
	for (size_t i = known; i < target->probed_count; i++) {
		const struct ap_probed *probed = &target->probed[i];

		if (!probed->usdt.count)
			continue;
		err = ap_session_attach(
			recording->session, probed->object, &probed->usdt, recording->tid, error);
		if (err)
			return err;
	}
	return 0;
}

int recording_scan(struct recording *recording, struct ap_error *error)
{
	int err = scan(recording, error);

	recording->scan_ns = clock_ns(CLOCK_MONOTONIC) + SECOND_NS;
	/* Whatever failed then failed because of that. */
	return err && has_exited(recording) ? -ESRCH : err;
}

/* Reads what signals have come. Returns whether the recording is to end. */
static bool signals_take(struct recording *recording)
{
	struct signalfd_siginfo info;

	while (read(recording->signals, &info, sizeof(info)) == sizeof(info)) {
		if (!recording->child)
			return true;
		/* What the terminal sends goes to the child as well; a second one would be ours. */
		if ((int)info.ssi_code != SI_KERNEL)
			kill(recording->child, info.ssi_signo);
	}
	return false;
}

static void progress_show(struct recording *recording, uint64_t now)
{
	struct ap_totals totals;
	struct ap_site losses[AP_LOSSES];
	char live[AP_SIZE_TEXT], allocated[AP_SIZE_TEXT], text[160];
	uint64_t seconds = (now - recording->begin_ns) / SECOND_NS;
	uint64_t lost = 0;

	if (ap_session_totals(recording->session, &totals) ||
		ap_session_losses(recording->session, losses))
		return;
	for (int i = 0; i < AP_LOSSES; i++)
		lost += losses[i].allocated.samples;
	ap_size_format(live, totals.allocated.weight - totals.freed.weight);
	ap_size_format(allocated, totals.allocated.weight);
	snprintf(text, sizeof(text),
		"%02llu:%02llu  samples %llu  live %s  allocated %s  stacks %llu  lost %llu",
		(unsigned long long)seconds / 60, (unsigned long long)seconds % 60,
		totals.allocated.samples, live, allocated, totals.stacks, (unsigned long long)lost);
	ap_progress_line(&recording->progress, now, text);
}

int recording_wait(struct recording *recording, struct ap_error *error)
{
	struct pollfd polled[] = {
		{.fd = recording->target.pidfd, .events = POLLIN},
		{.fd = recording->signals, .events = POLLIN},
		{.fd = recording->watch.ready, .events = POLLIN},
	};
	uint64_t now = recording->begin_ns;
	uint64_t stop = recording->options->duration_ns;
	int err;

	ap_progress_start(&recording->progress, stderr, recording->options->out.quiet, now);
	for (;;) {
		int timeout = AP_PROGRESS_TICK_MS;

		if (stop && now - recording->begin_ns >= stop) {
			recording->end = END_DURATION;
			break;
		}
		if (stop && (stop - (now - recording->begin_ns)) / 1000000 < (uint64_t)timeout)
			timeout = (stop - (now - recording->begin_ns)) / 1000000 + 1;
		if (poll(polled, 3, timeout) < 0 && errno != EINTR) {
			ap_error_what(error, AP_EXIT_FAILURE, "poll: %s", strerror(errno));
			return -EIO;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		if (polled[2].revents) {
			ap_mmap_watch_read(
				&recording->watch, recording->target.pid, &recording->target.table);
			/* The library may just have come: its period is to be set at once. */
			if (!recording->period_count)
				recording->scan_ns = now;
		}
		if (polled[0].revents) {
			recording->end = END_EXITED;
			break;
		}
		if (signals_take(recording)) {
			recording->end = END_INTERRUPTED;
			break;
		}
		if (now >= recording->scan_ns ||
			!ap_thread_alive(recording->target.pid, recording->tid)) {
			err = recording_scan(recording, error);
			if (err && err != -ESRCH)
				return err;
		}
		if (ap_progress_due(&recording->progress, now))
			progress_show(recording, now);
	}
	ap_progress_end(&recording->progress);
	return 0;
}

int recording_forward(struct recording *recording)
{
	struct pollfd polled[] = {
		{.fd = recording->target.pidfd, .events = POLLIN},
		{.fd = recording->signals, .events = POLLIN},
	};

	do {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return -errno;
		signals_take(recording);
	} while (!polled[0].revents);
	return 0;
}

/* ---- The end ---- */

static void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("warning: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static void losses_warn(const struct recording *recording, const struct ap_snapshot *snapshot,
	const struct ap_record_faults *faults)
{
	static const char *const remedies[AP_LOSSES] = {
		[AP_LOSS_STACKS] = "; use --max-stacks",
		[AP_LOSS_SITES] = "; use --max-stacks",
		[AP_LOSS_LIVE_FULL] = ", so they count as live even if freed; use --max-live",
	};
	const struct ap_session_options *options = &recording->options->session;
	unsigned long long samples = snapshot->totals.allocated.samples;

	for (int i = 0; i < AP_LOSSES; i++) {
		unsigned long long lost = snapshot->losses[i].allocated.samples;
		uint64_t more = i == AP_LOSS_LIVE_FULL ? options->max_live : options->max_stacks;
		char remedy[96] = "";

		if (!lost)
			continue;
		if (remedies[i])
			snprintf(remedy, sizeof(remedy), "%s %llu", remedies[i],
				(unsigned long long)more * 4);
		warn("%llu of %llu samples are under [%s]%s", lost, samples, ap_loss_name(i),
			remedy);
	}
	if (snapshot->totals.frees_missed)
		warn("%llu blocks were allocated again without a free in between; "
		     "they count as freed then",
			snapshot->totals.frees_missed);
	if (faults->sites)
		warn("%llu sites have damaged keys; they are under [damaged key]",
			(unsigned long long)faults->sites);
	if (faults->negative)
		warn("%llu sites have more freed than allocated; they count as nothing live",
			(unsigned long long)faults->negative);
	if (faults->sums_differ)
		warn("the sites do not add up to the totals: this is a bug of allocprof");
}

static const char *end_text(enum recording_end end)
{
	switch (end) {
	case END_INTERRUPTED:
		return "interrupted";
	case END_DURATION:
		return "the time was over";
	case END_EXITED:
		return "the process exited";
	}
	return "";
}

static int profile_make(struct recording *recording, const struct ap_snapshot *snapshot,
	struct ap_profile **ret, struct ap_record_faults *faults)
{
	struct ap_profile *profile = ap_profile_new();
	char host[256] = "";
	int err;

	if (!profile)
		return -ENOMEM;
	gethostname(host, sizeof(host) - 1);
	profile->info.pid = recording->target.pid;
	profile->info.start_ns = recording->start_ns;
	profile->info.duration_ns = recording->end_ns - recording->begin_ns;
	profile->info.period = recording_period(recording);
	profile->default_value = recording->options->out.format.value;
	err = ap_profile_set(&profile->info.command, recording->target.command);
	if (!err)
		err = ap_profile_set(&profile->info.comm, recording->target.comm);
	if (!err)
		err = ap_profile_set(&profile->info.host, host);
	if (!err)
		err = ap_profile_set(&profile->info.end_reason, end_text(recording->end));
	if (!err)
		err = ap_record(
			profile, snapshot, &recording->target.table, recording->target.pid, faults);
	if (err) {
		ap_profile_free(profile);
		return err;
	}
	*ret = profile;
	return 0;
}

/* allocprof-NAME-PID-TIME, with a name that no shell and no file system minds. */
static void default_path(
	char *out, size_t room, const struct recording *recording, const char *extension)
{
	time_t start = recording->start_ns / (int64_t)SECOND_NS;
	char name[sizeof(recording->target.comm)], moment[32];
	struct tm parts;
	size_t i;

	for (i = 0; recording->target.comm[i]; i++) {
		char c = recording->target.comm[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';

		name[i] = plain ? c : '_';
	}
	name[i] = '\0';
	gmtime_r(&start, &parts);
	strftime(moment, sizeof(moment), "%Y%m%dT%H%M%SZ", &parts);
	snprintf(out, room, "allocprof-%s-%d-%s%s", name, recording->target.pid, moment, extension);
}

/* One to look at, and one to keep and to compare. */
static int default_outputs_write(
	const struct recording *recording, const struct ap_profile *profile, struct ap_error *error)
{
	static const char *const extensions[] = {".html", ".pb.gz"};
	int err = 0;

	for (size_t i = 0; i < 2; i++) {
		char path[256];
		int failed;

		default_path(path, sizeof(path), recording, extensions[i]);
		failed = output_write(&recording->options->out, path, ap_format_by_extension(path),
			profile, error);
		err = err ? err : failed;
	}
	return err;
}

static void no_samples(const struct recording *recording, const struct ap_snapshot *snapshot,
	struct ap_error *error)
{
	uint64_t period = recording_period(recording);
	double seconds = (double)(recording->end_ns - recording->begin_ns) / SECOND_NS;
	char size[AP_SIZE_TEXT] = "one period";

	if (period)
		ap_size_format(size, period);
	ap_error_what(error, AP_EXIT_NO_SAMPLE, "no samples in %.1f s", seconds);
	ap_error_detail(error,
		"process %d (%s) allocated less than about %s meanwhile; "
		"%llu frees of older blocks were seen",
		recording->target.pid, recording->target.comm, size,
		snapshot->totals.frees_unknown);
	if (recording->child && !recording->target.probed_count) {
		ap_error_detail(error, "%s did not load liballocprof.so", recording->target.comm);
		ap_error_hint(error, "static and setuid programs ignore LD_PRELOAD; "
				     "link with liballocprof.a instead");
		return;
	}
	ap_error_hint(error, "record for longer, or sample more often: --period 16K");
}

int recording_finish(struct recording *recording, struct ap_error *error)
{
	struct ap_profile *profile = NULL;
	struct ap_snapshot snapshot = {0};
	struct ap_record_faults faults;
	sigset_t set;
	int err;

	/* What was loaded since the last look is still there to be seen. */
	if (recording->end != END_EXITED)
		ap_target_scan(&recording->target, error);
	ap_mmap_watch_read(&recording->watch, recording->target.pid, &recording->target.table);
	ap_target_search(&recording->target, error);
	recording->end_ns = clock_ns(CLOCK_MONOTONIC);
	err = ap_session_detach(recording->session);
	for (size_t i = 0; i < recording->period_count; i++)
		ap_period_close(&recording->periods[i]);
	if (err == -ETIMEDOUT)
		warn("a thread has not left the probe yet: its sample may be counted in part");
	else if (err)
		goto fail;
	/* From here on another Ctrl-C ends us at once. */
	ending_set(&set);
	if (!recording->child)
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (!recording->options->out.quiet)
		fprintf(stderr,
			recording->end == END_EXITED ? "%s exited\n"
						     : "detached; %s keeps running\n",
			recording->target.comm);
	err = ap_session_snapshot(recording->session, &snapshot);
	if (err)
		goto fail;
	if (!snapshot.totals.allocated.samples) {
		no_samples(recording, &snapshot, error);
		err = -ENODATA;
		goto out;
	}
	err = profile_make(recording, &snapshot, &profile, &faults);
	if (err)
		goto fail;
	if (!recording->options->out.quiet)
		ap_format_text_write(stderr, profile, &recording->options->out.format);
	if (!recording->options->out.quiet && !profile->total[recording->options->out.format.value])
		fputs("note: nothing of what was sampled is live any more; "
		      "see what was allocated with --show allocated\n",
			stderr);
	losses_warn(recording, &snapshot, &faults);
	if (recording->options->out.count)
		err = outputs_write(&recording->options->out, profile, NULL, error);
	else
		err = default_outputs_write(recording, profile, error);
	goto out;
fail:
	ap_error_what(error, AP_EXIT_FAILURE, "cannot make the profile");
	ap_error_detail(error, "%s", strerror(-err));
out:
	ap_profile_free(profile);
	ap_snapshot_clear(&snapshot);
	return err;
}
