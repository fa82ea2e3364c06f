// SPDX-License-Identifier: MIT
/* The course of a recording: beginning, scanning, waiting, stopping. */
#include "cmd_recording.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "child_hold.h"
#include "clock.h"
#include "mmap_watch.h"
#include "process_tree.h"
#include "process_watch.h"
#include "units.h"

#define SCAN_PAUSE_NS (AP_SECOND_NS / 20)

/* How long to wait for the child to stop: that takes microseconds, if it can be stopped at all. */
#define HOLD_PATIENCE_MS 50

void recording_init(struct recording *recording, const struct recording_options *options)
{
	*recording = (struct recording){
		.options = options,
		.target = {.pidfd = -1, .table.shared = &recording->files},
		.signals = -1,
		.watch = AP_PERF_RINGS_NONE,
		.jit = AP_JIT_NONE,
		.snapshots = {.result = -1, .names = -1},
	};
}

void recording_clear(struct recording *recording)
{
	recording_snapshots_clear(recording);
	recording_variables_restore(recording);
	free(recording->periods.items);
	free(recording->guards.items);
	ap_perf_rings_close(&recording->watch);
	ap_tree_close(recording->tree);
	ap_site_pool_clear(&recording->exec.earlier);
	ap_jit_clear(&recording->jit);
	ap_session_close(recording->session);
	ap_process_watch_close(recording->deaths);
	ap_target_clear(&recording->target);
	ap_object_set_clear(&recording->files);
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

	/* Every mapped file of the target is kept open. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	ending_set(&set);
	sigaddset(&set, SIGUSR1);
	/*
	 * These are for the child of run: SIGUSR2 is handed on, SIGCHLD tells that it has stopped.
	 */
	if (recording->child) {
		sigaddset(&set, SIGUSR2);
		sigaddset(&set, SIGCHLD);
	}
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		goto fail;
	recording->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recording->signals >= 0)
		return 0;
fail:
	return ap_error_errno(error, AP_EXIT_FAILURE, ap_errno(), "cannot wait for signals");
}

static void kernel_report(const struct ap_preflight *kernel)
{
	fprintf(stderr, "kernel: attached by %s; %s bpf_loop; %s bpf_preempt_disable\n",
		kernel->has_uprobe_multi ? "uprobe_multi" : "perf uprobes",
		kernel->has_loop ? "with" : "without",
		kernel->preempt_disable ? "with" : "without");
}

void recording_begin(struct recording *recording)
{
	if (recording->options->verbose)
		kernel_report(ap_session_kernel(recording->session));
	/*
	 * Without the watch the reason of the target's end is not always known; nothing else
	 * depends on it.
	 */
	if (!recording->deaths && !ap_process_watch_open(&recording->deaths, false) &&
		ap_process_watch_add(recording->deaths, recording->target.pid)) {
		ap_process_watch_close(recording->deaths);
		recording->deaths = NULL;
	}
	recording->start_ns = ap_clock_ns(CLOCK_REALTIME);
	recording->begin_ns = ap_clock_ns(CLOCK_MONOTONIC);
}

static bool has_exited(const struct recording *recording)
{
	struct pollfd exited = {.fd = recording->target.pidfd, .events = POLLIN};

	return poll(&exited, 1, 0) > 0;
}

static void unwind_update(struct recording *recording)
{
	if (recording->tree)
		ap_tree_unwind_root(recording->tree);
	else
		ap_session_unwind(recording->session, &recording->target.table);
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
	if (recording->jit.folder < 0)
		ap_jit_open(&recording->jit, &target->table.files, target->pid);
	if (!recording->tid || moved) {
		recording->tid = tid;
		known = 0;
	}
	err = recording_variables_take(recording, error);
	if (err)
		return err;
	/*
	 * Before the probes are attached, since the first stacks need the tables. A failure shows
	 * in the stacks.
	 */
	unwind_update(recording);
	for (size_t i = known; i < target->probed_count; i++) {
		const struct ap_probed *probed = &target->probed[i];

		if (!probed->usdt.count)
			continue;
		err = ap_session_attach(
			recording->session, probed->object, &probed->usdt, recording->tid, error);
		if (err)
			return err;
	}
	if (known < target->probed_count)
		recording_variables_renew(recording);
	return 0;
}

/* -v: prints how many unwind tables there are, when there are more than before. */
static void tables_report(struct recording *recording)
{
	const struct ap_unwind_counts *counts = ap_session_unwind_counts(recording->session);
	char size[AP_SIZE_TEXT];

	if (!recording->options->verbose || counts->files == recording->files_reported)
		return;
	recording->files_reported = counts->files;
	fprintf(stderr,
		"unwind tables: %u files (%u from the cache), %u without; %llu rows, %u rules, "
		"%llu rows unsupported; %s in the kernel; %u mappings\n",
		counts->files, counts->cached, counts->without, (unsigned long long)counts->rows,
		counts->rules, (unsigned long long)counts->unsupported,
		ap_size_format(size, counts->bytes), counts->mappings);
	if (counts->rules_lost)
		fprintf(stderr, "warning: no room for %u unwind rules: stacks end there\n",
			counts->rules_lost);
}

