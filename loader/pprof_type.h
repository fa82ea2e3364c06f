/* SPDX-License-Identifier: MIT */
/* The sample types of pprof files. */
#ifndef ALLOCPROF_PPROF_TYPE_H
#define ALLOCPROF_PPROF_TYPE_H

/* Which of our values a type is, an enum ap_value, as we or others call it; -1: none. */
int ap_pprof_value(const char *type);

#endif
