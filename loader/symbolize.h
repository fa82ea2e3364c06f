/* SPDX-License-Identifier: MIT */
/*
 * From an address in a target to functions and source lines: symbol tables and debug information of
 * the mapped files, read from the descriptors that the mapping table holds, and separate debug
 * files of the system found by build id or .gnu_debuglink. Nothing is opened by a path that the
 * target controls unless build id or checksum prove that it belongs to the mapped file.
 *
 * The files are the target's and are not trusted: what cannot be parsed costs names at worst.
 */
#ifndef ALLOCPROF_SYMBOLIZE_H
#define ALLOCPROF_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

struct ap_debuginfod;
struct ap_jit;
struct ap_mapping;
struct ap_profile;
struct ap_symbolizer;

/* One function at an address. Strings live as long as the symbolizer; none is NULL. */
struct ap_symbol {
	const char *name;	 /* demangled, or "lib.so+0x1234"; never "" */
	const char *system_name; /* as in the symbol table; "" when the name is made up */
	const char *file;	 /* source file; "" unknown */
	int64_t line;		 /* of the address in that function; 0 unknown */
	int64_t start_line;	 /* of the function; 0 unknown */
};

/* NULL: out of memory. */
struct ap_symbolizer *ap_symbolizer_new(void);
void ap_symbolizer_free(struct ap_symbolizer *symbolizer); /* NULL is fine */

/*
 * Sets where the system's debug files are, instead of /usr/lib/debug. To be called before the first
 * address, as the four below. 0 or -ENOMEM.
 */
int ap_symbolizer_set_debug_directory(struct ap_symbolizer *symbolizer, const char *path);

/*
 * Sets the target's root folder, in which debug files are looked for first; AP_ROOT_OURS: it has no
 * other. The descriptor stays the caller's.
 */
void ap_symbolizer_set_root(struct ap_symbolizer *symbolizer, int root);

/* Sets who is asked for debug files that this system does not have; NULL: nobody. */
void ap_symbolizer_set_debuginfod(
	struct ap_symbolizer *symbolizer, struct ap_debuginfod *debuginfod);

/* Sets the names of code that is in no file; must live as long as the symbolizer; NULL: none. */
void ap_symbolizer_set_jit(struct ap_symbolizer *symbolizer, const struct ap_jit *jit);

/*
 * Sets the memory file with names that other processes of this recording have found (see
 * symbol_cache.h). It stays the caller's and must stay open. Without one only the cache on disk is
 * used. 0 or -ENOMEM.
 */
int ap_symbolizer_set_memory(struct ap_symbolizer *symbolizer, int memory);

/* Stores what has been found for the next symbolizer: in the memory file, and on disk. */
void ap_symbolizer_keep(struct ap_symbolizer *symbolizer);

/* How many addresses in files have been looked up, and how many of them were cached. */
struct ap_symbolizer_counts {
	uint32_t addresses, cached;
};

struct ap_symbolizer_counts ap_symbolizer_counts(const struct ap_symbolizer *symbolizer);

/*
 * The functions at an address, innermost inlined one first, at least one. `is_return`: the
 * address is a return address, so the call is before it. mapping NULL: in no known mapping.
 * Returns the number of symbols at *ret (valid until the next call), or -ENOMEM.
 *
 * The mapping's object, and its descriptor, must live as long as the symbolizer.
 *
 * Costs the reading of a file's symbol table on its first address that is not cached, of a
 * compilation unit's debug information on its first, and a hash look-up for an address seen before.
 */
int ap_symbolize(struct ap_symbolizer *symbolizer, const struct ap_mapping *mapping,
	uint64_t address, bool is_return, const struct ap_symbol **ret);

/* Adds a mapping to a profile; its index there, or -ENOMEM. */
int ap_symbolize_mapping(struct ap_profile *profile, const struct ap_mapping *mapping);

/*
 * ap_symbolize() into a profile: adds mapping, functions and location. The
 * location's index, or -ENOMEM.
 */
int ap_symbolize_location(struct ap_symbolizer *symbolizer, struct ap_profile *profile,
	const struct ap_mapping *mapping, uint64_t address, bool is_return);

#endif
