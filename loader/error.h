/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, for the person at the terminal. Modules fill one in; commands print it:
 *
 *   allocprof: process 4127 (nginx) does not use an allocator with otel_memory probes
 *   detail: none of its 23 mapped files has them
 *   hint: start it with 'allocprof run -- CMD'
 */
#ifndef ALLOCPROF_ERROR_H
#define ALLOCPROF_ERROR_H

#include <errno.h>
#include <stdio.h>

/* The negative errno of what has just failed; never 0, whatever a library has left there. */
static inline int ap_errno(void)
{
	int err = -errno;

	return err < 0 ? err : -EIO;
}

/* The exit statuses of every command but `run`, which ends with its child's. */
enum ap_exit {
	AP_EXIT_OK = 0,
	AP_EXIT_FAILURE = 1,
	AP_EXIT_USAGE = 2,
	AP_EXIT_PERMISSION = 3,
	AP_EXIT_NO_PROCESS = 4, /* no such process, or gone before the attach */
	AP_EXIT_NO_PROBE = 5,	/* its allocator has no probes */
	AP_EXIT_NO_SAMPLE = 6,	/* attached, but nothing was sampled */
	AP_EXIT_INCOMPLETE = 7, /* --strict: a sample has lost its stack or its free */
	AP_EXIT_THRESHOLD = 8,	/* diff --fail-above */
	AP_EXIT_KERNEL = 9,	/* the kernel lacks what is needed */
	/* Of `run`, as in a shell. */
	AP_EXIT_RUN_FAILURE = 125,
	AP_EXIT_RUN_NOT_EXECUTABLE = 126,
	AP_EXIT_RUN_NOT_FOUND = 127,
	AP_EXIT_RUN_SIGNAL = 128,
};

struct ap_error {
	enum ap_exit status;
	char what[384];
	char detail[384]; /* "" none */
	char hint[384];	  /* "" none */
};

/*
 * Each sets one part; ap_error_what() also clears the others. The caller escapes text that comes
 * from a target.
 */
void ap_error_what(struct ap_error *error, enum ap_exit status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void ap_error_detail(struct ap_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void ap_error_hint(struct ap_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Fills in all of it for a failure with an errno: the detail is its text, and a lack of memory,
 * disk or open files gets a hint. Returns err, which must be negative.
 */
int ap_error_errno(struct ap_error *error, enum ap_exit status, int err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void ap_error_print(FILE *out, const struct ap_error *error);

/* The same for scripts, in a line:
 * {"schema":1,"error":{"status":2,"what":"...","detail":null,"hint":"..."}}. */
void ap_error_print_json(FILE *out, const struct ap_error *error);

#endif
