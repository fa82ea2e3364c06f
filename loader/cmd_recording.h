/* SPDX-License-Identifier: MIT */
/*
 * A recording, from the attach to its outputs: what attach, run and top have in common.
 * Single-threaded.
 */
#ifndef ALLOCPROF_CMD_RECORDING_H
#define ALLOCPROF_CMD_RECORDING_H

#include "cmd.h"
#include "death.h"
#include "jit.h"
#include "perf_rings.h"
#include "rate.h"
#include "site_pool.h"
#include "target.h"
#include "term.h"
#include "variable.h"
#include "work.h"

/* Why a recording ended. */
enum recording_end { END_INTERRUPTED, END_DURATION, END_EXITED, END_EXECUTED, END_NOT_YET };

/* The variables of one kind, one for each probed file of the target that has it. */
struct recording_variables {
	struct ap_variable *items;
	size_t count;
};

struct ap_debuginfod;
struct ap_process_watch;
struct ap_symbolizer;
struct ap_tree;
struct recording;

/*
 * Who watches the recording while recording_wait() runs: top's tables and screen. Without one there
 * is the line of progress.
 */
struct recording_watcher {
	int input;	 /* polled for reading; -1: none */
	uint64_t due_ns; /* when `look` has to be called next at the latest; CLOCK_MONOTONIC */
	/*
	 * Called at due_ns or before: when there is input, and after signals. 0; 1 to end the
	 * recording; or a negative errno with the error filled in.
	 */
	int (*look)(struct recording_watcher *watcher, struct recording *recording, uint64_t now_ns,
		struct ap_error *error);
	/* Gets each line, without its newline, that would otherwise go to standard error. */
	void (*tell)(struct recording_watcher *watcher, const char *text);
};

/* A file that a snapshot has written. */
struct snapshot_file {
	char *path;
	uint64_t number; /* of the snapshot */
};

/* What is written while the recording goes on. */
struct recording_snapshots {
	bool wanted;	 /* one is to be written as soon as no other is being written */
	bool asked;	 /* that one was asked for: by SIGUSR1, or the key of top */
	uint64_t due_ns; /* with --every: when the last one was due, since begin_ns */
	pid_t writer;	 /* the child that writes one; 0: none */
	int result;	 /* read end of the pipe from the writer; -1: none */
	int names;	 /* memory file with the names found so far (symbol_cache.h); -1: none */
	struct output_options named;   /* the outputs that the writer makes */
	uint64_t count;		       /* written so far */
	struct snapshot_file *written; /* with --keep: the files that are there, the oldest first */
	size_t written_count;
};

enum recording_work_kind { WORK_TABLES, WORK_NAMES };

/* Long work, whose progress is shown in the line of progress. */
struct recording_work {
	struct ap_work work;
	struct ap_progress *progress;
	enum recording_work_kind kind;
};

#define RECORDING_EXEC_PATH 512

/*
 * What is known of programs that the target executes. Not used for a tree, whose ap_tree does this.
 */
struct recording_exec {
	uint32_t seen;	   /* value of ap_session_executed() at the last look */
	uint64_t until_ns; /* by when the newest program must have probes; 0: it has them */
	char path[RECORDING_EXEC_PATH]; /* of the newest program, printable */
	const char *lack;		/* why it cannot be recorded: "has no probes" */
	struct ap_site_pool earlier;	/* the sites of the earlier programs */
};

/* The bytes allocated until a moment. */
struct recording_moment {
	uint64_t at_ns, allocated;
};

