/* SPDX-License-Identifier: MIT */
/* A recording, as attach, run and top make it. */
#ifndef ALLOCPROF_CMD_RECORDING_H
#define ALLOCPROF_CMD_RECORDING_H

#include "cmd.h"
#include "death.h"
#include "jit.h"
#include "mmap_watch.h"
#include "process_tree.h"
#include "process_watch.h"
#include "rate.h"
#include "site_pool.h"
#include "target.h"
#include "term.h"
#include "variable.h"
#include "work.h"

/* Why a recording ended. */
enum recording_end { END_INTERRUPTED, END_DURATION, END_EXITED, END_EXECUTED, END_NOT_YET };

/* One of a kind for each file that has it. */
struct recording_variables {
	struct ap_variable *items;
	size_t count;
};

struct recording;

/* What goes on beside the recording while it is waited for, instead of the line of progress. */
struct recording_watcher {
	int input;	 /* polled for reading; -1: none */
	uint64_t due_ns; /* when it wants to look again at the latest; CLOCK_MONOTONIC */
	/* Called now and then, when input is there, and after signals. 0; 1: the recording is to
	 * end; or a negative errno with the error filled in. */
	int (*look)(struct recording_watcher *watcher, struct recording *recording, uint64_t now_ns,
		struct ap_error *error);
	/* Gets what would be said on standard error meanwhile, a line without its newline. */
	void (*tell)(struct recording_watcher *watcher, const char *text);
};

/* A file that a snapshot has written. */
struct snapshot_file {
	char *path;
	uint64_t number; /* of the snapshot */
};

/* What is written while the recording goes on. */
struct recording_snapshots {
	bool wanted;		       /* as soon as no other one is being written */
	bool asked;		       /* by SIGUSR1, the last one */
	uint64_t due_ns;	       /* of the last one by --every, since the begin */
	pid_t writer;		       /* the child that writes one; 0: none */
	int result;		       /* from it */
	int names;		       /* a file of memory with those found so far; -1: none */
	struct output_options named;   /* what it writes */
	uint64_t count;		       /* written so far */
	struct snapshot_file *written; /* with --keep: what there is of them, the oldest first */
	size_t written_count;
};

enum recording_work_kind { WORK_TABLES, WORK_NAMES };

/* Long work that shows how far it is in the line of progress. */
struct recording_work {
	struct ap_work work;
	struct ap_progress *progress;
	enum recording_work_kind kind;
};

#define RECORDING_EXEC_PATH 512

/* The programs that the target executes, unless a tree is recorded, which has its own. */
struct recording_exec {
	uint32_t seen;			/* ap_session_executed(), as it was last looked at */
	uint64_t until_ns;		/* when the last one must have probes; 0: it has them */
	char path[RECORDING_EXEC_PATH]; /* of it, printable */
	const char *lack;		/* why it is not recorded */
	struct ap_site_pool earlier;	/* what those before it have left */
};

/* What had been allocated at a moment. */
struct recording_moment {
	uint64_t at_ns, allocated;
};

