/* SPDX-License-Identifier: MIT */
/*
 * Files that only save time: what was costly to work out of the files of targets, kept for the next
 * recording. Whatever is wrong with one, it is made again.
 *
 * In $XDG_CACHE_HOME/allocprof; without that in /var/cache/allocprof for root, and for others in
 * .cache/allocprof of their home. We may be root, and others may write to where that leads: the
 * folder and its files must be our own and nobody else may write them, or they are not used. Where
 * the place for the folder does not exist, nothing is cached.
 *
 * A file gets its name when it is whole, so that a reader sees all of it or none, and a kill leaves
 * nothing behind. Several writers of one name do no harm: one of them wins. Files together take at
 * most AP_CACHE_BYTES_MAX; those that have not been used for longest go first.
 */
#ifndef ALLOCPROF_CACHE_FILE_H
#define ALLOCPROF_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ap_object;

#define AP_CACHE_BYTES_MAX (512ULL << 20)

/* What a kind of files is, which no other kind and no older version of it has. */
struct ap_cache_kind {
	uint64_t magic;
	uint32_t version, machine;
};

/*
 * Whether the build id of a file can be believed where nothing else says which file it is. Anybody
 * but root and ourselves may claim another one's.
 */
bool ap_cache_trusts(const struct ap_object *object);

/*
 * The content of a file, as it was stored, to be freed; at most `max` bytes. 0; -ESTALE: it is of
 * another kind, -EBADMSG: damaged, or another negative errno.
 */
int ap_cache_load(
	const char *name, const struct ap_cache_kind *kind, size_t max, void **ret, size_t *size);

/* Stores a file, in place of one that is there. 0; a negative errno: it is not cached then. */
int ap_cache_store(
	const char *name, const struct ap_cache_kind *kind, const void *content, size_t size);

#endif
