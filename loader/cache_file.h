/* SPDX-License-Identifier: MIT */
/*
 * The cache on disk: what was costly to work out from the files of targets, kept for the next
 * recording. When anything is wrong with a cached file, it is made again.
 *
 * In $XDG_CACHE_HOME/allocprof; without that in /var/cache/allocprof for root, and for others in
 * .cache/allocprof of their home. This process may be root, and others may be able to write to that
 * place: a folder or file is used only if this user owns it and nobody else may write it. Where the
 * parent of the folder does not exist, nothing is cached.
 *
 * A file gets its name only once it is complete: a reader sees all of it or nothing, and a killed
 * writer leaves nothing behind. When several processes write the same name, one of them wins. All
 * files together take at most AP_CACHE_BYTES_MAX; the least recently used are removed first.
 */
#ifndef ALLOCPROF_CACHE_FILE_H
#define ALLOCPROF_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ap_object;

#define AP_CACHE_BYTES_MAX (512ULL << 20)

/*
 * Stands at the start of each file: tells its kind, and the version of its format, from all others.
 */
struct ap_cache_kind {
	uint64_t magic;
	uint32_t version, machine;
};

/*
 * Whether the build id of a file may be trusted as the key of what is cached. It may if the file is
 * root's or this user's: anybody else could claim the build id of another file.
 */
bool ap_cache_trusts(const struct ap_object *object);

/*
 * The content of a file, as it was stored, to be freed; at most `max` bytes. 0; -ESTALE: it is of
 * another kind or version; -EBADMSG: damaged; or another negative errno.
 */
int ap_cache_load(
	const char *name, const struct ap_cache_kind *kind, size_t max, void **ret, size_t *size);

/* Stores a file, replacing one of that name. 0, or a negative errno when it was not stored. */
int ap_cache_store(
	const char *name, const struct ap_cache_kind *kind, const void *content, size_t size);

#endif
