/* SPDX-License-Identifier: MIT */
/* Finds a process by its short name, as `ps -o comm` shows it. */
#ifndef ALLOCPROF_PROCESS_NAME_H
#define ALLOCPROF_PROCESS_NAME_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/*
 * The only process of this name, of which the kernel keeps 15 characters: a longer one is cut. With
 * of_tree there may be several, if all others descend from one, as a server's workers do: that one.
 * 0 and *ret; -ESRCH: there is none; -EEXIST: there are several; or another negative errno; with
 * the error filled in.
 */
int ap_process_by_name(const char *name, bool of_tree, pid_t *ret, struct ap_error *error);

#endif