int recording_scan(struct recording *recording, struct ap_error *error)
{
	int err = scan(recording, error);

	tables_report(recording);
	recording->scanned_ns = ap_clock_ns(CLOCK_MONOTONIC);
	recording->scan_ns = recording->scanned_ns + AP_SECOND_NS;
	/* Then that is why it failed. */
	if (err && has_exited(recording))
		return -ESRCH;
	return recording_lacks_right(recording, err, error) ? 0 : err;
}

/* Reads the pending signals. Returns whether one of them ends the recording. */
static bool signals_take(struct recording *recording)
{
	struct signalfd_siginfo info;

	while (read(recording->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			recording->snapshots.wanted = recording->snapshots.asked = true;
			continue;
		}
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (!recording->child)
			return true;
		/* A signal from the terminal has reached the child already. */
		if ((int)info.ssi_code != SI_KERNEL)
			kill(recording->child, info.ssi_signo);
	}
	return false;
}

/*
 * Takes the requests of the BPF programs. If they have seen code in no known mapping, the
 * next scan comes soon, but not at once: a process that makes code all the time would
 * cause nothing but scans.
 */
static void wishes_take(struct recording *recording, uint64_t now)
{
	uint64_t soonest = recording->scanned_ns + SCAN_PAUSE_NS;

	if (!ap_session_wishes_take(recording->session, &recording->target.table.files,
		    recording->tree ? ap_tree_mapped : NULL, recording->tree))
		return;
	soonest = soonest > now ? soonest : now;
	if (recording->scan_ns > soonest)
		recording->scan_ns = soonest;
}

/* What recording_wait() polls. */
enum {
	POLL_TARGET,
	POLL_SIGNALS,
	POLL_MAPPED,
	POLL_WISHES,
	POLL_WATCHER,
	POLL_TREE,
	POLL_HELD,
	POLLS
};

/* The timeout of poll() until `due`, but at most `timeout`; in ms. */
static int timeout_until(uint64_t due, uint64_t now, int timeout)
{
	if (due <= now)
		return 0;
	if ((due - now) / AP_MILLISECOND_NS >= (uint64_t)timeout)
		return timeout;
	return (int)((due - now) / AP_MILLISECOND_NS) + 1;
}

/* The timeout of poll() until something has to be done, in ms. */
static int wait_timeout(const struct recording *recording, uint64_t now, uint64_t stop)
{
	int timeout = recording->rate.most ? AP_RATE_TICK_MS : AP_PROGRESS_TICK_MS;

	timeout = timeout_until(stop, now, timeout);
	if (!recording->root_ended)
		timeout = timeout_until(recording->scan_ns, now, timeout);
	if (recording->watcher)
		timeout = timeout_until(recording->watcher->due_ns, now, timeout);
	if (recording->tree)
		timeout = timeout_until(ap_tree_due(recording->tree), now, timeout);
	return timeout;
}

/* Takes what the target has mapped just now. */
static void mapped_take(struct recording *recording, uint64_t now)
{
	ap_mmap_watch_read(&recording->watch, recording->target.pid, &recording->target.table);
	unwind_update(recording);
	/* The allocator may just have been mapped: its variables have to be set at once. */
	if (!recording->periods.count)
		recording->scan_ns = now;
}

/* Whether something has ended the recording; sets recording->end. */
static bool end_take(struct recording *recording, uint64_t now)
{
	if (recording_exec_follow(recording, now))
		recording->end = END_EXECUTED;
	else if (!recording_goes_on(recording))
		recording->end = END_EXITED;
	else if (signals_take(recording))
		recording->end = END_INTERRUPTED;
	else
		return false;
	return true;
}

static bool scan_is_due(const struct recording *recording, uint64_t now)
{
	return !recording->root_ended &&
	       (now >= recording->scan_ns ||
		       !ap_thread_alive(recording->target.pid, recording->tid));
}

/*
 * Takes what poll() has reported. Returns whether the recording goes on; if not, recording->end is
 * set. *held: the child of run is held, and has to be let go after the next scan.
 */
static bool events_take(
	struct recording *recording, struct pollfd polled[POLLS], uint64_t now, bool *held)
{
	if (polled[POLL_MAPPED].revents)
		mapped_take(recording, now);
	if (polled[POLL_WISHES].revents)
		wishes_take(recording, now);
	recording_tree_follow(recording, now);
	if (polled[POLL_TARGET].revents && !recording->root_ended) {
		recording_root_ended(recording);
		polled[POLL_TARGET].fd = -1;
	}
	*held = recording_hold_follow(recording, now);
	return !end_take(recording, now);
}

