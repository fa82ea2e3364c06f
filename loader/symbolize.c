// SPDX-License-Identifier: MIT
#include "symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
#include "debug_info.h"
#include "jit.h"
#include "mapping.h"
#include "profile.h"
#include "regular_file.h"
#include "symbol_cache.h"
#include "symbol_file.h"
#include "symbol_name.h"
#include "symbol_pack.h"

/* Inlining goes some 30 deep in the worst of C++. */
#define FRAMES_MAX 128

/* One mapped file. */
struct object {
	struct ap_symbol_file file;
	void *content; /* cached content that strings may point into; NULL: none */
	bool has_news; /* more has been found than was cached */
};

/* An address that has been looked up: count symbols from first on. */
struct known {
	const struct object *object;
	struct ap_pack_address at;
	bool used; /* looked up this time, not only loaded from the cache */
};

/*
 * Functions that have been added to a profile, by the pointer of their names, since comparing long
 * C++ names is slow.
 */
struct functions {
	uint64_t profile; /* number of that profile; 0: none */
	struct added {
		struct ap_symbol symbol;
		uint32_t function;
	} * added;
	uint32_t count, room;
	struct ap_table by_symbol;
};

struct ap_symbolizer {
	const struct ap_jit *jit; /* NULL: none */
	char *debug_directory;
	struct ap_debug_places places;
	struct ap_symbol_cache cache;
	struct ap_symbol_names names;
	struct object **objects;
	uint32_t object_count, object_room;
	struct known *known;
	uint32_t known_count, known_room;
	struct ap_table known_table;
	struct ap_symbol *symbols;
	uint32_t symbol_count, symbol_room;
	struct ap_symbolizer_counts counts;
	struct functions functions;
	struct ap_symbol single; /* for an address that is not kept */
};

struct ap_symbolizer *ap_symbolizer_new(void)
{
	struct ap_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (symbolizer) {
		symbolizer->places.root = AP_ROOT_OURS;
		symbolizer->cache = AP_SYMBOL_CACHE_NONE;
	}
	if (symbolizer && ap_symbolizer_set_debug_directory(symbolizer, AP_DEBUG_DIRECTORY)) {
		free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

int ap_symbolizer_set_debug_directory(struct ap_symbolizer *symbolizer, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(symbolizer->debug_directory);
	symbolizer->debug_directory = copy;
	symbolizer->places.directory = copy;
	return 0;
}

void ap_symbolizer_set_jit(struct ap_symbolizer *symbolizer, const struct ap_jit *jit)
{
	symbolizer->jit = jit;
}

void ap_symbolizer_set_root(struct ap_symbolizer *symbolizer, int root)
{
	symbolizer->places.root = root;
}

void ap_symbolizer_set_debuginfod(
	struct ap_symbolizer *symbolizer, struct ap_debuginfod *debuginfod)
{
	symbolizer->places.debuginfod = debuginfod;
}

int ap_symbolizer_set_memory(struct ap_symbolizer *symbolizer, int memory)
{
	return ap_symbol_cache_set_memory(&symbolizer->cache, memory);
}

static void object_free(struct object *object)
{
	ap_symbol_file_close(&object->file);
	free(object->content);
	free(object);
}

static void functions_clear(struct functions *functions)
{
	free(functions->added);
	ap_table_clear(&functions->by_symbol);
	*functions = (struct functions){0};
}

void ap_symbolizer_free(struct ap_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (uint32_t i = 0; i < symbolizer->object_count; i++)
		object_free(symbolizer->objects[i]);
	free(symbolizer->objects);
	free(symbolizer->known);
	ap_table_clear(&symbolizer->known_table);
	free(symbolizer->symbols);
	functions_clear(&symbolizer->functions);
	ap_symbol_cache_clear(&symbolizer->cache);
	ap_symbol_names_clear(&symbolizer->names);
	free(symbolizer->debug_directory);
	free(symbolizer);
}

/* ---- What is known ---- */

static bool known_equal(const void *array, uint32_t index, const void *key)
{
	const struct known *a = (const struct known *)array + index, *b = key;

	return a->object == b->object && a->at.address == b->at.address;
}

static uint64_t known_hash(const struct known *known)
{
	return ap_hash_u64((uintptr_t)known->object, known->at.address);
}

static int known_add(struct ap_symbolizer *symbolizer, const struct known *known)
{
	int64_t index = ap_table_append(&symbolizer->known_table, known_hash(known),
		(void **)&symbolizer->known, &symbolizer->known_count, &symbolizer->known_room,
		known, sizeof(*known));

	return index < 0 ? (int)index : 0;
}

/* Takes the cached names of a file as if they had been looked up. */
static int pack_take(struct ap_symbolizer *symbolizer, const struct object *object,
	const struct ap_symbol_pack *pack)
{
	for (uint32_t i = 0; i < pack->symbol_count; i++) {
		if (ap_array_grow((void **)&symbolizer->symbols, symbolizer->symbol_count,
			    &symbolizer->symbol_room, sizeof(*symbolizer->symbols)))
			return -ENOMEM;
		symbolizer->symbols[symbolizer->symbol_count++] = pack->symbols[i];
	}
	for (uint32_t i = 0; i < pack->address_count; i++) {
		struct known known = {.object = object, .at = pack->addresses[i]};

		known.at.first += symbolizer->symbol_count - pack->symbol_count;
		if (known_add(symbolizer, &known))
			return -ENOMEM;
	}
	return 0;
}

static int object_get(
	struct ap_symbolizer *symbolizer, const struct ap_object *key, struct object **ret)
{
	struct ap_symbol_pack pack;
	struct object *object;
	int err = 0;

	/* A linear search: a process has some dozens of files, and results are kept by address. */
	for (uint32_t i = 0; i < symbolizer->object_count; i++) {
		if (symbolizer->objects[i]->file.object == key) {
			*ret = symbolizer->objects[i];
			return 0;
		}
	}
	if (ap_array_grow((void **)&symbolizer->objects, symbolizer->object_count,
		    &symbolizer->object_room, sizeof(*symbolizer->objects)))
		return -ENOMEM;
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	ap_symbol_file_open(&object->file, key, &symbolizer->places);
	if (!ap_symbol_cache_load(&symbolizer->cache, &object->file, &pack, &object->content)) {
		err = pack_take(symbolizer, object, &pack);
		ap_symbol_pack_clear(&pack);
	}
	/* Also after an error, since something may point to it already. */
	symbolizer->objects[symbolizer->object_count++] = object;
	*ret = object;
	return err;
}

/*
 * The addresses of a file, for the cache. If they are too many, only those that were
 * looked up this time.
 */
static uint32_t object_addresses(const struct ap_symbolizer *symbolizer,
	const struct object *object, bool only_used, struct ap_pack_address *ret)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < symbolizer->known_count; i++) {
		const struct known *known = &symbolizer->known[i];

		if (known->object != object || (only_used && !known->used))
			continue;
		if (ret)
			ret[count] = known->at;
		count++;
	}
	return count;
}

