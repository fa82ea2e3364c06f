/* SPDX-License-Identifier: MIT */
/* Sizes and durations as people write them. */
#ifndef ALLOCPROF_UNITS_H
#define ALLOCPROF_UNITS_H

#include <stdint.h>

/*
 * A whole number with an optional suffix, in either case. 0 or -EINVAL, also when it is too large.
 *
 * size: bytes; K, M, G, T are powers of 1024, also as KB or KiB.
 * duration: seconds; ms, s, m, h, d. The result is in nanoseconds.
 * count: no suffix.
 */
int ap_size_parse(const char *text, uint64_t *ret);
int ap_duration_parse(const char *text, uint64_t *ret);
int ap_count_parse(const char *text, uint64_t *ret);

/* "41.2 MiB", "513 B": at most 15 characters. Returns out. */
#define AP_SIZE_TEXT 16
char *ap_size_format(char out[AP_SIZE_TEXT], double bytes);

#endif
