/* SPDX-License-Identifier: MIT */
/* Text of a target in HTML and SVG. */
#ifndef ALLOCPROF_MARKUP_H
#define ALLOCPROF_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a text, made printable as by ap_printable(), and escaped for elements and for attributes
 * in double quotes. A text of more than `letters` characters (>= 1) is cut and ends in an ellipsis;
 * more than 4 KiB are never written.
 */
void ap_markup_put(FILE *out, const char *text, size_t letters);

#endif
