/* SPDX-License-Identifier: MIT */
/* Text of a target in HTML and SVG. */
#ifndef ALLOCPROF_MARKUP_H
#define ALLOCPROF_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a text, printable as by ap_printable() and escaped for elements and attributes in double
 * quotes. Of one with more than `letters` characters the beginning and an ellipsis; letters >= 1.
 * More than 4 KiB are never written.
 */
void ap_markup_put(FILE *out, const char *text, size_t letters);

#endif
