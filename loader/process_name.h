/* SPDX-License-Identifier: MIT */
/* A process by its short name, as `ps -o comm` shows it. */
#ifndef ALLOCPROF_PROCESS_NAME_H
#define ALLOCPROF_PROCESS_NAME_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/*
 * The one process of this name; names are of 15 characters at most, a longer one is cut. Of a tree:
 * of several the one that all others descend from, as a server's workers do. -ESRCH: there is none,
 * -EEXIST: there are several; or another negative errno; with the error filled in.
 */
int ap_process_by_name(const char *name, bool of_tree, pid_t *ret, struct ap_error *error);

#endif