struct recording {
	const struct recording_options *options;
	struct ap_object_set files; /* of all tables of mappings */
	struct ap_target target;
	struct ap_session *session;
	struct ap_tree *tree; /* NULL: only the target is recorded */
	bool root_ended;      /* the target; others of the tree may go on */
	bool is_shared;	      /* somebody else recorded it when we attached */
	struct recording_exec exec;
	struct ap_jit jit;		  /* of code that the target makes */
	struct ap_symbolizer *symbolizer; /* while a profile is made */
	struct ap_debuginfod *debuginfod; /* as long; NULL: not configured */
	struct recording_variables periods, guards;
	struct ap_rate rate;		 /* with --max-rate, once a period has been found */
	uint64_t period_highest;	 /* that --max-rate has set; 0: none */
	pid_t tid;			 /* the thread that the probes are attached to */
	struct ap_perf_rings watch;	 /* of run, to see what a short-lived child maps */
	struct ap_process_watch *deaths; /* NULL: the kernel does not let us */
	struct ap_death death;		 /* once the target has exited */
	pid_t child;			 /* of run: signals are handed on to it. 0: none */
	struct ap_child_hold *hold;	 /* of that; NULL: it runs as it likes */
	int signals;			 /* signalfd */
	int64_t start_ns;		 /* Unix time */
	uint64_t begin_ns, end_ns;	 /* CLOCK_MONOTONIC */
	uint64_t scan_ns;		 /* when the mappings are read again */
	uint64_t scanned_ns;		 /* and when they were */
	uint32_t files_reported;	 /* with unwind tables, by -v */
	bool has_dropped;		 /* rights have been given up, */
	bool has_lacked;		 /* and one of them was missed */
	enum recording_end end;
	struct ap_progress progress;
	struct recording_work work;
	struct recording_moment past[2];   /* for the rate in the line of progress */
	struct recording_watcher *watcher; /* NULL: none */
	struct recording_snapshots snapshots;
};

/* To be cleared at any time after. */
void recording_init(struct recording *recording, const struct recording_options *options);
void recording_clear(struct recording *recording);

/*
 * Makes this process fit for a recording, after a child has been forked: blocks the signals that
 * end it, to be read from recording->signals, and raises the limit on open files.
 */
int recording_prepare(struct recording *recording, struct ap_error *error);

/*
 * All of it up to the attached probes and the rights given up, of a process that runs. 0 or a
 * negative errno with the error filled in.
 */
int recording_attach(struct recording *recording, pid_t pid, struct ap_error *error);

/* Warns of a program that does not use the malloc with the probes. */
void recording_shadow_warn(const struct ap_target *target);

/* Opens the session of the target, and with --follow-fork what follows its children. */
int recording_session_open(struct recording *recording, struct ap_error *error);

/* Notes the time, and watches from now on how the target ends. */
void recording_begin(struct recording *recording);

/*
 * Looks at the target again: new files are opened, new probes attached, their variables set. Also
 * moves the probes to another thread when theirs has exited. 0 or a negative errno with the error
 * filled in.
 */
int recording_scan(struct recording *recording, struct ap_error *error);

/* Waits, with progress, until the recording is over: says why in recording->end. */
int recording_wait(struct recording *recording, struct ap_error *error);

/* The child of run has executed its command, which is where it begins. */
void recording_exec_begin(struct recording *recording);

/* Follows the target into what it executes. Returns whether that has no probes: it is over then. */
bool recording_exec_follow(struct recording *recording, uint64_t now_ns);

/*
 * Whether the child of run is held, as it has executed another program: it is to be looked at, and
 * let go.
 */
bool recording_hold_follow(struct recording *recording, uint64_t now_ns);

/* Shows the line of progress. */
void recording_status_show(struct recording *recording, uint64_t now_ns);

/* Says a warning where it is seen: whoever watches the recording has the terminal. */
void recording_tell(struct recording *recording, const char *text);

/* Whom to tell of the steps of some work; and when it is over, so that its line goes away. */
struct ap_work *recording_work_begin(struct recording *recording, enum recording_work_kind kind);
void recording_work_end(struct recording *recording);

/* Says what has been lost so far, a sentence for each kind, without a newline. */
void recording_losses_tell(const struct recording *recording, const struct ap_snapshot *snapshot,
	void (*tell)(void *context, const char *text), void *context);

/* Explains why nothing has been sampled: -ENODATA with the error filled in. */
int recording_no_samples(
	const struct recording *recording, const struct ap_totals *totals, struct ap_error *error);

/* Hands signals on to the child until it has exited. 0 or a negative errno. */
int recording_forward(struct recording *recording);

/* Takes the probes out, sets the variables back, lets signals end us. As ap_session_detach(). */
int recording_stop(struct recording *recording, struct ap_error *error);

/* ---- The rights of a recording ---- */

/*
 * Gives up all that is not needed to go on, once the probes are attached: the outputs belong to the
 * user of sudo then. 0 or a negative errno with the error filled in.
 */
