/* SPDX-License-Identifier: MIT */
/*
 * Text of a target on a terminal. A name may hold escape sequences, or characters that turn the
 * direction of what follows; everything that is not printable UTF-8 comes out as \xNN or \u{NNNN}.
 */
#ifndef ALLOCPROF_PRINTABLE_H
#define ALLOCPROF_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes at most `room` bytes with the final NUL, cutting between characters, and returns the
 * bytes written without it. A text that does not fit ends in "...". room >= 16.
 */
size_t ap_printable(char *out, size_t room, const char *text);

/* Decodes one character of a text of `length` bytes: its bytes, or 0 when they are no UTF-8. */
size_t ap_utf8_decode(const char *text, size_t length, uint32_t *ret);

#endif
