/* SPDX-License-Identifier: MIT */
/* The functions of an ELF file by address, from its symbol tables. */
#ifndef ALLOCPROF_SYMTAB_H
#define ALLOCPROF_SYMTAB_H

#include <stdint.h>

struct ap_elf_file;

struct ap_elf_symbol {
	uint64_t start, end; /* addresses as in the file */
	const char *name;    /* the file's: lives as long as it is open */
	uint32_t rank;	     /* of several at one address, the lowest gives the name */
};

struct ap_symtab {
	struct ap_elf_symbol *symbols; /* by address */
	uint32_t count, room;
};

/*
 * Adds what a file's .symtab and .dynsym hold (either may be missing, or empty as in a debug file).
 * Damaged entries are left out. 0 or -ENOMEM. After the last file, and before the first
 * ap_symtab_find(), the table must be sorted.
 */
int ap_symtab_add(struct ap_symtab *table, const struct ap_elf_file *file);
void ap_symtab_sort(struct ap_symtab *table);

/* The function that holds the address, or NULL. */
const struct ap_elf_symbol *ap_symtab_find(const struct ap_symtab *table, uint64_t address);

void ap_symtab_clear(struct ap_symtab *table);

#endif
