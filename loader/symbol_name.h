/* SPDX-License-Identifier: MIT */
/*
 * The names of functions as they are shown: demangled, or, without a symbol, by
 * their place in a file.
 */
#ifndef ALLOCPROF_SYMBOL_NAME_H
#define ALLOCPROF_SYMBOL_NAME_H

#include <stdint.h>

#include "intern.h"
#include "symbolize.h"

struct ap_debug_frame;
struct ap_elf_symbol;

/* The strings of all names. Starts as {0}, and belongs to the caller. */
struct ap_symbol_names {
	struct ap_intern strings;
	const char **demangled; /* by the index of the mangled name in strings; NULL: not yet */
	uint32_t demangled_room;
};

void ap_symbol_names_clear(struct ap_symbol_names *names);

/* The functions below return 0 and *ret, or -ENOMEM. */

/* A place without a name: "lib.so+0x1234", "[anon]+0x1234". */
int ap_symbol_place(
	struct ap_symbol_names *names, const char *place, uint64_t offset, struct ap_symbol *ret);

/* Code that a runtime has made, which tells its name: see jit.h. */
int ap_symbol_told(struct ap_symbol_names *names, const char *name, const char *file, int64_t line,
	struct ap_symbol *ret);

/* A function that is inlined into another one. */
int ap_symbol_inlined(
	struct ap_symbol_names *names, const struct ap_debug_frame *frame, struct ap_symbol *ret);

/*
 * The function at an address of a file, not inlined; symbol NULL: the symbol table has none there.
 */
int ap_symbol_function(struct ap_symbol_names *names, const struct ap_elf_symbol *symbol,
	const struct ap_debug_frame *frame, const char *path, uint64_t address,
	struct ap_symbol *ret);

#endif
