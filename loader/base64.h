/* SPDX-License-Identifier: MIT */
/* Bytes inside a page. */
#ifndef ALLOCPROF_BASE64_H
#define ALLOCPROF_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Writes them as of RFC 4648, padded, in one line. The stream keeps an error. */
void ap_base64_put(FILE *out, const void *bytes, size_t length);

#endif
