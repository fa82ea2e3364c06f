// SPDX-License-Identifier: MIT
#include "table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int64_t ap_table_find(const struct ap_table *table, uint64_t hash, ap_table_equal_fn *equal,
	const void *array, const void *key)
{
	uint32_t mask = table->room - 1;

	if (!table->room)
		return -1;
	for (uint32_t i = (uint32_t)hash & mask; table->slots[i].index; i = (i + 1) & mask) {
		const struct ap_table_slot *slot = &table->slots[i];

		if (slot->hash == (uint32_t)hash && equal(array, slot->index - 1, key))
			return slot->index - 1;
	}
	return -1;
}

static void slot_fill(struct ap_table_slot *slots, uint32_t room, struct ap_table_slot new)
{
	uint32_t i = new.hash &(room - 1);

	while (slots[i].index)
		i = (i + 1) & (room - 1);
	slots[i] = new;
}

int ap_table_add(struct ap_table *table, uint64_t hash, uint32_t index)
{
	/* At most three quarters full, so that a failing search ends soon. */
	if (table->count + 1 > table->room / 4 * 3) {
		uint32_t room = table->room ? table->room * 2 : 64;
		struct ap_table_slot *slots;

		if (room < table->room)
			return -ENOMEM;
		slots = calloc(room, sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < table->room; i++)
			if (table->slots[i].index)
				slot_fill(slots, room, table->slots[i]);
		free(table->slots);
		table->slots = slots;
		table->room = room;
	}
	slot_fill(table->slots, table->room,
		(struct ap_table_slot){.hash = (uint32_t)hash, .index = index + 1});
	table->count++;
	return 0;
}

int64_t ap_table_append(struct ap_table *table, uint64_t hash, void **array, uint32_t *count,
	uint32_t *room, const void *element, size_t size)
{
	if (ap_array_grow(array, *count, room, size) || ap_table_add(table, hash, *count))
		return -ENOMEM;
	memcpy((char *)*array + *count * size, element, size);
	return (*count)++;
}

void ap_table_clear(struct ap_table *table)
{
	free(table->slots);
	*table = (struct ap_table){0};
}

uint64_t ap_hash_u64(uint64_t seed, uint64_t number)
{
	/* The finisher of MurmurHash3: every bit of the input reaches every bit of the result. */
	uint64_t h = seed ^ number;

	h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
	return (h ^ (h >> 33)) + 0x9e3779b97f4a7c15ull;
}

uint64_t ap_hash(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ length, word;

	for (; length >= 8; p += 8, length -= 8) {
		memcpy(&word, p, 8);
		h = ap_hash_u64(h, word);
	}
	word = 0;
	if (length)
		memcpy(&word, p, length);
	return ap_hash_u64(h, word);
}

int64_t ap_array_find(const void *array, uint32_t count, size_t element, uint64_t key)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t start;

		memcpy(&start, (const char *)array + middle * element, sizeof(start));
		if (start <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

int ap_array_grow(void **array, uint32_t count, uint32_t *room, size_t element)
{
	uint32_t want;
	void *bigger;

	if (count < *room)
		return 0;
	if (count > INT_MAX / 2)
		return -ENOMEM;
	want = count ? count * 2 : 16;
	bigger = reallocarray(*array, want, element);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	*room = want;
	return 0;
}
