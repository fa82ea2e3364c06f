// SPDX-License-Identifier: MIT
#include "symbol_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_info.h"
#include "demangle.h"
#include "profile.h"
#include "symtab.h"

static const char *intern(struct ap_symbol_names *names, const char *text)
{
	return ap_intern(
		&names->strings, text ? text : "", text ? strnlen(text, AP_STRING_MAX) : 0);
}

/* The demangled form of a name, which is computed once; the name itself if it has none. */
static const char *display_name(struct ap_symbol_names *names, const char *name)
{
	int index = ap_intern_index(&names->strings, name, strnlen(name, AP_STRING_MAX));
	char *demangled;

	if (index < 0)
		return NULL;
	if ((uint32_t)index >= names->demangled_room) {
		uint32_t room = (uint32_t)index * 2 + 64;
		const char **bigger = reallocarray(names->demangled, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		memset(bigger + names->demangled_room, 0,
			(room - names->demangled_room) * sizeof(*bigger));
		names->demangled = bigger;
		names->demangled_room = room;
	}
	if (!names->demangled[index]) {
		demangled = ap_demangle(names->strings.strings[index]);
		names->demangled[index] =
			demangled && *demangled
				? ap_intern(&names->strings, demangled, strlen(demangled))
				: names->strings.strings[index];
		free(demangled);
	}
	return names->demangled[index];
}

int ap_symbol_place(
	struct ap_symbol_names *names, const char *place, uint64_t offset, struct ap_symbol *ret)
{
	const char *base = *place == '[' ? NULL : strrchr(place, '/');
	char *name;

	if (asprintf(&name, "%s+0x%" PRIx64, base ? base + 1 : place, offset) < 0)
		return -ENOMEM;
	*ret = (struct ap_symbol){
		.name = intern(names, name),
		.system_name = intern(names, ""),
		.file = intern(names, ""),
	};
	free(name);
	return ret->name && ret->system_name && ret->file ? 0 : -ENOMEM;
}

/* A symbol's name without the version that linkers append: memcpy@@GLIBC_2.14. */
static const char *symbol_name(struct ap_symbol_names *names, const struct ap_elf_symbol *symbol)
{
	size_t length = strnlen(symbol->name, AP_STRING_MAX);
	const char *at = memchr(symbol->name, '@', length);

	return ap_intern(&names->strings, symbol->name,
		at && at > symbol->name ? (size_t)(at - symbol->name) : length);
}

/*
 * The name of a function: that of the symbol table, by which the linker and other tools know it.
 * But compilers split functions into foo.cold, foo.part.0 and the like, and number functions inside
 * others; these get the name that the debug information has.
 */
static const char *function_name(
	struct ap_symbol_names *names, const char *symbol, const struct ap_debug_frame *frame)
{
	const char *own = frame->linkage_name ? frame->linkage_name : frame->name;
	const char *last;
	size_t length;

	if (!symbol)
		return intern(names, own);
	if (!own)
		return symbol;
	last = strrchr(own, ':');
	last = last ? last + 1 : own;
	length = strnlen(last, AP_STRING_MAX);
	if (strncmp(symbol, last, length) == 0 && symbol[length] == '.')
		return intern(names, own);
	return symbol;
}

static int symbol_fill(struct ap_symbol_names *names, const struct ap_debug_frame *frame,
	const char *system_name, struct ap_symbol *ret)
{
	*ret = (struct ap_symbol){
		.name = system_name ? display_name(names, system_name) : NULL,
		.system_name = system_name,
		.file = intern(names, frame->file),
		.line = frame->line,
		.start_line = frame->start_line,
	};
	return ret->name && ret->file ? 0 : -ENOMEM;
}

int ap_symbol_told(struct ap_symbol_names *names, const char *name, const char *file, int64_t line,
	struct ap_symbol *ret)
{
	struct ap_debug_frame frame = {.file = file, .line = line};

	return symbol_fill(names, &frame, intern(names, name), ret);
}

int ap_symbol_inlined(
	struct ap_symbol_names *names, const struct ap_debug_frame *frame, struct ap_symbol *ret)
{
	const char *name = frame->linkage_name ? frame->linkage_name : frame->name;

	return symbol_fill(names, frame, intern(names, name ? name : "[inlined]"), ret);
}

int ap_symbol_function(struct ap_symbol_names *names, const struct ap_elf_symbol *symbol,
	const struct ap_debug_frame *frame, const char *path, uint64_t address,
	struct ap_symbol *ret)
{
	const char *name = symbol ? symbol_name(names, symbol) : NULL;
	int err;

	if (symbol && !name)
		return -ENOMEM;
	if (name || frame->linkage_name || frame->name)
		return symbol_fill(names, frame, function_name(names, name, frame), ret);
	err = ap_symbol_place(names, path, address, ret);
	if (err)
		return err;
	ret->file = intern(names, frame->file);
	ret->line = frame->line;
	return ret->file ? 0 : -ENOMEM;
}

void ap_symbol_names_clear(struct ap_symbol_names *names)
{
	free(names->demangled);
	ap_intern_clear(&names->strings);
	*names = (struct ap_symbol_names){0};
}
