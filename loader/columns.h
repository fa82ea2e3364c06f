/* SPDX-License-Identifier: MIT */
/* Text of a target in the columns of a terminal: a wide character takes two, an accent none. */
#ifndef ALLOCPROF_COLUMNS_H
#define ALLOCPROF_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes as much of a text as fits in `columns` columns, made printable as by ap_printable(), at
 * most `room` bytes with the final NUL; room >= 16. A text that is cut ends in "~". With `ascii`,
 * for terminals that show nothing else, other characters become "?". Returns the columns taken.
 *
 * Widths are those of the locale; a character that it does not know counts as one column.
 */
unsigned int ap_columns_fit(
	char *out, size_t room, const char *text, unsigned int columns, bool ascii);

#endif
