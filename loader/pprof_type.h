/* SPDX-License-Identifier: MIT */
/* The sample types of pprof files. */
#ifndef ALLOCPROF_PPROF_TYPE_H
#define ALLOCPROF_PPROF_TYPE_H

/*
 * Beside the four: the number of samples ("samples/count"), and the variance of the bytes, which
 * are all live or all freed ("variance/square_kib"). Both add up as values do, so a reader that
 * sums samples gets what is true; a label would keep apart what belongs together.
 */
#define AP_PPROF_SAMPLES	"samples"
#define AP_PPROF_VARIANCE	"variance"
#define AP_PPROF_VARIANCE_UNIT	"square_kib"
#define AP_PPROF_VARIANCE_SHIFT 20 /* the unit is 2^this square bytes */

/* Which of our values a type is, an enum ap_value, as we or others call it; -1: none. */
int ap_pprof_value(const char *type);

#endif
