/* SPDX-License-Identifier: MIT */
/*
 * Names of outputs with patterns in them: %n is the target's name, %p its number, %t the time in
 * UTC (20261130T140211Z), %% a percent sign.
 */
#ifndef ALLOCPROF_OUTPUT_NAME_H
#define ALLOCPROF_OUTPUT_NAME_H

#include <stdint.h>
#include <sys/types.h>

/* The first pattern in the path that is not one of these, such as "%x"; NULL: all are known. */
const char *ap_output_name_check(const char *path);

/*
 * The path with its patterns filled in, to be freed; NULL: out of memory. In the name, characters
 * that are special to a shell or a file system become '_': a target chooses its own name.
 */
char *ap_output_name_fill(const char *path, const char *name, pid_t pid, int64_t time_ns);

#endif
