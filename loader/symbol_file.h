/* SPDX-License-Identifier: MIT */
/*
 * Where the names of one mapped file come from: its own symbols and debug information, and those of
 * its separate debug file. Opened first, which costs little and tells what they would be made from;
 * read when somebody wants one that is not cached.
 */
#ifndef ALLOCPROF_SYMBOL_FILE_H
#define ALLOCPROF_SYMBOL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "build_id.h"
#include "debug_file.h"
#include "debug_info.h"
#include "elf_file.h"
#include "symtab.h"

struct ap_object;

/* Which file it is, and in which state. */
struct ap_file_identity {
	uint64_t device, inode, file_system, size;
	int64_t modified_ns, changed_ns; /* whoever owns it cannot set the second */
};

/* A build id and zeroes: the structs below have no padding, since they are compared as bytes. */
#define AP_SYMBOL_ID_SIZE (AP_BUILD_ID_SIZE + 7)

/*
 * All that decides which names a file's addresses have. The file that dwz shares between several is
 * named by the debug information, and so known after it has been read: see ap_symbol_shared.
 */
struct ap_symbol_key {
	char build_id[AP_SYMBOL_ID_SIZE];
	char program[AP_SYMBOL_ID_SIZE];     /* ours: the next version may name them otherwise */
	struct ap_file_identity file, debug; /* debug {0}: it has none */
	uint64_t path_hash;		     /* of its last part, which is in made up names */
};

/* build_id "": there is none. file {0}: it was not found. */
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
	bool is_sure; /* nothing has failed that may succeed the next time */
	struct ap_symtab symtab;
	struct ap_dwarf dwarf;
	struct ap_debug_info *info;
	struct ap_symbol_shared shared; /* of what has been read, or of what was cached instead */
};

/* The object, and what the places lead to, must stay. To be closed in any case. */
void ap_symbol_file_open(struct ap_symbol_file *file, const struct ap_object *object,
	const struct ap_debug_places *places);
void ap_symbol_file_close(struct ap_symbol_file *file);

/* Once: symbol tables, and the list of compilation units. 0 or -ENOMEM. */
int ap_symbol_file_read(struct ap_symbol_file *file);

/* 0, or a negative errno: its names cannot be told from those of another file. */
int ap_symbol_file_key(const struct ap_symbol_file *file, struct ap_symbol_key *ret);

/* Whether another time's shared file is the one that there is now. */
bool ap_symbol_file_shares(
	const struct ap_symbol_file *file, const struct ap_symbol_shared *shared);

#endif
