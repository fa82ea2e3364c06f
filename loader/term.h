/* SPDX-License-Identifier: MIT */
/*
 * The line of progress: on a terminal it is drawn again in place, elsewhere a new line is printed
 * now and then.
 */
#ifndef ALLOCPROF_TERM_H
#define ALLOCPROF_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ap_progress {
	FILE *out;
	bool quiet, terminal;
	bool drawn;	  /* a line without its newline stands on the terminal */
	uint64_t next_ns; /* when the next line is due */
};

/* How often the caller should look whether a line is due. */
#define AP_PROGRESS_TICK_MS 200

void ap_progress_start(struct ap_progress *progress, FILE *out, bool quiet, uint64_t now_ns);

/* The same for work that is usually done before anybody wonders: the first line is due later. */
void ap_progress_start_late(struct ap_progress *progress, FILE *out, bool quiet, uint64_t now_ns);

/* Whether a line is due at that time. */
bool ap_progress_due(const struct ap_progress *progress, uint64_t now_ns);

/*
 * Writes a line, and decides when the next one is due. On a terminal it is cut to the width, since
 * a line that wraps could not be drawn again in place. The text must be ASCII.
 */
void ap_progress_line(struct ap_progress *progress, uint64_t now_ns, const char *text);

/* Ends a line that is still open, before anything else is printed. */
void ap_progress_end(struct ap_progress *progress);

/* Takes a line off the terminal again. */
void ap_progress_erase(struct ap_progress *progress);

#endif
