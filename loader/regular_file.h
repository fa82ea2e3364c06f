/* SPDX-License-Identifier: MIT */
/* Opening files for which somebody else has chosen the name. */
#ifndef ALLOCPROF_REGULAR_FILE_H
#define ALLOCPROF_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* In place of a root: the root of this process. */
#define AP_ROOT_OURS (-1)

/*
 * Opens a regular file for reading. Its type is checked before it is opened, since opening a device
 * or a pipe can block or have effects. `root`: a descriptor of the folder at which absolute paths
 * and symbolic links begin, and which none of them leaves. With `follow` the last part of the path
 * may be a symbolic link, too. Returns a descriptor, with *ret filled in as by fstat(); -EPERM: it
 * is not a regular file; or another negative errno.
 */
int ap_regular_open(int root, const char *path, bool follow, struct stat *ret);

/*
 * The same for what has been opened with O_PATH as `handle`, which is closed. A negative handle is
 * returned as it is.
 */
int ap_regular_reopen(int handle, struct stat *ret);

#endif