struct recording {
	const struct recording_options *options;
	struct ap_object_set files; /* shared by all tables of mappings */
	struct ap_target target;
	struct ap_session *session;
	struct ap_tree *tree; /* NULL: only the target is recorded */
	bool root_ended;      /* the target has ended; others of the tree may go on */
	bool is_shared;	      /* somebody else recorded it when we attached */
	struct recording_exec exec;
	struct ap_jit jit;		  /* names of code that the target makes at run time */
	struct ap_symbolizer *symbolizer; /* set while a profile is made */
	struct ap_debuginfod *debuginfod; /* the same; NULL: not configured */
	struct recording_variables periods, guards;
	struct ap_rate rate;		 /* with --max-rate, once a period has been found */
	uint64_t period_highest;	 /* highest period that --max-rate has set; 0: none */
	pid_t tid;			 /* the thread that the probes are attached to */
	struct ap_perf_rings watch;	 /* for run: what a short-lived child maps */
	struct ap_process_watch *deaths; /* NULL: the kernel does not let us */
	struct ap_death death;		 /* once the target has exited */
	pid_t child;			 /* the child of run, which gets our signals; 0: none */
	struct ap_child_hold *hold;	 /* of the child; NULL: it is not held */
	int signals;			 /* signalfd */
	int64_t start_ns;		 /* Unix time */
	uint64_t begin_ns, end_ns;	 /* CLOCK_MONOTONIC */
	uint64_t scan_ns;		 /* when the mappings have to be read again */
	uint64_t scanned_ns;		 /* when they were read last */
	uint32_t files_reported;	 /* files with unwind tables, as last printed by -v */
	bool has_dropped;		 /* rights have been given up */
	bool has_lacked;		 /* one of them was missing later, which has been said */
	enum recording_end end;
	struct ap_progress progress;
	struct recording_work work;
	struct recording_moment past[2];   /* for the rate in the line of progress */
	struct recording_watcher *watcher; /* NULL: none */
	struct recording_snapshots snapshots;
};

/* After recording_init(), recording_clear() may be called at any time. */
void recording_init(struct recording *recording, const struct recording_options *options);
void recording_clear(struct recording *recording);

/*
 * Makes this process fit for a recording, after a child has been forked: blocks the signals that
 * end it, to be read from recording->signals, and raises the limit on open files.
 */
int recording_prepare(struct recording *recording, struct ap_error *error);

/*
 * Opens and attaches to a running process, and gives up the rights that are not needed any more. 0
 * or a negative errno with the error filled in.
 */
int recording_attach(struct recording *recording, pid_t pid, struct ap_error *error);

/*
 * Warns if the program has a malloc of its own, which takes the place of the one with the probes.
 */
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

/*
 * Waits until the recording is over, and sets recording->end. Meanwhile follows the target and
 * shows progress. 0 or a negative errno with the error filled in.
 */
int recording_wait(struct recording *recording, struct ap_error *error);

/*
 * To be called when the child of run has executed its command: what it executes later
 * is another program.
 */
void recording_exec_begin(struct recording *recording);

/*
 * Follows the target into another program that it executes. Returns true when that cannot be
 * recorded, so that the recording is over.
 */
bool recording_exec_follow(struct recording *recording, uint64_t now_ns);

/*
 * Whether the child of run is held because it has executed another program. It has to be scanned
 * and then let go.
 */
bool recording_hold_follow(struct recording *recording, uint64_t now_ns);

/* Shows the line of progress. */
void recording_status_show(struct recording *recording, uint64_t now_ns);

/* Prints a warning, or gives it to the watcher, who has the terminal. */
void recording_tell(struct recording *recording, const char *text);

/*
 * Begin and end to show the progress of some work. The first returns whom to tell of its steps; the
 * second erases the line.
 */
struct ap_work *recording_work_begin(struct recording *recording, enum recording_work_kind kind);
void recording_work_end(struct recording *recording);

/* Calls `tell` with a sentence, without a newline, for each kind of loss so far. */
void recording_losses_tell(const struct recording *recording, const struct ap_snapshot *snapshot,
	void (*tell)(void *context, const char *text), void *context);

/* Explains why nothing has been sampled. Returns -ENODATA with the error filled in. */
int recording_no_samples(
	const struct recording *recording, const struct ap_totals *totals, struct ap_error *error);

/* Hands signals on to the child until it has exited. 0 or a negative errno. */
int recording_forward(struct recording *recording);

/*
 * Takes the probes out, sets the variables back, and lets signals end this process from now on.
 * Returns as ap_session_detach().
 */
int recording_stop(struct recording *recording, struct ap_error *error);

/* ---- The rights of a recording ---- */

/*
 * Gives up all rights that are not needed to go on; to be called once the probes are
 * attached. Run through sudo, the outputs belong to its user then. 0 or a negative errno with
 * the error filled in.
 */
int recording_privilege_drop(struct recording *recording, struct ap_error *error);

