// SPDX-License-Identifier: MIT
#include "cfi_section.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

#include <allocprof/machine.h>

/* Chromium's has 30 MB. */
#define SECTION_MAX (256U << 20)

static int section_copy(struct ap_cfi_section *ret, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data;

	/*
	 * An empty section counts as none: gcc makes one next to .debug_frame when it makes no
	 * unwind tables.
	 */
	if (header->sh_type == SHT_NOBITS || !header->sh_size)
		return -ENOENT;
	if (header->sh_size > SECTION_MAX)
		return -E2BIG;
	if (header->sh_flags & SHF_COMPRESSED) {
		GElf_Chdr compressed;

		if (!gelf_getchdr(section, &compressed))
			return -ENOEXEC;
		if (compressed.ch_size > SECTION_MAX)
			return -E2BIG;
		if (elf_compress(section, 0, 0) < 0)
			return -ENOEXEC;
	}
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || !data->d_size || data->d_size > SECTION_MAX)
		return -ENOEXEC;
	ret->bytes = data->d_buf;
	ret->size = data->d_size;
	ret->address = header->sh_addr;
	return 0;
}

/*
 * For a file without section headers: finds .eh_frame as exception handling does, by
 * PT_GNU_EH_FRAME.
 */
static int segment_copy(struct ap_cfi_section *ret, const struct ap_elf_file *file)
{
	GElf_Phdr header, found = {0}, holder = {0};
	size_t count = 0;
	Elf_Data *data;
	uint64_t address;

	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count && i < 1024; i++)
		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME)
			found = header;
	if (!found.p_filesz)
		return -ENOENT;
	data = elf_getdata_rawchunk(file->elf, (int64_t)found.p_offset, 8, ELF_T_BYTE);
	/* Version 1, and the pointer to .eh_frame as all linkers write it. */
	if (!data || ((uint8_t *)data->d_buf)[0] != 1 ||
		((uint8_t *)data->d_buf)[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		return -ENOENT;
	address = found.p_vaddr + 4 + (uint64_t)(int64_t) * (int32_t *)((uint8_t *)data->d_buf + 4);
	for (size_t i = 0; i < count && i < 1024; i++)
		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD &&
			address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
			holder = header;
	if (!holder.p_filesz)
		return -ENOENT;
	ret->address = address;
	ret->size = holder.p_filesz - (address - holder.p_vaddr);
	if (ret->size > SECTION_MAX)
		return -E2BIG;
	data = elf_getdata_rawchunk(file->elf,
		(int64_t)(holder.p_offset + (address - holder.p_vaddr)), ret->size, ELF_T_BYTE);
	if (!data || !data->d_buf)
		return -ENOEXEC;
	ret->bytes = data->d_buf;
	return 0;
}

static int section_find(
	struct ap_cfi_section *ret, const struct ap_elf_file *file, const char *named)
{
	Elf_Scn *section = NULL;
	size_t strings = 0;

	*ret = (struct ap_cfi_section){0};
	if (elf_getshdrstrndx(file->elf, &strings) || !strings)
		return -ENOENT;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(file->elf, strings, header.sh_name);
		if (name && !strcmp(name, named))
			return section_copy(ret, section, &header);
	}
	return -ENOENT;
}

int ap_cfi_sections_find(struct ap_cfi_section ret[AP_CFI_SECTIONS], const struct ap_elf_file *file)
{
	int err, count = 0;
	GElf_Ehdr elf;

	if (!gelf_getehdr(file->elf, &elf) || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
		elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_machine != AP_ELF_MACHINE)
		return -ENOEXEC;
	err = section_find(ret, file, ".eh_frame");
	if (err == -ENOENT)
		err = segment_copy(ret, file);
	if (!err)
		ret[count++].is_eh_frame = 1;
	else if (err != -ENOENT)
		return err;
	/*
	 * Not Go's .debug_frame: of its assembly, which changes the stack to call C, it says that
	 * the stack stays the same. Go's code keeps frame pointers instead. A .debug_frame that
	 * cannot be read only leaves the code without .eh_frame without a table.
	 */
	if (section_find(&ret[count], file, ".note.go.buildid") == -ENOENT &&
		!section_find(&ret[count], file, ".debug_frame"))
		count++;
	return count ? count : -ENOENT;
}

int ap_cfi_extent(const struct ap_elf_file *file, uint64_t *base, uint64_t *size)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct ap_elf_segment *segment = &file->segments[i];
		uint64_t end;

		if (__builtin_add_overflow(segment->address, segment->size, &end))
			return -E2BIG;
		from = segment->address < from ? segment->address : from;
		to = end > to ? end : to;
	}
	if (from >= to)
		return -ENOENT;
	/* Whole pages are mapped. */
	*base = from & ~4095ULL;
	*size = to - *base;
	return *size > UINT32_MAX ? -E2BIG : 0;
}
