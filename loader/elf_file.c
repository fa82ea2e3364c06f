// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* Linkers make four to ten loadable segments. */
#define SEGMENTS_MAX 1024

#define PAGE_SIZE 4096

int ap_elf_file_open(struct ap_elf_file *file, int fd)
{
	size_t headers = 0;

	*file = (struct ap_elf_file){0};
	elf_version(EV_CURRENT);
	file->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || elf_getphdrnum(file->elf, &headers)) {
		ap_elf_file_close(file);
		return -ENOEXEC;
	}
	if (headers > SEGMENTS_MAX)
		headers = SEGMENTS_MAX;
	file->segments = calloc(headers + 1, sizeof(*file->segments));
	if (!file->segments) {
		ap_elf_file_close(file);
		return -ENOMEM;
	}
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header))
			break;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		file->segments[file->segment_count++] = (struct ap_elf_segment){
			.offset = header.p_offset,
			.size = header.p_filesz,
			.address = header.p_vaddr,
		};
	}
	return 0;
}

void ap_elf_file_close(struct ap_elf_file *file)
{
	elf_end(file->elf);
	free(file->segments);
	*file = (struct ap_elf_file){0};
}

int ap_elf_file_address(const struct ap_elf_file *file, uint64_t offset, uint64_t *ret)
{
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct ap_elf_segment *segment = &file->segments[i];
		/* Whole pages are mapped, so code may be found a little before and after. */
		uint64_t before = segment->offset % PAGE_SIZE;

		if (offset - (segment->offset - before) >= before + segment->size)
			continue;
		*ret = offset - segment->offset + segment->address;
		return 0;
	}
	return -ENOENT;
}

uint64_t ap_elf_file_section_bytes(const struct ap_elf_file *file, const char *prefix)
{
	size_t length = strlen(prefix), names;
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;

	if (elf_getshdrstrndx(file->elf, &names))
		return 0;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		GElf_Chdr compressed;
		const char *name;
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(file->elf, names, header.sh_name);
		if (!name || strncmp(name, prefix, length))
			continue;
		size = header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compressed))
			size = compressed.ch_size;
		if (__builtin_add_overflow(bytes, size, &bytes))
			return UINT64_MAX;
	}
	return bytes;
}