/* Whether something failed (err, error) because a right has been given up. Warns of that, once. */
bool recording_lacks_right(struct recording *recording, int err, const struct ap_error *error);

/* ---- What a recording sets in the target ---- */

/*
 * Finds the variables of files that are new, reads and sets them. 0 or a negative errno with the
 * error filled in.
 */
int recording_variables_take(struct recording *recording, struct ap_error *error);

/* Sets them again, once the probes are attached: until then the target may reset them. */
void recording_variables_renew(struct recording *recording);

/*
 * Fails when an option asks to set what the target does not have: a negative errno with the error
 * filled in.
 */
int recording_variables_check(const struct recording *recording, struct ap_error *error);

/* Sets all of them back, except those that somebody else has changed. */
void recording_variables_restore(struct recording *recording);

/* The mean bytes between two samples, before --max-rate has changed them; 0: unknown. */
uint64_t recording_period(const struct recording *recording);

/* Adapts the period to --max-rate, if given. To be called every AP_RATE_TICK_MS. */
void recording_rate_follow(struct recording *recording, uint64_t now_ns);

/* ---- Its outputs ---- */

/*
 * The outputs with the patterns in their names filled in for a moment (Unix time); the default
 * outputs if none were given. To be cleared with the function below. 0 or -ENOMEM.
 */
int recording_outputs_name(
	const struct recording *recording, int64_t time_ns, struct output_options *ret);
void recording_outputs_clear(struct output_options *named);

/*
 * Writes all outputs. If one fails and no other one holds the whole profile, that is written to a
 * folder for temporary files, which the hint of the error names. 0 or a negative errno with the
 * error filled in.
 */
int recording_save(const struct recording *recording, const struct output_options *named,
	const struct ap_profile *profile, struct ap_error *error);

/* ---- The processes of a tree; without a tree these serve the target alone ---- */

/*
 * Begins to hold the programs that children execute until their unwind tables are made. 0 or a
 * negative errno.
 */
int recording_tree_hold(struct recording *recording);

/* Brings the tree up to date; the second one for the last time, when the recording is over. */
void recording_tree_follow(struct recording *recording, uint64_t now_ns);
void recording_tree_settle(struct recording *recording, uint64_t now_ns);

/* Notes how the target has ended. */
void recording_root_ended(struct recording *recording);
bool recording_goes_on(const struct recording *recording);

/* As ap_session_totals() and ap_session_snapshot(), including what ended processes have left. */
int recording_totals(const struct recording *recording, struct ap_totals *ret);
int recording_snapshot(struct recording *recording, struct ap_snapshot *ret);

/* Fills the profile from the snapshot, as ap_record() or ap_record_tree(). */
struct ap_record_faults;
int recording_profile_fill(struct recording *recording, struct ap_profile *profile,
	const struct ap_snapshot *snapshot, struct ap_record_faults *faults, struct ap_work *work);

/* ---- Snapshots ---- */

/* Starts a snapshot when one is wanted or due, and reports how the one before has ended. */
void recording_snapshots_follow(struct recording *recording, uint64_t now_ns);

/* Waits for the snapshot that is being written, if any. */
void recording_snapshots_finish(struct recording *recording);

/*
 * Notes these files as those of one more snapshot, and removes those that are too old for --keep.
 */
void recording_snapshots_keep(struct recording *recording, const struct output_options *named);

void recording_snapshots_clear(struct recording *recording);

/* ---- Names ---- */

/*
 * Opens recording->symbolizer. Prints a note when debuginfod servers will be asked, and when a perf
 * map is refused. 0 or -ENOMEM; to be closed in any case.
 */
int recording_names_open(struct recording *recording);

/* Closes it, and prints what debuginfod servers did not deliver in time. */
void recording_names_close(struct recording *recording);

/* ---- Its end ---- */

/*
 * Makes the profile of a snapshot, filtered and redacted as asked. 0 and *ret, or a negative errno.
 */
int recording_profile(struct recording *recording, const struct ap_snapshot *snapshot,
	struct ap_profile **ret, struct ap_record_faults *faults);

/*
 * Stops the recording, prints the table and writes the outputs. 0 or a negative errno with the
 * error filled in.
 */
int recording_finish(struct recording *recording, struct ap_error *error);

#endif