int recording_privilege_drop(struct recording *recording, struct ap_error *error);

/* Whether what failed did so for lack of a right that has been given up: says so, once. */
bool recording_lacks_right(struct recording *recording, int err, const struct ap_error *error);

/* ---- What a recording sets in the target ---- */

/* Finds, reads and sets what is new. 0 or a negative errno with the error filled in. */
int recording_variables_take(struct recording *recording, struct ap_error *error);

/* Sets it again, once the probes are attached: until then the target may reset it. */
void recording_variables_renew(struct recording *recording);

/* Fails when something is to be set that the target does not have. */
int recording_variables_check(const struct recording *recording, struct ap_error *error);

/* Sets everything back, as far as nobody else has changed it. */
void recording_variables_restore(struct recording *recording);

/* The mean bytes between two samples, before --max-rate has changed them; 0: unknown. */
uint64_t recording_period(const struct recording *recording);

/* Keeps to --max-rate, if given: to be called every AP_RATE_TICK_MS. */
void recording_rate_follow(struct recording *recording, uint64_t now_ns);

/* ---- Its outputs ---- */

/*
 * The outputs with their names at a moment (Unix time), the default ones where none was given. To
 * be cleared. 0 or -ENOMEM.
 */
int recording_outputs_name(
	const struct recording *recording, int64_t time_ns, struct output_options *ret);
void recording_outputs_clear(struct output_options *named);

/*
 * Writes them all. When one fails and none of the others is a whole profile, it is written where
 * there is room, as the hint of the error says. 0 or a negative errno with the error filled in.
 */
int recording_save(const struct recording *recording, const struct output_options *named,
	const struct ap_profile *profile, struct ap_error *error);

/* ---- The other processes of a tree; without one these do as much as there is to do ---- */

/* Begins to hold what children execute, until its tables are there. 0 or a negative errno. */
int recording_tree_hold(struct recording *recording);

/* Looks at what has changed; the second one for the last time. */
void recording_tree_follow(struct recording *recording, uint64_t now_ns);
void recording_tree_settle(struct recording *recording, uint64_t now_ns);

/* Notes how the target has ended. */
void recording_root_ended(struct recording *recording);
bool recording_goes_on(const struct recording *recording);

/* As ap_session_totals() and ap_session_snapshot(), with what is of processes that have ended. */
int recording_totals(const struct recording *recording, struct ap_totals *ret);
int recording_snapshot(struct recording *recording, struct ap_snapshot *ret);

/* Files the snapshot in the profile, as ap_record(). */
struct ap_record_faults;
int recording_file(struct recording *recording, struct ap_profile *profile,
	const struct ap_snapshot *snapshot, struct ap_record_faults *faults, struct ap_work *work);

/* ---- Snapshots ---- */

/* Begins one when it is wanted or due, and tells what has become of the one before. */
void recording_snapshots_follow(struct recording *recording, uint64_t now_ns);

/* Waits for one that is being written. */
void recording_snapshots_finish(struct recording *recording);

/* Counts these files as those of one more, and removes what is too old for --keep. */
void recording_snapshots_keep(struct recording *recording, const struct output_options *named);

void recording_snapshots_clear(struct recording *recording);

/* ---- Names ---- */

/*
 * Gets ready to name addresses: recording->symbolizer. Says what it has been told to ask and what
 * it refuses to read. 0 or -ENOMEM; to be closed in any case.
 */
int recording_names_open(struct recording *recording);

/* Says what was not to be had in time. */
void recording_names_close(struct recording *recording);

/* ---- Its end ---- */

/* The profile of a snapshot. 0 and *ret, or a negative errno. */
int recording_profile(struct recording *recording, const struct ap_snapshot *snapshot,
	struct ap_profile **ret, struct ap_record_faults *faults);

/* Stops it, and writes table and outputs. 0 or a negative errno with the error filled in. */
int recording_finish(struct recording *recording, struct ap_error *error);

#endif