void ap_symbolizer_keep(struct ap_symbolizer *symbolizer)
{
	for (uint32_t i = 0; i < symbolizer->object_count; i++) {
		struct object *object = symbolizer->objects[i];
		uint32_t count = object_addresses(symbolizer, object, false, NULL);
		bool only_used = count > AP_PACK_ADDRESSES_MAX;
		struct ap_pack_address *addresses;

		if (!count || (object->file.is_read && !object->file.is_sure))
			continue;
		addresses = calloc(count, sizeof(*addresses));
		if (!addresses)
			return;
		count = object_addresses(symbolizer, object, only_used, addresses);
		ap_symbol_cache_keep(&symbolizer->cache, &object->file, addresses, count,
			symbolizer->symbols, object->has_news);
		object->has_news = false;
		free(addresses);
	}
	ap_symbol_cache_finish(&symbolizer->cache);
}

/* ---- Names ---- */

/* The symbol of an address without a name: its place. */
static int unknown_name(struct ap_symbolizer *symbolizer, const struct ap_mapping *mapping,
	uint64_t address, struct ap_symbol *ret)
{
	uint64_t offset;

	if (!mapping)
		return ap_symbol_place(&symbolizer->names, "[unmapped]", address, ret);
	offset = address - mapping->start;
	if (!mapping->object)
		return ap_symbol_place(&symbolizer->names, mapping->name, offset, ret);
	return ap_symbol_place(
		&symbolizer->names, mapping->object->path, offset + mapping->offset, ret);
}

/* Adds the symbols of an address in a file at the end of symbolizer->symbols; their number. */
static int object_symbols(struct ap_symbolizer *symbolizer, struct object *object, uint64_t address)
{
	struct ap_symbol_file *file = &object->file;
	struct ap_debug_frame frames[FRAMES_MAX];
	const struct ap_elf_symbol *found;
	int count = 0, err = ap_symbol_file_read(file);

	if (err)
		return err;
	found = ap_symtab_find(&file->symtab, address);
	if (file->info)
		count = ap_debug_info_find(file->info, address, frames, FRAMES_MAX);
	if (count < 0)
		return count;
	if (!count)
		frames[count++] = (struct ap_debug_frame){0};
	for (int i = 0; i < count && !err; i++) {
		struct ap_symbol *to;

		if (ap_array_grow((void **)&symbolizer->symbols, symbolizer->symbol_count,
			    &symbolizer->symbol_room, sizeof(*symbolizer->symbols)))
			return -ENOMEM;
		to = &symbolizer->symbols[symbolizer->symbol_count++];
		err = i + 1 < count ? ap_symbol_inlined(&symbolizer->names, &frames[i], to)
				    : ap_symbol_function(&symbolizer->names, found, &frames[i],
					      file->object->path, address, to);
	}
	return err ? err : count;
}

/* ---- Addresses ---- */

