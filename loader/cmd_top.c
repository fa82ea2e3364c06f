// SPDX-License-Identifier: MIT
/* allocprof top PID: a live table of a running process. */
#include "cmd_recording.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "symbolize.h"
#include "top_print.h"
#include "top_screen.h"
#include "units.h"

/* How often names of code made at run time are read again. */
#define RENAME_NS (5 * AP_SECOND_NS)

/* Nobody reads faster than this. */
#define DELAY_LEAST_NS (AP_SECOND_NS / 10)

const char *const cmd_top_help[] = {
	"usage: allocprof top [OPTIONS] PID|--name COMM\n"
	"Shows who holds and who allocates the memory of a running process, as it\n"
	"changes: ? lists the keys, q quits. Not on a terminal: prints tables.\n",
	process_option_help,
	"      --delay TIME         time between two refreshes (1s)\n"
	"  -n, --count N            print N tables and end\n"
	"      --rows N             print N rows of each table; 0: all (30)\n"
	"      --json               print one JSON object on a line for each refresh\n"
	"      --sort live|rate|objects|name   what the rows are sorted by (live)\n"
	"      --lines              a row for each source line, not for each function\n"
	"      --no-color           no colours, as with NO_COLOR in the environment\n",
	recording_options_help,
	filter_options_help,
	output_options_help,
	NULL,
};

struct top_options {
	struct recording_options recording;
	uint64_t delay_ns, tables, rows;
	bool json, lines, print, plain;
	enum ap_top_sort sort;
};

struct top {
	struct recording_watcher watcher;
	struct recording recording;
	const struct top_options *options;
	struct ap_top model;
	struct ap_top_pane pane;
	struct ap_top_screen *screen; /* NULL: tables are printed */
	bool stale;		      /* the screen does not show the current state */
	struct ap_totals totals;      /* as of the last refresh */
	uint64_t tables;	      /* how many have been printed */
	uint64_t rename_ns;	      /* when names of code made at run time are read again */
	char end[AP_DEATH_TEXT + RECORDING_EXEC_PATH]; /* why it has ended; "": it goes on */
};

enum {
	OPTION_DELAY = OPTION_OWN,
	OPTION_ROWS,
	OPTION_JSON,
	OPTION_SORT,
	OPTION_LINES,
	OPTION_NO_COLOR
};

static int sort_take(struct top_options *options, const char *text, struct ap_error *error)
{
	static const char *const names[] = {[AP_TOP_BY_LIVE] = "live",
		[AP_TOP_BY_RATE] = "rate",
		[AP_TOP_BY_OBJECTS] = "objects",
		[AP_TOP_BY_NAME] = "name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0) {
			options->sort = (enum ap_top_sort)i;
			return 0;
		}
	}
	return option_value_error(error, "--sort", text, "give one of: live, rate, objects, name");
}

static int option_take(
	struct recording_options *recording, int option, const char *text, struct ap_error *error)
{
	struct top_options *options = (struct top_options *)recording;

	switch (option) {
	case OPTION_DELAY:
		if (ap_duration_parse(text, &options->delay_ns) ||
			options->delay_ns < DELAY_LEAST_NS)
			return option_value_error(
				error, "--delay", text, "give 100ms or more: 500ms, 2s, 1m");
		return 0;
	case 'n':
		options->print = true;
		if (ap_count_parse(text, &options->tables) || !options->tables)
			return option_value_error(
				error, "--count", text, "give a number of tables");
		return 0;
	case OPTION_ROWS:
		if (ap_count_parse(text, &options->rows) || options->rows > UINT32_MAX)
			return option_value_error(error, "--rows", text, "give a number of rows");
		return 0;
	case OPTION_JSON:
		options->json = options->print = true;
		return 0;
	case OPTION_SORT:
		return sort_take(options, text, error);
	case OPTION_LINES:
		options->lines = true;
		return 0;
	case OPTION_NO_COLOR:
		options->plain = true;
		return 0;
	}
	return recording_process_take(recording, option, text, error);
}

static const struct command_options own = {
	.letters = "n:",
	.options = {PROCESS_OPTION, {"delay", required_argument, NULL, OPTION_DELAY},
		{"count", required_argument, NULL, 'n'},
		{"rows", required_argument, NULL, OPTION_ROWS},
		{"json", no_argument, NULL, OPTION_JSON},
		{"sort", required_argument, NULL, OPTION_SORT},
		{"lines", no_argument, NULL, OPTION_LINES},
		{"no-color", no_argument, NULL, OPTION_NO_COLOR}},
	.take = option_take,
};

/* Reads the names of code made at run time again, when it is time. */
static void names_refresh(struct top *top, uint64_t now_ns)
{
	if (now_ns < top->rename_ns || !ap_top_sites_uncertain(&top->model.sites))
		return;
	ap_jit_read_map(&top->recording.jit);
	ap_jit_read_dumps(&top->recording.jit, &top->recording.target.table, now_ns);
	ap_top_sites_rename(&top->model.sites);
	top->rename_ns = now_ns + RENAME_NS;
}

