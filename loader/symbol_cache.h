/* SPDX-License-Identifier: MIT */
/*
 * Names that have been found before: by other recordings, in the cache on disk (cache_file.h); and
 * by this one, in a memory file (memfd), which all processes that write its snapshots share, and
 * which also holds what may not go to disk.
 *
 * They are used only when they were made from the same files: when a debug file has come since,
 * names are looked up anew. A target cannot give a file the identity of another one.
 */
#ifndef ALLOCPROF_SYMBOL_CACHE_H
#define ALLOCPROF_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol_file.h"
#include "symbol_pack.h"

#define AP_SYMBOL_MEMORY_MAX ((size_t)64 << 20)

struct ap_symbol_cache {
	int memory;    /* descriptor of the memory file; -1: none */
	uint8_t *past; /* its content at the first look-up */
	size_t past_size;
	uint8_t *next; /* the content that it will get */
	size_t next_size;
	bool has_news; /* `next` has more than `past` */
};

#define AP_SYMBOL_CACHE_NONE     \
	(struct ap_symbol_cache) \
	{                        \
		.memory = -1     \
	}

/*
 * Sets the memory file, before the first look-up. The descriptor stays the caller's, and must stay
 * open. 0 or -ENOMEM.
 */
int ap_symbol_cache_set_memory(struct ap_symbol_cache *cache, int memory);
void ap_symbol_cache_clear(struct ap_symbol_cache *cache);

/*
 * Loads what is known of a file. 0, with the pack, to be cleared, and the content that it points
 * into, to be freed after that (may be NULL); or a negative errno.
 */
int ap_symbol_cache_load(struct ap_symbol_cache *cache, struct ap_symbol_file *file,
	struct ap_symbol_pack *pack, void **content);

/*
 * Stores what is known of a file; `has_news`: it is more than was loaded. Failures are ignored,
 * since it is only a cache.
 */
void ap_symbol_cache_keep(struct ap_symbol_cache *cache, const struct ap_symbol_file *file,
	const struct ap_pack_address *addresses, uint32_t count, const struct ap_symbol *symbols,
	bool has_news);

/* To be called after the last file: writes what has been stored to the memory file. */
void ap_symbol_cache_finish(struct ap_symbol_cache *cache);

#endif