int recording_wait(struct recording *recording, struct ap_error *error)
{
	struct recording_watcher *watcher = recording->watcher;
	struct pollfd polled[POLLS] = {
		[POLL_TARGET] = {.fd = recording->target.pidfd, .events = POLLIN},
		[POLL_SIGNALS] = {.fd = recording->signals, .events = POLLIN},
		[POLL_MAPPED] = {.fd = recording->watch.ready, .events = POLLIN},
		[POLL_WISHES] = {.fd = ap_session_wish_fd(recording->session), .events = POLLIN},
		[POLL_WATCHER] = {.fd = watcher ? watcher->input : -1, .events = POLLIN},
		[POLL_TREE] = {.fd = recording->tree ? ap_process_watch_fd(recording->deaths) : -1,
			.events = POLLIN},
		[POLL_HELD] = {.events = POLLIN},
	};
	uint64_t now = recording->begin_ns;
	uint64_t duration = recording->options->duration_ns;
	uint64_t stop = duration && duration < UINT64_MAX - now ? now + duration : UINT64_MAX;
	bool held;
	int err = 0;

	recording->end = END_INTERRUPTED;
	ap_progress_start(&recording->progress, stderr, recording->options->out.quiet, now);
	while (!err) {
		if (now >= stop) {
			recording->end = END_DURATION;
			break;
		}
		polled[POLL_HELD].fd = recording->tree ? ap_tree_held_fd(recording->tree) : -1;
		if (poll(polled, POLLS, wait_timeout(recording, now, stop)) < 0 && errno != EINTR) {
			err = ap_error_errno(error, AP_EXIT_FAILURE, ap_errno(),
				"cannot wait for process %d", recording->target.pid);
			break;
		}
		now = ap_clock_ns(CLOCK_MONOTONIC);
		if (!events_take(recording, polled, now, &held))
			break;
		if (scan_is_due(recording, now)) {
			err = recording_scan(recording, error);
			if (err && err != -ESRCH)
				break;
		}
		if (held)
			ap_child_hold_go(recording->hold);
		recording_rate_follow(recording, now);
		recording_snapshots_follow(recording, now);
		err = 0;
		if (watcher)
			err = watcher->look(watcher, recording, now, error);
		else if (ap_progress_due(&recording->progress, now))
			recording_status_show(recording, now);
	}
	if (recording->hold)
		ap_child_hold_end(recording->hold, HOLD_PATIENCE_MS);
	if (recording->tree)
		ap_tree_release(recording->tree);
	ap_progress_end(&recording->progress);
	recording_snapshots_finish(recording);
	return err < 0 ? err : 0;
}

int recording_forward(struct recording *recording)
{
	struct pollfd polled[] = {
		{.fd = recording->target.pidfd, .events = POLLIN},
		{.fd = recording->signals, .events = POLLIN},
	};
	sigset_t set;

	ending_set(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	do {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return -errno;
		signals_take(recording);
		if (recording->hold)
			ap_child_hold_end(recording->hold, 0);
	} while (!polled[0].revents);
	return 0;
}

/*
 * The child of run that outlives the recording, to which the first signal is handed on; 0: none, or
 * it has had one.
 */
static volatile pid_t spared_child;

static void abort_handle(int number, siginfo_t *info, void *context)
{
	static const char text[] = "\nallocprof: ended before the profile was written\n";
	pid_t child = spared_child;
	int saved = errno;

	(void)context;
	if (child) {
		spared_child = 0;
		if (info->si_code != SI_KERNEL)
			kill(child, number);
		errno = saved;
		return;
	}
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* Nobody can be told. */
	}
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * From here on another Ctrl-C ends this process at once. Signals that are pending now are taken
 * before: the child may have ended by one of them. SIGHUP stays blocked: the profile is still
 * written when the terminal is gone.
 */
static void abort_allow(struct recording *recording)
{
	struct sigaction action = {
		.sa_sigaction = abort_handle, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t set;

	if (recording->child) {
		signals_take(recording);
		if (recording->end != END_EXITED && !recording->root_ended)
			spared_child = recording->child;
	}
	ending_set(&set);
	sigdelset(&set, SIGHUP);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&set, number) > 0)
			sigaction(number, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int recording_stop(struct recording *recording, struct ap_error *error)
{
	int err;

	/* While the target lives, what it has loaded since the last scan can still be read. */
	if (recording->end != END_EXITED)
		ap_target_scan(&recording->target, error);
	ap_mmap_watch_read(&recording->watch, recording->target.pid, &recording->target.table);
	ap_target_search(&recording->target, error);
	recording->end_ns = ap_clock_ns(CLOCK_MONOTONIC);
	err = ap_session_detach(recording->session);
	recording_variables_restore(recording);
	abort_allow(recording);
	return err;
}