static int counters_refresh(struct top *top, uint64_t now_ns, struct ap_error *error)
{
	struct recording *recording = &top->recording;
	struct ap_snapshot snapshot = {0};
	int err;

	names_refresh(top, now_ns);
	/* --max-rate changes the period. */
	top->model.state.period =
		recording->rate.most ? recording->rate.period : recording_period(recording);
	err = recording_snapshot(recording, &snapshot);
	if (!err)
		err = ap_top_refresh(&top->model, &snapshot, &recording->target.table,
			now_ns - recording->begin_ns, now_ns);
	if (!err) {
		top->totals = snapshot.totals;
		recording_losses_tell(recording, &snapshot, ap_top_warn, &top->model);
	}
	ap_snapshot_clear(&snapshot);
	if (err)
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot read the counters");
	return err;
}

/* ---- Tables ---- */

static int table_print(struct top *top, struct ap_error *error)
{
	const struct top_options *options = top->options;
	int err;

	if (options->json)
		err = ap_top_json_write(stdout, &top->model, (unsigned int)options->rows);
	else
		err = ap_top_table_write(stdout, &top->model, (unsigned int)options->rows);
	top->tables++;
	if (err)
		ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot write to standard output");
	return err;
}

static int look_printing(struct recording_watcher *watcher, struct recording *recording,
	uint64_t now_ns, struct ap_error *error)
{
	struct top *top = (struct top *)watcher;
	bool is_first = !watcher->due_ns;
	int err;

	if (now_ns < watcher->due_ns)
		return 0;
	/* Counted from when the last one was due, not from when it came: delays must not add up. */
	watcher->due_ns = (is_first ? now_ns : watcher->due_ns) + top->options->delay_ns;
	err = counters_refresh(top, now_ns, error);
	if (err || is_first)
		return err;
	err = table_print(top, error);
	return err ? err : top->options->tables == top->tables;
}

