// SPDX-License-Identifier: MIT
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

struct ap_intern_chunk {
	struct ap_intern_chunk *next;
	char bytes[];
};

struct text {
	const char *bytes;
	size_t length;
};

static bool text_equal(const void *array, uint32_t index, const void *key)
{
	const char *const *strings = array;
	const struct text *text = key;

	return strncmp(strings[index], text->bytes, text->length) == 0 &&
	       strings[index][text->length] == '\0';
}

/* Room for a string, in the chunk in use or, for a long one, in a chunk of its own. */
static char *chunk_take(struct ap_intern *set, size_t bytes)
{
	bool alone = bytes > CHUNK / 4;
	struct ap_intern_chunk *chunk;

	if (set->chunk && set->size - set->used >= bytes) {
		set->used += bytes;
		return set->chunk->bytes + set->used - bytes;
	}
	chunk = malloc(sizeof(*chunk) + (alone ? bytes : CHUNK));
	if (!chunk)
		return NULL;
	if (alone && set->chunk) {
		chunk->next = set->chunk->next;
		set->chunk->next = chunk;
		return chunk->bytes;
	}
	chunk->next = set->chunk;
	set->chunk = chunk;
	set->size = alone ? bytes : CHUNK;
	set->used = bytes;
	return chunk->bytes;
}

int ap_intern_index(struct ap_intern *set, const char *text, size_t length)
{
	struct text key = {.bytes = text, .length = strnlen(text, length)};
	uint64_t hash = ap_hash(0, text, key.length);
	int64_t index = ap_table_find(&set->table, hash, text_equal, set->strings, &key);
	char *copy;

	if (index >= 0)
		return (int)index;
	if (ap_array_grow((void **)&set->strings, set->count, &set->room, sizeof(*set->strings)))
		return -ENOMEM;
	copy = chunk_take(set, key.length + 1);
	if (!copy || ap_table_add(&set->table, hash, set->count))
		return -ENOMEM;
	memcpy(copy, text, key.length);
	copy[key.length] = '\0';
	set->strings[set->count] = copy;
	return (int)set->count++;
}

const char *ap_intern(struct ap_intern *set, const char *text, size_t length)
{
	int index = ap_intern_index(set, text, length);

	return index < 0 ? NULL : set->strings[index];
}

void ap_intern_clear(struct ap_intern *set)
{
	while (set->chunk) {
		struct ap_intern_chunk *next = set->chunk->next;

		free(set->chunk);
		set->chunk = next;
	}
	free(set->strings);
	ap_table_clear(&set->table);
	*set = (struct ap_intern){0};
}
