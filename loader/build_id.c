// SPDX-License-Identifier: MIT
#include "build_id.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Notes of real files take some hundred bytes, with many probes some ten thousand. */
#define NOTES_MAX   (1 << 20)
#define HEADERS_MAX 65536

bool ap_build_id_format(char out[AP_BUILD_ID_SIZE], const void *id, size_t length)
{
	const unsigned char *byte = id;

	out[0] = '\0';
	if (!length || length > AP_BUILD_ID_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		snprintf(out + 2 * i, 3, "%02x", byte[i]);
	return true;
}

static bool notes_find(Elf_Data *notes, char out[AP_BUILD_ID_SIZE])
{
	size_t next = 0, name, description;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, next, &note, &name, &description))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
			memcmp((char *)notes->d_buf + name, "GNU", sizeof("GNU")))
			continue;
		if (ap_build_id_format(out, (char *)notes->d_buf + description, note.n_descsz))
			return true;
	}
	return false;
}

static bool segments_find(Elf *elf, char out[AP_BUILD_ID_SIZE])
{
	size_t headers = 0;

	if (elf_getphdrnum(elf, &headers))
		return false;
	for (size_t i = 0; i < headers && i < HEADERS_MAX; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type != PT_NOTE || header.p_filesz > NOTES_MAX)
			continue;
		if (notes_find(elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
				       header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			    out))
			return true;
	}
	return false;
}

/*
 * Looks in the sections, for separate debug files: their program headers are those of the stripped
 * file, and lead nowhere.
 */
static bool sections_find(Elf *elf, char out[AP_BUILD_ID_SIZE])
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
			header.sh_size <= NOTES_MAX && notes_find(elf_getdata(section, NULL), out))
			return true;
	}
	return false;
}

int ap_build_id_read(int fd, char out[AP_BUILD_ID_SIZE])
{
	char byte;
	Elf *elf;

	out[0] = '\0';
	if (pread(fd, &byte, 1, 0) < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !segments_find(elf, out))
		sections_find(elf, out);
	elf_end(elf);
	return 0;
}
