/* SPDX-License-Identifier: MIT */
/* JSON, with names of a target, which may hold anything. */
#ifndef ALLOCPROF_JSON_H
#define ALLOCPROF_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes a text with its quotes, for people to read and safe also inside a script element. Control
 * characters, what is no UTF-8, and characters that turn the direction of writing come out
 * readable, as by ap_printable(); < > & as \u003c and so on. Texts of more than 4 KiB are cut and
 * end in "...".
 */
void ap_json_string(FILE *out, const char *text);

/*
 * A writer for programs to read: texts are whole and as they were (what is no UTF-8 is U+FFFD),
 * and everything is ASCII, so that a terminal takes no harm. Each function takes the key of a
 * member of an object, or NULL for an element of an array or for the outermost value. Errors
 * stay set on the stream.
 *
 *   struct ap_json json = {.out = stdout};
 *
 *   ap_json_object(&json, NULL);
 *   ap_json_number(&json, "schema", 1);
 *   ap_json_close(&json);               {"schema":1} and a newline
 */
struct ap_json {
	FILE *out;
	uint32_t depth;
	uint32_t arrays; /* bit n: at depth n + 1 an array is open, not an object; n < 32 */
	bool comma;
};

void ap_json_object(struct ap_json *json, const char *key);
void ap_json_array(struct ap_json *json, const char *key);
/* Closes the innermost object or array; writes a newline after the outermost. */
void ap_json_close(struct ap_json *json);

void ap_json_text(struct ap_json *json, const char *key, const char *text); /* NULL: null */
void ap_json_number(struct ap_json *json, const char *key, int64_t number);
void ap_json_real(struct ap_json *json, const char *key, double number); /* not finite: null */
void ap_json_bool(struct ap_json *json, const char *key, bool value);

#endif
