/* SPDX-License-Identifier: MIT */
/* Binary data inside an HTML page. */
#ifndef ALLOCPROF_BASE64_H
#define ALLOCPROF_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Writes RFC 4648 base64, padded, on one line. A write error stays set on the stream. */
void ap_base64_put(FILE *out, const void *bytes, size_t length);

#endif
