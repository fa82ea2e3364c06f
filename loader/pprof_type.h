/* SPDX-License-Identifier: MIT */
/* The sample types of pprof files. */
#ifndef ALLOCPROF_PPROF_TYPE_H
#define ALLOCPROF_PPROF_TYPE_H

/*
 * Two more than the four of ap_value_names: the number of samples ("samples/count"), and the
 * variance of the bytes, which in one pprof sample are all live or all freed
 * ("variance/square_kib"). Both add up as values do, so sums over samples stay right in any reader;
 * as labels they would keep samples apart that belong together.
 */
#define AP_PPROF_SAMPLES	"samples"
#define AP_PPROF_VARIANCE	"variance"
#define AP_PPROF_VARIANCE_UNIT	"square_kib"
#define AP_PPROF_VARIANCE_SHIFT 20 /* the unit is 2^this square bytes */

/* The enum ap_value of a sample type, by our name or another profiler's; -1: none. */
int ap_pprof_value(const char *type);

#endif
