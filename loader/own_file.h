/* SPDX-License-Identifier: MIT */
/* Files that were built, or are installed, with this program. */
#ifndef ALLOCPROF_OWN_FILE_H
#define ALLOCPROF_OWN_FILE_H

#include <limits.h>
#include <stddef.h>

/*
 * The path of the first of `places` that exists; they are relative to the folder of this program.
 * 0; -ENOENT: none exists; another negative errno when that folder is not known.
 */
int ap_own_file_find(char path[PATH_MAX], const char *const *places, size_t count);

#endif