static void tell_printing(struct recording_watcher *watcher, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

/* ---- The screen ---- */

static void tell_on_screen(struct recording_watcher *watcher, const char *text)
{
	struct top *top = (struct top *)watcher;

	snprintf(top->pane.message, sizeof(top->pane.message), "%s", text);
	top->stale = true;
}

/*
 * Takes the keys that have been typed. 0; 1 to quit, also when the terminal is gone; or a negative
 * errno with the error filled in.
 */
static int keys_take(struct top *top, struct ap_error *error)
{
	struct recording_snapshots *snapshots = &top->recording.snapshots;
	int key, action;

	while ((key = ap_top_screen_key(top->screen))) {
		top->stale = true;
		if (key == -EIO)
			return 1;
		if (key < 0)
			continue;
		action = ap_top_key(&top->model, &top->pane, (unsigned int)key);
		if (action < 0)
			return ap_error_errno(
				error, AP_EXIT_FAILURE, action, "cannot show the table");
		if (action == AP_TOP_QUIT)
			return 1;
		if (action == AP_TOP_SAVE) {
			tell_on_screen(&top->watcher, "saving ...");
			snapshots->wanted = snapshots->asked = true;
		}
	}
	return 0;
}

static void screen_draw(struct top *top)
{
	if (top->stale)
		ap_top_screen_draw(top->screen, &top->model, &top->pane);
	top->stale = false;
}

static int look_on_screen(struct recording_watcher *watcher, struct recording *recording,
	uint64_t now_ns, struct ap_error *error)
{
	struct top *top = (struct top *)watcher;
	int err = 0;

	if (now_ns >= watcher->due_ns) {
		watcher->due_ns = now_ns + top->options->delay_ns;
		if (!top->pane.paused)
			err = counters_refresh(top, now_ns, error);
		top->stale = true;
	}
	if (!err)
		err = keys_take(top, error);
	screen_draw(top);
	return err;
}

/* After the process has exited: shows the last table until a key or signal ends that. */
static int screen_stay(struct top *top, struct ap_error *error)
{
	struct recording *recording = &top->recording;
	struct pollfd polled[] = {
		{.fd = recording->signals, .events = POLLIN},
		{.fd = STDIN_FILENO, .events = POLLIN},
	};
	int err = 0;

	top->stale = true;
	while (!err) {
		err = keys_take(top, error);
		recording_snapshots_follow(recording, recording->end_ns);
		screen_draw(top);
		recording_snapshots_finish(recording);
		screen_draw(top);
		if (!err && poll(polled, 2, -1) > 0 && polled[0].revents)
			break;
	}
	return err < 0 ? err : 0;
}

/* ---- A recording ---- */

static int screen_open(struct top *top, struct ap_error *error)
{
	const char *terminal = getenv("TERM");
	bool plain = top->options->plain || getenv("NO_COLOR");
	int err = ap_top_screen_open(&top->screen, !plain);

	if (!err)
		return 0;
	ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot use this terminal");
	if (err == -ENOTSUP)
		ap_error_detail(error, "TERM is '%s': not known here, or without a cursor to place",
			terminal ? terminal : "");
	ap_error_hint(error, "set TERM=xterm, or print tables: allocprof top -n 10");
	return err;
}

static int wait_for_end(struct top *top, struct ap_error *error)
{
	struct recording *recording = &top->recording;
	int err;

	recording->watcher = &top->watcher;
	if (top->screen)
		top->watcher = (struct recording_watcher){
			.input = STDIN_FILENO, .look = look_on_screen, .tell = tell_on_screen};
	else
		top->watcher = (struct recording_watcher){
			.input = -1, .look = look_printing, .tell = tell_printing};
	err = recording_wait(recording, error);
	if (err || (recording->end != END_EXITED && recording->end != END_EXECUTED))
		return err;
	recording->end_ns = ap_clock_ns(CLOCK_MONOTONIC);
	if (recording->end == END_EXITED)
		ap_death_format(top->end, &recording->death);
	else
		snprintf(top->end, sizeof(top->end), "executed %s, which %s", recording->exec.path,
			recording->exec.lack);
	top->model.state.end = top->end;
	err = counters_refresh(top, recording->end_ns, error);
	if (err)
		return err;
	return top->screen ? screen_stay(top, error) : table_print(top, error);
}

static int record(struct top *top, pid_t pid, struct ap_error *error)
{
	struct recording *recording = &top->recording;
	const struct top_options *options = top->options;
	int err = recording_attach(recording, pid, error);

	if (err)
		return err;
	err = ap_top_open(&top->model, pid);
	if (err)
		return ap_error_errno(error, AP_EXIT_FAILURE, err, "cannot show the table");
	ap_symbolizer_set_jit(top->model.sites.symbolizer, &recording->jit);
	top->model.sites.show_allocator = options->recording.out.format.show_allocator;
	top->model.view.sort = options->sort;
	top->model.view.lines = options->lines;
	top->model.state.comm = recording->target.comm;
	if (options->print)
		top->model.sites.window = 1;
	else
		err = screen_open(top, error);
	if (!err)
		err = wait_for_end(top, error);
	ap_top_screen_close(top->screen);
	if (err)
		return err;
	recording_stop(recording, error);
	if (!options->recording.out.quiet && *top->end)
		fprintf(stderr, "%s %s\n", recording->target.comm, top->end);
	else if (!options->recording.out.quiet)
		fprintf(stderr, "detached; %s keeps running\n", recording->target.comm);
	if (!options->print || top->model.state.samples)
		return 0;
	return recording_no_samples(recording, &top->totals, error);
}

/* Refuses options that make no sense for a table of one process on standard output. */
static int options_check(const struct top_options *options, struct ap_error *error)
{
	if (options->recording.follow) {
		ap_error_what(error, AP_EXIT_USAGE, "top shows one process");
		ap_error_hint(error, "record its children with: allocprof attach --follow-fork");
		return -EINVAL;
	}
	if (options->recording.strict) {
		ap_error_what(
			error, AP_EXIT_USAGE, "top takes no --strict: it ends without a profile");
		ap_error_hint(error, "allocprof attach --strict");
		return -EINVAL;
	}
	for (size_t i = 0; i < options->recording.out.count; i++) {
		if (strcmp(options->recording.out.output[i].path, "-"))
			continue;
		ap_error_what(error, AP_EXIT_USAGE, "top has its table on standard output");
		ap_error_hint(error, "give a file with -o, or use attach");
		return -EINVAL;
	}
	return 0;
}

int cmd_top(int argc, char **argv)
{
	struct top_options options = {.delay_ns = AP_SECOND_NS, .rows = 30};
	struct ap_error error = {.status = AP_EXIT_FAILURE};
	struct top top = {.options = &options};
	pid_t pid = 0;
	int err;

	recording_init(&top.recording, &options.recording);
	err = recording_options_parse(&options.recording, &own, argc, argv, &error);
	if (!err && options.recording.help) {
		help_print(cmd_top_help);
		recording_options_clear(&options.recording);
		return AP_EXIT_OK;
	}
	options.print |= !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
	if (!err)
		err = options_check(&options, &error);
	if (!err)
		err = process_choose("top", options.recording.name, false, argc - optind,
			argv + optind, &pid, &error);
	if (!err)
		err = record(&top, pid, &error);
	ap_top_clear(&top.model);
	recording_clear(&top.recording);
	recording_options_clear(&options.recording);
	return err ? command_fail(argc, argv, &error) : AP_EXIT_OK;
}
