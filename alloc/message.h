/* SPDX-License-Identifier: MIT */
/* Lines on stderr, without stdio and without memory. Safe in a signal handler. */
#ifndef ALLOC_MESSAGE_H
#define ALLOC_MESSAGE_H

#include <stddef.h>

struct ap_line {
	size_t length;
	char text[240];
};

/* These append to the line; what does not fit is cut off. */
void ap_line_text(struct ap_line *line, const char *text);
void ap_line_number(struct ap_line *line, unsigned long number);
void ap_line_hex(struct ap_line *line, unsigned long number);

/* Writes the line and a newline, and empties it. Nobody learns of an error. */
void ap_line_write(struct ap_line *line, int fd);

/*
 * "allocprof: WHAT POINTER (size class SIZE)", then abort. The heap is damaged, or about to be: the
 * process must not go on. size 0: not known.
 */
_Noreturn void ap_fatal(const char *what, const void *pointer, size_t size);

#endif
