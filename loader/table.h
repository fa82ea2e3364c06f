/* SPDX-License-Identifier: MIT */
/*
 * A hash table of indices into an array that its user owns: open addressing, linear probing,
 * grows by doubling, never shrinks, removes nothing.
 */
#ifndef ALLOCPROF_TABLE_H
#define ALLOCPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ap_table_slot {
	uint32_t hash;
	uint32_t index; /* plus one; 0 is a free slot */
};

struct ap_table {
	struct ap_table_slot *slots;
	uint32_t room; /* a power of two, or 0 */
	uint32_t count;
};

/* Whether the entry with this index has the key that is looked for. */
typedef bool ap_table_equal_fn(const void *array, uint32_t index, const void *key);

/* The index, or -1. */
int64_t ap_table_find(const struct ap_table *table, uint64_t hash, ap_table_equal_fn *equal,
	const void *array, const void *key);

/* Adds an index that is not there yet. 0 or -ENOMEM. */
int ap_table_add(struct ap_table *table, uint64_t hash, uint32_t index);

/*
 * Appends an element of `size` bytes, whose key is not there yet, to the array (see
 * ap_array_grow()), and adds its index. The index, or -ENOMEM.
 */
int64_t ap_table_append(struct ap_table *table, uint64_t hash, void **array, uint32_t *count,
	uint32_t *room, const void *element, size_t size);

void ap_table_clear(struct ap_table *table);

/* A hash of bytes, continued from `seed`; and of one number. */
uint64_t ap_hash(uint64_t seed, const void *bytes, size_t length);
uint64_t ap_hash_u64(uint64_t seed, uint64_t number);

/*
 * The index of the last element that begins with a uint64_t of at most `key`, in an array that is
 * sorted by it; -1: there is none.
 */
int64_t ap_array_find(const void *array, uint32_t count, size_t element, uint64_t key);

/*
 * Makes room for one more element, by doubling the array when it is full. 0 or -ENOMEM; also
 * -ENOMEM when the count would leave the range of a non-negative int, which the indices of a
 * profile are.
 */
int ap_array_grow(void **array, uint32_t count, uint32_t *room, size_t element);

#endif
