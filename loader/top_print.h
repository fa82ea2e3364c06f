/* SPDX-License-Identifier: MIT */
/* `top` without a screen: tables and JSON. */
#ifndef ALLOCPROF_TOP_PRINT_H
#define ALLOCPROF_TOP_PRINT_H

#include <stdio.h>

#include "top.h"

/*
 * Write a header, warnings, and at most `most` rows (0: all), as a table or as one JSON object on a
 * line. Return 0 or the negative errno of writing.
 */
int ap_top_table_write(FILE *out, const struct ap_top *top, unsigned int most);
int ap_top_json_write(FILE *out, const struct ap_top *top, unsigned int most);

#endif
