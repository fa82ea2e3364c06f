/* SPDX-License-Identifier: MIT */
/* Where our allocator is, for programs that are to be started with it. */
#ifndef ALLOCPROF_PRELOAD_H
#define ALLOCPROF_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/*
 * The path of liballocprof.so: beside this program, where it was built, or where it is installed,
 * Debian's place included. 0 or a negative errno.
 */
int ap_preload_find(char path[PATH_MAX]);

/* Whether a program, by its open file, has no dynamic linker. False where that cannot be told. */
bool ap_preload_is_static(int program);

/* Whether a program, by its open file, has a malloc of its own, which comes before a preloaded one. */
bool ap_preload_is_shadowed(int program);

/* What makes a program, by its open file, ignore LD_PRELOAD: "static"; NULL: nothing is known. */
const char *ap_preload_obstacle(int program);

#endif
