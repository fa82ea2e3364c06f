/* SPDX-License-Identifier: MIT */
/*
 * An ELF file that is not trusted, opened with libelf on a descriptor. It is read, not mapped: a
 * target that cuts a mapped file short would kill us with SIGBUS.
 */
#ifndef ALLOCPROF_ELF_FILE_H
#define ALLOCPROF_ELF_FILE_H

#include <stdint.h>
#include <libelf.h>

struct ap_elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* as linked: code is looked up by this address everywhere else */
};

struct ap_elf_file {
	Elf *elf;
	struct ap_elf_segment *segments; /* PT_LOAD */
	uint32_t segment_count;
};

/*
 * 0; -ENOEXEC when it is no ELF file or its headers are damaged, -ENOMEM. The descriptor stays
 * the caller's and must stay open until ap_elf_file_close().
 */
int ap_elf_file_open(struct ap_elf_file *file, int fd);
void ap_elf_file_close(struct ap_elf_file *file); /* {0} is fine */

/*
 * The address, as linked, of the byte at this file offset. 0 and *ret, or -ENOENT: it is in no
 * segment that is loaded.
 */
int ap_elf_file_address(const struct ap_elf_file *file, uint64_t offset, uint64_t *ret);

/* The sum of the sizes, after decompression, of the sections whose names begin with the prefix. */
uint64_t ap_elf_file_section_bytes(const struct ap_elf_file *file, const char *prefix);

#endif
