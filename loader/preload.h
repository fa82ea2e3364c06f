/* SPDX-License-Identifier: MIT */
/*
 * Finds our allocator, for programs that are to be started with it, and tells which programs it
 * cannot serve.
 */
#ifndef ALLOCPROF_PRELOAD_H
#define ALLOCPROF_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/*
 * The path of liballocprof.so: beside this program, where it was built, or where it is installed,
 * Debian's place included. 0 or a negative errno.
 */
int ap_preload_find(char path[PATH_MAX]);

/*
 * Whether a program, given as a descriptor of its file, has no dynamic linker. False when that
 * cannot be told.
 */
bool ap_preload_is_static(int program);

/* The same: whether it has a malloc of its own, which comes before a preloaded one. */
bool ap_preload_is_shadowed(int program);

/*
 * The same: what makes it ignore LD_PRELOAD, "static" or "setuid or setgid";
 * NULL: nothing is known.
 */
const char *ap_preload_obstacle(int program);

#endif
