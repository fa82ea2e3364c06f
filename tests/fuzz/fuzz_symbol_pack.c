// SPDX-License-Identifier: MIT
/*
 * The reader of packed names, on damaged packs: a good one is overwritten with the data, at the
 * place that its first two bytes give, and cut or made longer by the third. Every string of what is
 * accepted must end inside the content, which has exactly its size here.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ap_symbol_key key = {.build_id = "0badc0de"};

static void good_make(void **content, size_t *size)
{
	static const struct ap_symbol symbols[] = {
		{"a(int)", "_Z1ai", "/a.c", 1, 2},
		{"b", "b", "/a.c", 3, 4},
		{"lib.so+0x12", "", "", 0, 0},
	};
	static const struct ap_pack_address addresses[] = {{0x1000, 0, 2}, {0x2000, 2, 1}};
	struct ap_symbol_shared shared = {.build_id = ""};

	if (ap_symbol_pack_make(&key, &shared, addresses, 2, symbols, content, size))
		abort();
}

static size_t text_read(const struct ap_symbol_pack *pack)
{
	size_t total = 0;

	for (uint32_t i = 0; i < pack->address_count; i++) {
		const struct ap_pack_address *at = &pack->addresses[i];

		if (!at->count)
			abort();
		for (uint32_t k = at->first; k < at->first + at->count; k++) {
			const struct ap_symbol *symbol = &pack->symbols[k];

			if (k >= pack->symbol_count || !*symbol->name)
				abort();
			total += strlen(symbol->name) + strlen(symbol->system_name) +
				 strlen(symbol->file);
		}
	}
	return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ap_symbol_shared shared;
	struct ap_symbol_pack pack;
	void *good, *content;
	size_t length, changed;
	uint16_t at;

	if (size < 3)
		return 0;
	good_make(&good, &length);
	memcpy(&at, data, sizeof(at));
	changed = length + data[2] > 128 ? length + data[2] - 128 : 0; /* 128: as it was */
	content = malloc(changed);
	if (!content)
		abort();
	memset(content, 0, changed);
	memcpy(content, good, length < changed ? length : changed);
	free(good);
	at %= length;
	if (at < changed)
		memcpy((uint8_t *)content + at, data + 3,
			size - 3 < changed - at ? size - 3 : changed - at);
	if (!ap_symbol_pack_open(&pack, &key, &shared, content, changed)) {
		text_read(&pack);
		ap_symbol_pack_clear(&pack);
	}
	free(content);
	return 0;
}
