/* SPDX-License-Identifier: MIT */
/*
 * Names that have been found before: by other recordings, in the cache on disk (cache_file.h), and
 * by this one, in a file of memory, which those who write its snapshots have in common and which
 * also holds what may not be on disk.
 *
 * They are used only when they were made from the same files: a debug file that has come since
 * makes them anew. A target cannot give a file the identity of another one.
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
	int memory;    /* a file of ours; -1: none */
	uint8_t *past; /* what it held at the beginning */
	size_t past_size;
	uint8_t *next; /* what it is to hold */
	size_t next_size;
	bool has_news; /* that is not in memory yet */
};

#define AP_SYMBOL_CACHE_NONE     \
	(struct ap_symbol_cache) \
	{                        \
		.memory = -1     \
	}

/* The descriptor stays the caller's, and must stay open; before the first look-up. 0 or -ENOMEM. */
int ap_symbol_cache_set_memory(struct ap_symbol_cache *cache, int memory);
void ap_symbol_cache_clear(struct ap_symbol_cache *cache);

/*
 * What is known of a file. 0: the pack, to be cleared, and the content that it lies in, to be freed
 * after it, or NULL; or a negative errno.
 */
int ap_symbol_cache_load(struct ap_symbol_cache *cache, struct ap_symbol_file *file,
	struct ap_symbol_pack *pack, void **content);

/*
 * Keeps what is known of a file; `has_news`: more than what was loaded. That it could not be kept
 * makes no difference to anybody.
 */
void ap_symbol_cache_keep(struct ap_symbol_cache *cache, const struct ap_symbol_file *file,
	const struct ap_pack_address *addresses, uint32_t count, const struct ap_symbol *symbols,
	bool has_news);

/* After the last file: the memory holds what has been kept. */
void ap_symbol_cache_finish(struct ap_symbol_cache *cache);

#endif
