/* SPDX-License-Identifier: MIT */
/* The sections of a file that hold call frame information, and the code that they are about. */
#ifndef ALLOCPROF_CFI_SECTION_H
#define ALLOCPROF_CFI_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

/* A section of call frame information, in memory: libelf's, as long as its file is open. */
struct ap_cfi_section {
	void *bytes;
	size_t size;
	uint64_t address; /* of its first byte, as linked */
	int is_eh_frame;  /* not .debug_frame */
};

/*
 * Finds the sections of a file; it may have both, each for a part of its code. Returns their
 * number; -ENOENT: it has none; -E2BIG: one is too large; -ENOEXEC: the file is damaged.
 */
#define AP_CFI_SECTIONS 2
int ap_cfi_sections_find(
	struct ap_cfi_section ret[AP_CFI_SECTIONS], const struct ap_elf_file *file);

/*
 * The extent of a file's executable segments, from *base (as linked) on, *size bytes: what its
 * table has to cover. 0; -ENOENT: it has no code; -E2BIG: too much.
 */
int ap_cfi_extent(const struct ap_elf_file *file, uint64_t *base, uint64_t *size);

#endif
