/* SPDX-License-Identifier: MIT */
#include "symbolize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"
#include "debug_info.h"
#include "demangle.h"
#include "elf_file.h"
#include "intern.h"
#include "jit.h"
#include "mapping.h"
#include "profile.h"
#include "symtab.h"

/* Inlining goes some 30 deep in the worst of C++. */
#define FRAMES_MAX 128

/* What is known of one mapped file. */
struct object {
	const struct ap_object *key;
	struct ap_elf_file elf;	  /* the mapped file; elf.elf NULL: none or damaged */
	struct ap_elf_file debug; /* its separate debug file, if there is one */
	int debug_fd;
	struct ap_symtab symtab;
	struct ap_dwarf dwarf;
	struct ap_debug_info *info;
};

/* An address that has been looked up: count symbols from first on. */
struct known {
	const struct object *object;
	uint64_t address;
	uint32_t first, count;
};

struct ap_symbolizer {
	const struct ap_jit *jit; /* NULL: none */
	char *debug_directory;
	struct ap_debug_places places;
	struct ap_intern strings;
	const char **demangled; /* by the index of the mangled name in strings; NULL: not yet */
	uint32_t demangled_room;
	struct object **objects;
	uint32_t object_count, object_room;
	struct known *known;
	uint32_t known_count, known_room;
	struct ap_table known_table;
	struct ap_symbol *symbols;
	uint32_t symbol_count, symbol_room;
	struct ap_symbol single; /* of an address that is not kept */
};

struct ap_symbolizer *ap_symbolizer_new(void)
{
	struct ap_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (symbolizer)
		symbolizer->places.root = AP_ROOT_OURS;
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

static void object_free(struct object *object)
{
	ap_debug_info_free(object->info);
	ap_dwarf_close(&object->dwarf);
	ap_symtab_clear(&object->symtab);
	ap_elf_file_close(&object->debug);
	ap_elf_file_close(&object->elf);
	if (object->debug_fd >= 0)
		close(object->debug_fd);
	free(object);
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
	free(symbolizer->demangled);
	ap_intern_clear(&symbolizer->strings);
	free(symbolizer->debug_directory);
	free(symbolizer);
}

/* ---- Files ---- */

static int object_debug_read(struct object *object, const struct ap_debug_places *places)
{
	const struct ap_elf_file *from = &object->elf;
	int err;

	object->debug_fd =
		ap_debug_file_open(&object->elf, object->key->build_id, object->key->path, places);
	if (object->debug_fd >= 0) {
		err = ap_elf_file_open(&object->debug, object->debug_fd);
		if (!err)
			err = ap_symtab_add(&object->symtab, &object->debug);
		if (err == -ENOMEM)
			return err;
		if (object->debug.elf && ap_elf_file_section_bytes(&object->debug, ".debug_info"))
			from = &object->debug;
	}
	if (ap_dwarf_open(&object->dwarf, from, places))
		return 0;
	object->info = ap_debug_info_new(object->dwarf.dwarf);
	return object->info ? 0 : -ENOMEM;
}

static int object_read(struct object *object, const struct ap_debug_places *places)
{
	int err;

	if (object->key->fd < 0)
		return 0;
	err = ap_elf_file_open(&object->elf, object->key->fd);
	if (!err)
		err = ap_symtab_add(&object->symtab, &object->elf);
	if (!err)
		err = object_debug_read(object, places);
	ap_symtab_sort(&object->symtab);
	return err == -ENOMEM ? err : 0;
}

static int object_get(
	struct ap_symbolizer *symbolizer, const struct ap_object *key, struct object **ret)
{
	struct object *object;
	int err;

