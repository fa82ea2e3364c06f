/* SPDX-License-Identifier: MIT */
/* Gzip on stdio streams: writing piece by piece, and reading a whole input of bounded size. */
#ifndef ALLOCPROF_GZIP_H
#define ALLOCPROF_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ap_gzip_writer;

/* NULL: out of memory. */
struct ap_gzip_writer *ap_gzip_begin(FILE *out);

/* An error is kept for ap_gzip_end(), and what follows it is ignored. */
void ap_gzip_write(struct ap_gzip_writer *writer, const void *bytes, size_t length);

/* Finishes, flushes the stream and frees the writer: 0, or the first negative errno. */
int ap_gzip_end(struct ap_gzip_writer *writer);

/*
 * Reads the stream to its end, decompressing it if it is gzip (several members too). The caller
 * frees *ret. 0; -ENOMEM, -EBADMSG (damaged or cut), -E2BIG (more than `limit` bytes), or the
 * negative errno of reading.
 */
int ap_gzip_read(FILE *in, size_t limit, uint8_t **ret, size_t *ret_length);

#endif