static int object_symbolize(struct ap_symbolizer *symbolizer, struct object *object,
	uint64_t address, const struct ap_symbol **ret)
{
	struct known key = {
		.object = object,
		.at = {.address = address, .first = symbolizer->symbol_count},
	};
	int64_t index = ap_table_find(
		&symbolizer->known_table, known_hash(&key), known_equal, symbolizer->known, &key);
	int count;

	if (index < 0) {
		count = object_symbols(symbolizer, object, address);
		if (count < 0)
			return count;
		key.at.count = (uint32_t)count;
		if (known_add(symbolizer, &key))
			return -ENOMEM;
		object->has_news = true;
		index = symbolizer->known_count - 1;
	} else if (!symbolizer->known[index].used) {
		symbolizer->counts.cached++;
	}
	symbolizer->counts.addresses += !symbolizer->known[index].used;
	symbolizer->known[index].used = true;
	*ret = &symbolizer->symbols[symbolizer->known[index].at.first];
	return (int)symbolizer->known[index].at.count;
}

struct ap_symbolizer_counts ap_symbolizer_counts(const struct ap_symbolizer *symbolizer)
{
	return symbolizer->counts;
}

/* 1 when a runtime has named the code at an address; 0 or -ENOMEM. */
static int jit_name(struct ap_symbolizer *symbolizer, uint64_t address, struct ap_symbol *ret)
{
	struct ap_jit_place place;

	if (!symbolizer->jit || !ap_jit_find(symbolizer->jit, address, &place) || !*place.name)
		return 0;
	return ap_symbol_told(&symbolizer->names, place.name, place.file, place.line, ret) ? -ENOMEM
											   : 1;
}

int ap_symbolize(struct ap_symbolizer *symbolizer, const struct ap_mapping *mapping,
	uint64_t address, bool is_return, const struct ap_symbol **ret)
{
	struct object *object;
	uint64_t in_file;
	int err;

	/* The instruction after a call may belong to another line, or, if the call never returns,
	 * to another function. */
	if (is_return)
		address--;
	*ret = &symbolizer->single;
	if (mapping && mapping->object) {
		err = object_get(symbolizer, mapping->object, &object);
		if (err)
			return err;
		if (object->file.elf.elf &&
			ap_elf_file_address(&object->file.elf,
				address - mapping->start + mapping->offset, &in_file) == 0)
			return object_symbolize(symbolizer, object, in_file, ret);
	}
	/* A runtime may map its code from a memory file, too. */
	err = jit_name(symbolizer, address, &symbolizer->single);
	if (!err)
		err = unknown_name(symbolizer, mapping, address, &symbolizer->single);
	return err < 0 ? err : 1;
}

int ap_symbolize_mapping(struct ap_profile *profile, const struct ap_mapping *mapping)
{
	const struct ap_object *object = mapping->object;

	return ap_profile_add_mapping(profile, mapping->start, mapping->end, mapping->offset,
		object ? object->path : mapping->name, object ? object->build_id : NULL);
}

static bool added_equal(const void *array, uint32_t index, const void *key)
{
	const struct ap_symbol *a = &((const struct added *)array)[index].symbol, *b = key;

	return a->name == b->name && a->system_name == b->system_name && a->file == b->file &&
	       a->start_line == b->start_line;
}

/* Adds the function of a symbol to a profile. Its index, or -ENOMEM. */
static int function_add(struct ap_symbolizer *symbolizer, struct ap_profile *profile,
	const struct ap_symbol *symbol)
{
	struct functions *functions = &symbolizer->functions;
	uint64_t hash = ap_hash_u64((uint64_t)symbol->start_line, (uintptr_t)symbol->name);
	struct added added;
	int64_t index;
	int function;

	hash = ap_hash_u64(hash, (uintptr_t)symbol->system_name);
	hash = ap_hash_u64(hash, (uintptr_t)symbol->file);
	if (functions->profile != profile->number)
		functions_clear(functions);
	functions->profile = profile->number;
	index = ap_table_find(&functions->by_symbol, hash, added_equal, functions->added, symbol);
	if (index >= 0)
		return (int)functions->added[index].function;
	function = ap_profile_add_function(
		profile, symbol->name, symbol->system_name, symbol->file, symbol->start_line);
	if (function < 0)
		return function;
	added = (struct added){*symbol, (uint32_t)function};
	index = ap_table_append(&functions->by_symbol, hash, (void **)&functions->added,
		&functions->count, &functions->room, &added, sizeof(added));
	return index < 0 ? (int)index : function;
}

int ap_symbolize_location(struct ap_symbolizer *symbolizer, struct ap_profile *profile,
	const struct ap_mapping *mapping, uint64_t address, bool is_return)
{
	struct ap_line line[FRAMES_MAX];
	const struct ap_symbol *symbols;
	int count = ap_symbolize(symbolizer, mapping, address, is_return, &symbols);
	int index = -1;

	if (count < 0)
		return count;
	if (mapping) {
		index = ap_symbolize_mapping(profile, mapping);
		if (index < 0)
			return index;
	}
	for (int i = 0; i < count; i++) {
		int function = function_add(symbolizer, profile, &symbols[i]);

		if (function < 0)
			return function;
		line[i] = (struct ap_line){(uint32_t)function, symbols[i].line};
	}
	return ap_profile_add_location(
		profile, index, is_return ? address - 1 : address, line, (uint32_t)count);
}
