/* SPDX-License-Identifier: MIT */
/*
 * Keeps the folder of the cache within its size: the least recently used files are removed first.
 */
#ifndef ALLOCPROF_CACHE_LIMIT_H
#define ALLOCPROF_CACHE_LIMIT_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Notes that a file has been used, by setting its modification time; at most once a day, since that
 * is a write.
 */
void ap_cache_limit_touch(int fd, const struct stat *status);

/* Removes files of the folder until the rest takes no more than so many bytes of the disk. */
void ap_cache_limit_keep(int folder, uint64_t bytes);

#endif
