/* SPDX-License-Identifier: MIT */
/*
 * The commands and their options. Only they and main.c print. Messages go to standard error, so
 * that standard output is left to the child of `run`, or to an output asked for with `-o -`.
 *
 * What the commands share among themselves has no ap_ prefix: no other file includes this header,
 * cmd_recording.h or cmd_view.h. All of it is single-threaded.
 */
#ifndef ALLOCPROF_CMD_H
#define ALLOCPROF_CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "filter.h"
#include "format.h"
#include "session.h"

/* A command gets its name in argv[0] and returns an exit status. */
int cmd_attach(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_help(int argc, char **argv);

/*
 * The help of a command, in pieces; NULL ends. The first is "usage: ..." and what the command does,
 * the others are the lines of its options:
 *
 *   -o, --output FILE        what it does
 *       --show live|allocated   a value with bars is one of these words
 */
extern const char *const cmd_attach_help[];
extern const char *const cmd_run_help[];
extern const char *const cmd_top_help[];
extern const char *const cmd_report_help[];
extern const char *const cmd_diff_help[];
extern const char *const cmd_completion_help[];
extern const char *const cmd_list_help[];
extern const char *const cmd_doctor_help[];
extern const char *const cmd_version_help[];
extern const char *const cmd_help_help[];

/* To standard output. */
void help_print(const char *const help[]);

/* Prints the list of commands, with examples. */
void commands_print(FILE *out);

/* ---- The commands ---- */

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *const *help; /* its pieces; NULL ends */
	const char *summary;
};

/* All of them; the name of the last is NULL. */
extern const struct command commands[];

/* A prefix is enough when only one command has it. NULL: none, or several. */
const struct command *command_find(const char *name);

/* Prints an error, as JSON when --json is among the arguments; the exit status. */
int command_fail(int argc, char **argv, const struct ap_error *error);

/* Prints that there is no such command; the exit status. */
int command_unknown(const char *name);

/* ---- Outputs, of every command that has a profile ---- */

struct command_output {
	const char *path;
	const struct ap_format *format;
};

struct output_options {
	struct ap_format_options format;
	const struct ap_format *named; /* --format; NULL: not given */
	bool shown;		       /* --show or --by was given */
	bool allocated, objects;       /* --show, --by */
	struct ap_filter filter;       /* applied to each profile before anything is made of it */
	bool redact;		       /* also applied to each profile */
	bool quiet;
	struct command_output *output;
	size_t count;
};

/* The letters and names of these options for getopt_long(), and how the help lists them. */
#define OUTPUT_OPTIONS_SHORT "o:f:qI:X:"
#define OUTPUT_OPTIONS_LONG                                                                 \
	{"output", required_argument, NULL, 'o'}, {"format", required_argument, NULL, 'f'}, \
		{"show", required_argument, NULL, OPTION_SHOW},                             \
		{"by", required_argument, NULL, OPTION_BY},                                 \
		{"show-allocator", no_argument, NULL, OPTION_SHOW_ALLOCATOR},               \
		{"redact", no_argument, NULL, OPTION_REDACT},                               \
		{"include", required_argument, NULL, 'I'},                                  \
		{"exclude", required_argument, NULL, 'X'},                                  \
		{"thread", required_argument, NULL, OPTION_THREAD},                         \
		{"leak", optional_argument, NULL, OPTION_LEAK},                             \
		{"lifetimes", no_argument, NULL, OPTION_LIFETIMES},                         \
		{"sizes", no_argument, NULL, OPTION_SIZES},                                 \
	{                                                                                   \
		"quiet", no_argument, NULL, 'q'                                             \
	}
enum {
	OPTION_SHOW = 256,
	OPTION_BY,
	OPTION_SHOW_ALLOCATOR,
	OPTION_REDACT,
	OPTION_THREAD,
	OPTION_LEAK,
	OPTION_LIFETIMES,
	OPTION_SIZES,
	OPTION_NAME,
	OPTION_OWN,		/* the first that a command may use for its own options */
	OPTION_RECORDING = 512, /* the first of the options of attach, run and top */
};
extern const char filter_options_help[], output_options_help[];

/*
 * Takes an option of these that getopt_long() has returned. 0; -ENOENT when it is none of them;
 * -EINVAL or -ENOMEM with the error filled in.
 */
