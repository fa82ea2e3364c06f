/* SPDX-License-Identifier: MIT */
/*
 * Where the names of one mapped file come from: its own symbols and debug information, and those of
 * its separate debug file. It is opened first, which is cheap and tells from which files names
 * would be made, and read only when a name is wanted that is not cached.
 */
#ifndef ALLOCPROF_SYMBOL_FILE_H
#define ALLOCPROF_SYMBOL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "build_id.h"
#include "debug_file.h"
#include "elf_file.h"
#include "symtab.h"

struct ap_debug_info;
struct ap_object;

/* Which file it is, and in which state. */
struct ap_file_identity {
	uint64_t device, inode, file_system, size;
	int64_t modified_ns, changed_ns; /* the owner of a file cannot set changed_ns */
};

/* A build id and zeroes: the structs below have no padding, since they are compared as bytes. */
#define AP_SYMBOL_ID_SIZE (AP_BUILD_ID_SIZE + 7)

/*
 * Everything that the names of a file's addresses depend on, except the shared file of dwz: that is
 * only known after the debug information has been read, see ap_symbol_shared.
 */
struct ap_symbol_key {
	char build_id[AP_SYMBOL_ID_SIZE];
	char program[AP_SYMBOL_ID_SIZE]; /* this program's build id: versions may differ in names */
	struct ap_file_identity file, debug; /* debug {0}: it has none */
	uint64_t path_hash; /* hash of the file's name, which is part of made-up names */
};

/* The shared file of dwz. build_id "": there is none. file {0}: it was not found. */
struct ap_symbol_shared {
	char build_id[AP_SYMBOL_ID_SIZE];
	struct ap_file_identity file;
};

struct ap_symbol_file {
	const struct ap_object *object;
	struct ap_debug_places places;
	struct ap_elf_file elf;	  /* the mapped file; elf.elf NULL: none or damaged */
	struct ap_elf_file debug; /* its separate debug file, if there is one */
	int debug_fd;
	bool is_read;
	bool is_sure; /* no failure that might not happen the next time */
	struct ap_symtab symtab;
	struct ap_dwarf dwarf;
	struct ap_debug_info *info;
	struct ap_symbol_shared shared; /* that was read, or that the cached names were made from */
};

/*
 * The object, and what the places point to, must stay until it is closed. It is to be
 * closed in any case.
 */
void ap_symbol_file_open(struct ap_symbol_file *file, const struct ap_object *object,
	const struct ap_debug_places *places);
void ap_symbol_file_close(struct ap_symbol_file *file);

/* Reads the symbol tables and the list of compilation units, unless that was done. 0 or -ENOMEM. */
int ap_symbol_file_read(struct ap_symbol_file *file);

/*
 * The key under which its names are cached. 0, or a negative errno when they must not be cached:
 * they could not be told from those of another file.
 */
int ap_symbol_file_key(const struct ap_symbol_file *file, struct ap_symbol_key *ret);

/* Whether the shared file that cached names were made from is still the same. */
bool ap_symbol_file_shares(
	const struct ap_symbol_file *file, const struct ap_symbol_shared *shared);

#endif
