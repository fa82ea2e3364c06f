/* SPDX-License-Identifier: MIT */
/*
 * Text inside JSON, safe also inside a script element: names of a target may hold anything.
 */
#ifndef ALLOCPROF_JSON_H
#define ALLOCPROF_JSON_H

#include <stdio.h>

/*
 * Writes a text with its quotes. Control characters, what is no UTF-8, and characters that turn
 * the direction of writing come out readable, as by ap_printable(); < > & as \u003c and so on.
 * Texts of more than 4 KiB are cut and end in "...".
 */
void ap_json_string(FILE *out, const char *text);

#endif