int output_option_take(
	struct output_options *options, int option, const char *text, struct ap_error *error);

/* The same for those of filter_options_help; called by the one above. */
int filter_option_take(
	struct output_options *options, int option, const char *text, struct ap_error *error);

/*
 * Fill in the error of a bad value (`expected` is its hint), and of what getopt_long() returned '?'
 * or ':' for. Return -EINVAL.
 */
int option_value_error(
	struct ap_error *error, const char *option, const char *value, const char *expected);
int option_error(struct ap_error *error, int option, char **argv, const struct option *known);

/*
 * Adds an output; with format NULL, output_options_finish() finds its format. 0, or -ENOMEM with
 * the error filled in.
 */
int output_add(struct output_options *options, const char *path, const struct ap_format *format,
	struct ap_error *error);

/*
 * To be called after the last option: finds the format of each output, checks that it can be
 * written, and settles the value that is shown. 0 or a negative errno with the error filled in.
 */
int output_options_finish(struct output_options *options, struct ap_error *error);
int output_check(const char *path, struct ap_error *error);

/* Writes one output, and prints that it has. 0 or a negative errno with the error filled in. */
int output_write(const struct output_options *options, const char *path,
	const struct ap_format *format, const struct ap_profile *profile, struct ap_error *error);

/*
 * Writes all outputs, the others also when one fails, and returns 0 or the first negative errno,
 * with an error filled in. Formats that cannot show options->format.base beside the profile get
 * `difference` instead; NULL: all get the profile.
 */
int outputs_write(const struct output_options *options, const struct ap_profile *profile,
	const struct ap_profile *difference, struct ap_error *error);

/* Prints that the output has been written, and what to do with it. */
void output_announce(const struct command_output *output);

/* Prints a warning, which does not end the command, on a line of its own. */
void warning_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

void output_options_clear(struct output_options *options);

/* ---- Options of attach, run and top ---- */

struct recording_options {
	struct ap_session_options session;
	struct output_options out;
	uint64_t period;   /* 0: the target's own */
	uint64_t max_rate; /* samples in a second; 0: no limit */
	bool rate_asked;   /* --max-rate was given: that it cannot be kept is an error */
	bool guard;
	uint64_t duration_ns; /* 0: no limit */
	const char *name;     /* --name; NULL: none */
	bool follow;	      /* record children that are born from now on */
	bool tree;	      /* and the descendants that there are already */
	uint64_t every_ns;    /* interval of snapshots; 0: none */
	uint64_t keep;	      /* how many of the newest snapshots to keep; 0: all */
	bool strict;
	bool verbose, help;
};

/* The options that one of these commands has beside the common ones. */
struct command_options {
	const char *letters;
	struct option options[12]; /* numbered from OPTION_OWN on */
	/* Takes one of them; returns as output_option_take() does. */
	int (*take)(struct recording_options *options, int option, const char *text,
		struct ap_error *error);
};

/*
 * Parses the options, wherever they stand among the arguments; with `own` NULL (run) only up to the
 * first other argument, which is a command with options of its own. Afterwards optind is the index
 * of the first other argument. 0, or a negative errno with the error filled in.
 */
int recording_options_parse(struct recording_options *options, const struct command_options *own,
	int argc, char **argv, struct ap_error *error);
void recording_options_clear(struct recording_options *options);

/*
 * The options as the help lists them, before output_options_help: first those that top, which has
 * one process and writes nothing at its end, does not take.
 */
extern const char whole_recording_options_help[], recording_options_help[];

/* ---- The process that a command is about ---- */

#define PROCESS_OPTION                                       \
	{                                                    \
		"name", required_argument, NULL, OPTION_NAME \
	}
extern const char process_option_help[];

/* The command_options.take of this option. */
int recording_process_take(
	struct recording_options *options, int option, const char *text, struct ap_error *error);

/*
 * The process that the other arguments, argc of them, or --name (NULL: not given) stand for;
 * of_tree as for ap_process_by_name(). 0 or a negative errno with the error filled in.
 */
int process_choose(const char *command, const char *name, bool of_tree, int argc, char **argv,
	pid_t *ret, struct ap_error *error);

#endif
