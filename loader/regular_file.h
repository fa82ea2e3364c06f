/* SPDX-License-Identifier: MIT */
/* Opening files for which somebody else has chosen the name. */
#ifndef ALLOCPROF_REGULAR_FILE_H
#define ALLOCPROF_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* The root that paths and the links in them are of: ours. */
#define AP_ROOT_OURS (-1)

/*
 * Opens a regular file for reading. It is looked at before it is opened: to open what else may lie
 * there, a device or a pipe, can do things. `root`: a descriptor of the folder that paths begin at,
 * as absolute symbolic links on the way do; none leads out of it. With `follow` the last part of
 * the path may be such a link, too. A descriptor, and *ret says what it is; -EPERM: it is not a
 * regular file; or another negative errno.
 */
int ap_regular_open(int root, const char *path, bool follow, struct stat *ret);

/* The same of what has been opened with O_PATH, and is closed. A negative handle is returned. */
int ap_regular_reopen(int handle, struct stat *ret);

#endif
