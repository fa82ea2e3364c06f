/* SPDX-License-Identifier: MIT */
/*
 * Compiled unwind tables on disk, by build id: those of node take 0.2 s to compile and some ms to
 * read. See cache_file.h.
 *
 * A cached table is used only when it was made of the same bytes: it holds the sections' hash. One
 * that is damaged, or of another version of this format, is made again.
 */
#ifndef ALLOCPROF_TABLE_CACHE_H
#define ALLOCPROF_TABLE_CACHE_H

#include <stdint.h>

#include "cfi.h"
#include "mapping.h"

/*
 * Loads the table of a file with these sections and this extent (cfi_section.h). 0 and the table,
 * to be cleared; or a negative errno, when it has to be compiled.
 */
int ap_table_cache_load(struct ap_cfi *ret, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count, uint64_t base, uint64_t size);

/* 0, or a negative errno when it was not stored. */
int ap_table_cache_store(const struct ap_cfi *cfi, const struct ap_object *object,
	const struct ap_cfi_section *sections, int count);

#endif
