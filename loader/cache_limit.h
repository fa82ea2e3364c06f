/* SPDX-License-Identifier: MIT */
/* How large the folder of the cache gets: who has not been used for longest goes first. */
#ifndef ALLOCPROF_CACHE_LIMIT_H
#define ALLOCPROF_CACHE_LIMIT_H

#include <stdint.h>
#include <sys/stat.h>

/* Notes that a file has been used, by its time of modification; to the day, as that writes. */
void ap_cache_limit_touch(int fd, const struct stat *status);

/* Removes files of the folder until the rest takes no more than so many bytes of the disk. */
void ap_cache_limit_keep(int folder, uint64_t bytes);

#endif