	/* A process has some dozens, and what was found is kept by address. */
	for (uint32_t i = 0; i < symbolizer->object_count; i++) {
		if (symbolizer->objects[i]->key == key) {
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
	object->key = key;
	object->debug_fd = -1;
	object->dwarf.shared_fd = -1;
	err = object_read(object, &symbolizer->places);
	if (err) {
		object_free(object);
		return err;
	}
	symbolizer->objects[symbolizer->object_count++] = object;
	*ret = object;
	return 0;
}

/* ---- Names ---- */

static const char *intern(struct ap_symbolizer *symbolizer, const char *text)
{
	return ap_intern(
		&symbolizer->strings, text ? text : "", text ? strnlen(text, AP_STRING_MAX) : 0);
}

/* The demangled form of a name, worked out once; the name itself where there is none. */
static const char *display_name(struct ap_symbolizer *symbolizer, const char *name)
{
	int index = ap_intern_index(&symbolizer->strings, name, strnlen(name, AP_STRING_MAX));
	char *demangled;

	if (index < 0)
		return NULL;
	if ((uint32_t)index >= symbolizer->demangled_room) {
		uint32_t room = (uint32_t)index * 2 + 64;
		const char **bigger = reallocarray(symbolizer->demangled, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		memset(bigger + symbolizer->demangled_room, 0,
			(room - symbolizer->demangled_room) * sizeof(*bigger));
		symbolizer->demangled = bigger;
		symbolizer->demangled_room = room;
	}
	if (!symbolizer->demangled[index]) {
		demangled = ap_demangle(symbolizer->strings.strings[index]);
		symbolizer->demangled[index] =
			demangled && *demangled
				? ap_intern(&symbolizer->strings, demangled, strlen(demangled))
				: symbolizer->strings.strings[index];
		free(demangled);
	}
	return symbolizer->demangled[index];
}

/* "lib.so+0x1234", "[anon]+0x1234". */
static int place_name(
	struct ap_symbolizer *symbolizer, const char *place, uint64_t offset, struct ap_symbol *ret)
{
	const char *base = *place == '[' ? NULL : strrchr(place, '/');
	char *name;

	if (asprintf(&name, "%s+0x%" PRIx64, base ? base + 1 : place, offset) < 0)
		return -ENOMEM;
	*ret = (struct ap_symbol){
		.name = intern(symbolizer, name),
		.system_name = intern(symbolizer, ""),
		.file = intern(symbolizer, ""),
	};
	free(name);
	return ret->name && ret->system_name && ret->file ? 0 : -ENOMEM;
}

/* What has no name is told by where it is. */
static int unknown_name(struct ap_symbolizer *symbolizer, const struct ap_mapping *mapping,
	uint64_t address, struct ap_symbol *ret)
{
	uint64_t offset;

	if (!mapping)
		return place_name(symbolizer, "[unmapped]", address, ret);
	offset = address - mapping->start;
	if (!mapping->object)
		return place_name(symbolizer, mapping->name, offset, ret);
	return place_name(symbolizer, mapping->object->path, offset + mapping->offset, ret);
}

/* A symbol's name without the version that linkers append: memcpy@@GLIBC_2.14. */
static const char *symbol_name(struct ap_symbolizer *symbolizer, const struct ap_elf_symbol *symbol)
{
	size_t length = strnlen(symbol->name, AP_STRING_MAX);
	const char *at = memchr(symbol->name, '@', length);

	return ap_intern(&symbolizer->strings, symbol->name,
		at && at > symbol->name ? (size_t)(at - symbol->name) : length);
}

/*
 * The name of the function itself: that of the symbol table, which has what the linker and the
 * programs know it by. But compilers split functions into foo.cold, foo.part.0 and the like; for
 * a reader they are foo, as the debug information says.
 */
static const char *function_name(
	struct ap_symbolizer *symbolizer, const char *symbol, const struct ap_debug_frame *frame)
{
	const char *own = frame->linkage_name ? frame->linkage_name : frame->name;
	size_t length;

	if (!symbol)
		return intern(symbolizer, own);
	if (!own)
		return symbol;
	length = strnlen(own, AP_STRING_MAX);
	if (strncmp(symbol, own, length) == 0 && symbol[length] == '.')
		return ap_intern(&symbolizer->strings, own, length);
	return symbol;
}

static int symbol_fill(struct ap_symbolizer *symbolizer, const struct ap_debug_frame *frame,
	const char *system_name, struct ap_symbol *ret)
{
	*ret = (struct ap_symbol){
		.name = system_name ? display_name(symbolizer, system_name) : NULL,
		.system_name = system_name,
		.file = intern(symbolizer, frame->file),
		.line = frame->line,
		.start_line = frame->start_line,
	};
	return ret->name && ret->file ? 0 : -ENOMEM;
}

/* The function that is really at an address, `symbol` in the symbol table (or NULL). */
static int function_fill(struct ap_symbolizer *symbolizer, const struct object *object,
	uint64_t address, const char *symbol, const struct ap_debug_frame *frame,
	struct ap_symbol *ret)
{
	int err;

	if (symbol || frame->linkage_name || frame->name)
		return symbol_fill(
			symbolizer, frame, function_name(symbolizer, symbol, frame), ret);
	err = place_name(symbolizer, object->key->path, address, ret);
	if (err)
		return err;
	ret->file = intern(symbolizer, frame->file);
	ret->line = frame->line;
	return ret->file ? 0 : -ENOMEM;
}

static int inlined_fill(
	struct ap_symbolizer *symbolizer, const struct ap_debug_frame *frame, struct ap_symbol *ret)
{
	const char *name = frame->linkage_name ? frame->linkage_name : frame->name;

	return symbol_fill(symbolizer, frame, intern(symbolizer, name ? name : "[inlined]"), ret);
}

/* Adds the symbols of an address in a file at the end of symbolizer->symbols; their number. */
static int object_symbols(struct ap_symbolizer *symbolizer, struct object *object, uint64_t address)
{
	const struct ap_elf_symbol *found = ap_symtab_find(&object->symtab, address);
	const char *symbol = found ? symbol_name(symbolizer, found) : NULL;
	struct ap_debug_frame frames[FRAMES_MAX];
	int count = 0, err = 0;

	if (found && !symbol)
		return -ENOMEM;
	if (object->info)
		count = ap_debug_info_find(object->info, address, frames, FRAMES_MAX);
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
		err = i + 1 < count
			      ? inlined_fill(symbolizer, &frames[i], to)
			      : function_fill(symbolizer, object, address, symbol, &frames[i], to);
	}
	return err ? err : count;
}

/* ---- Addresses ---- */

static bool known_equal(const void *array, uint32_t index, const void *key)
{
	const struct known *a = (const struct known *)array + index, *b = key;

	return a->object == b->object && a->address == b->address;
}

static int object_symbolize(struct ap_symbolizer *symbolizer, struct object *object,
	uint64_t address, const struct ap_symbol **ret)
{
	struct known key = {
		.object = object,
		.address = address,
		.first = symbolizer->symbol_count,
	};
	uint64_t hash = ap_hash_u64((uintptr_t)object, address);
	int64_t index =
		ap_table_find(&symbolizer->known_table, hash, known_equal, symbolizer->known, &key);
	int count;

	if (index < 0) {
		count = object_symbols(symbolizer, object, address);
		if (count < 0)
			return count;
		key.count = (uint32_t)count;
		if (ap_array_grow((void **)&symbolizer->known, symbolizer->known_count,
			    &symbolizer->known_room, sizeof(key)) ||
			ap_table_add(&symbolizer->known_table, hash, symbolizer->known_count))
			return -ENOMEM;
		index = symbolizer->known_count;
		symbolizer->known[symbolizer->known_count++] = key;
	}
	*ret = &symbolizer->symbols[symbolizer->known[index].first];
	return (int)symbolizer->known[index].count;
}

/* 1 when a runtime has named the code at an address; 0 or -ENOMEM. */
static int jit_name(struct ap_symbolizer *symbolizer, uint64_t address, struct ap_symbol *ret)
{
	struct ap_jit_place place;
	const char *name;

	if (!symbolizer->jit || !ap_jit_find(symbolizer->jit, address, &place) || !*place.name)
		return 0;
	name = intern(symbolizer, place.name);
	*ret = (struct ap_symbol){
		.name = name ? display_name(symbolizer, name) : NULL,
		.system_name = name,
		.file = intern(symbolizer, place.file),
		.line = place.line,
	};
	return ret->name && ret->file ? 1 : -ENOMEM;
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
		if (object->elf.elf &&
			ap_elf_file_address(&object->elf,
				address - mapping->start + mapping->offset, &in_file) == 0)
			return object_symbolize(symbolizer, object, in_file, ret);
	}
	/* A runtime may have its code in a file of memory, too. */
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
		int function = ap_profile_add_function(profile, symbols[i].name,
			symbols[i].system_name, symbols[i].file, symbols[i].start_line);

		if (function < 0)
			return function;
		line[i] = (struct ap_line){(uint32_t)function, symbols[i].line};
	}
	return ap_profile_add_location(
		profile, index, is_return ? address - 1 : address, line, (uint32_t)count);
}
