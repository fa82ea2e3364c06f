// SPDX-License-Identifier: MIT
#include "symbol_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "profile.h"

/* Followed by the addresses, the symbols, and the text. */
struct header {
	struct ap_symbol_key key;
	struct ap_symbol_shared shared;
	uint32_t addresses, symbols;
	uint64_t text; /* bytes */
};

/* A symbol. Strings are offsets in the text; each ends with a NUL. */
struct stored {
	uint32_t name, system_name, file, zero;
	int64_t line, start_line;
};

/* ---- Writing ---- */

/* What a pack is made from, with each string once. */
struct maker {
	struct ap_intern strings;
	uint32_t *place; /* offset in the text of each string, by its index */
	uint32_t place_room;
	uint64_t text;
};

static int string_place(struct maker *maker, const char *string, uint32_t *ret)
{
	uint32_t known = maker->strings.count;
	int index = ap_intern_index(&maker->strings, string, AP_STRING_MAX);

	if (index < 0)
		return index;
	if ((uint32_t)index == known) {
		if (ap_array_grow((void **)&maker->place, known, &maker->place_room,
			    sizeof(*maker->place)))
			return -ENOMEM;
		maker->place[index] = (uint32_t)maker->text;
		maker->text += strlen(maker->strings.strings[index]) + 1;
		if (maker->text > AP_PACK_BYTES_MAX)
			return -E2BIG;
	}
	*ret = maker->place[index];
	return 0;
}

static int symbol_store(struct maker *maker, const struct ap_symbol *symbol, struct stored *ret)
{
	int err;

	*ret = (struct stored){.line = symbol->line, .start_line = symbol->start_line};
	err = string_place(maker, symbol->name, &ret->name);
	if (!err)
		err = string_place(maker, symbol->system_name, &ret->system_name);
	if (!err)
		err = string_place(maker, symbol->file, &ret->file);
	return err;
}

static void text_fill(const struct maker *maker, char *text)
{
	for (uint32_t i = 0; i < maker->strings.count; i++) {
		const char *string = maker->strings.strings[i];

		memcpy(text + maker->place[i], string, strlen(string) + 1);
	}
}

int ap_symbol_pack_make(const struct ap_symbol_key *key, const struct ap_symbol_shared *shared,
	const struct ap_pack_address *addresses, uint32_t count, const struct ap_symbol *symbols,
	void **ret, size_t *size)
{
	struct header header = {.key = *key, .shared = *shared, .addresses = count};
	struct ap_pack_address *numbered = NULL;
	struct stored *stored = NULL;
	struct maker maker = {0};
	uint8_t *content = NULL;
	uint64_t total = 0;
	size_t fixed;
	int err = 0;

	for (uint32_t i = 0; i < count; i++)
		total += addresses[i].count;
	fixed = sizeof(header) + count * sizeof(*numbered) + total * sizeof(*stored);
	if (count > AP_PACK_ADDRESSES_MAX || fixed > AP_PACK_BYTES_MAX)
		return -E2BIG;
	numbered = calloc(count + 1, sizeof(*numbered));
	stored = calloc(total + 1, sizeof(*stored));
	if (!numbered || !stored)
		err = -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++) {
		numbered[i] = (struct ap_pack_address){
			addresses[i].address, header.symbols, addresses[i].count};
		for (uint32_t k = 0; k < addresses[i].count && !err; k++)
			err = symbol_store(&maker, &symbols[addresses[i].first + k],
				&stored[header.symbols++]);
	}
	header.text = maker.text;
	if (!err && fixed + maker.text > AP_PACK_BYTES_MAX)
		err = -E2BIG;
	if (!err) {
		content = malloc(fixed + maker.text);
		err = content ? 0 : -ENOMEM;
	}
	if (!err) {
		memcpy(content, &header, sizeof(header));
		memcpy(content + sizeof(header), numbered, count * sizeof(*numbered));
		memcpy(content + sizeof(header) + count * sizeof(*numbered), stored,
			total * sizeof(*stored));
		text_fill(&maker, (char *)content + fixed);
		*ret = content;
		*size = fixed + maker.text;
	}
	free(numbered);
	free(stored);
	free(maker.place);
	ap_intern_clear(&maker.strings);
	return err;
}

/* ---- Reading ---- */

static int symbol_take(
	const struct stored *stored, const char *text, uint64_t bytes, struct ap_symbol *ret)
{
	if (stored->name >= bytes || stored->system_name >= bytes || stored->file >= bytes ||
		!text[stored->name])
		return -EBADMSG;
	*ret = (struct ap_symbol){
		.name = text + stored->name,
		.system_name = text + stored->system_name,
		.file = text + stored->file,
		.line = stored->line,
		.start_line = stored->start_line,
	};
	return 0;
}

/* Checks that the symbols belong to the addresses in order, each to exactly one. */
static int addresses_check(const struct ap_symbol_pack *pack)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < pack->address_count; i++) {
		if (pack->addresses[i].first != next || !pack->addresses[i].count)
			return -EBADMSG;
		next += pack->addresses[i].count;
	}
	return next == pack->symbol_count ? 0 : -EBADMSG;
}

int ap_symbol_pack_open(struct ap_symbol_pack *pack, const struct ap_symbol_key *key,
	struct ap_symbol_shared *shared, const void *content, size_t size)
{
	const struct header *header = content;
	const struct ap_pack_address *addresses = (const struct ap_pack_address *)(header + 1);
	const struct stored *stored;
	const char *text;
	int err = 0;

	*pack = (struct ap_symbol_pack){0};
	if (size < sizeof(*header) || size > AP_PACK_BYTES_MAX)
		return -EBADMSG;
	if (memcmp(&header->key, key, sizeof(*key)))
		return -ESTALE;
	/* Counts have 32 bits, so no product wraps. */
	if (header->text > size || size != sizeof(*header) +
						   header->addresses * sizeof(*addresses) +
						   header->symbols * sizeof(*stored) + header->text)
		return -EBADMSG;
	stored = (const struct stored *)(addresses + header->addresses);
	text = (const char *)(stored + header->symbols);
	if (header->text ? text[header->text - 1] != 0 : header->symbols != 0)
		return -EBADMSG;
	pack->symbols = calloc((size_t)header->symbols + 1, sizeof(*pack->symbols));
	if (!pack->symbols)
		return -ENOMEM;
	pack->addresses = addresses;
	pack->address_count = header->addresses;
	pack->symbol_count = header->symbols;
	for (uint32_t i = 0; i < header->symbols && !err; i++)
		err = symbol_take(&stored[i], text, header->text, &pack->symbols[i]);
	if (!err)
		err = addresses_check(pack);
	if (err) {
		ap_symbol_pack_clear(pack);
		return err;
	}
	*shared = header->shared;
	return 0;
}

void ap_symbol_pack_clear(struct ap_symbol_pack *pack)
{
	free(pack->symbols);
	*pack = (struct ap_symbol_pack){0};
}
