/* SPDX-License-Identifier: MIT */
/* Where our allocator is, for programs that are to be started with it. */
#ifndef ALLOCPROF_PRELOAD_H
#define ALLOCPROF_PRELOAD_H

#include <limits.h>

/*
 * The path of liballocprof.so: beside this program, where it was built, or where it is installed,
 * Debian's place included. 0 or a negative errno.
 */
int ap_preload_find(char path[PATH_MAX]);

/* What makes a program, by its open file, ignore LD_PRELOAD: "static"; NULL: nothing is known. */
const char *ap_preload_obstacle(int program);

#endif
