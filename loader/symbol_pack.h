/* SPDX-License-Identifier: MIT */
/*
 * The names of addresses of one file, serialized to be cached. What is read back is not trusted: it
 * is checked, and damage costs names at worst.
 */
#ifndef ALLOCPROF_SYMBOL_PACK_H
#define ALLOCPROF_SYMBOL_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "symbol_file.h"
#include "symbolize.h"

/*
 * More than enough: a large C++ program allocates from some hundred thousand
 * addresses in all its life.
 */
#define AP_PACK_ADDRESSES_MAX (1U << 20)
#define AP_PACK_BYTES_MAX     ((size_t)256 << 20)

/* One address in the file: count symbols, innermost first. */
struct ap_pack_address {
	uint64_t address;
	uint32_t first, count; /* index of its first symbol, and how many */
};

struct ap_symbol_pack {
	const struct ap_pack_address *addresses;
	uint32_t address_count, symbol_count;
	struct ap_symbol *symbols; /* of all addresses; their strings are in the content */
};

/*
 * Serializes addresses and the symbols that they refer to. 0 and the content, to be freed; -E2BIG:
 * it would be too large; or -ENOMEM.
 */
int ap_symbol_pack_make(const struct ap_symbol_key *key, const struct ap_symbol_shared *shared,
	const struct ap_pack_address *addresses, uint32_t count, const struct ap_symbol *symbols,
	void **ret, size_t *size);

/*
 * Reads content, which must be aligned as by malloc(), and must stay as long as the pack. 0 and the
 * pack, to be cleared; -ESTALE: it was made from other files; -EBADMSG: damaged; or -ENOMEM.
 */
int ap_symbol_pack_open(struct ap_symbol_pack *pack, const struct ap_symbol_key *key,
	struct ap_symbol_shared *shared, const void *content, size_t size);
void ap_symbol_pack_clear(struct ap_symbol_pack *pack);

#endif
