// SPDX-License-Identifier: MIT
#include "preload.h"

#include <gelf.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "elf_file.h"
#include "own_file.h"

/* Chromium's table has 0.2 MB. */
#define SYMBOLS_SIZE_MAX (256U << 20)

int ap_preload_find(char path[PATH_MAX])
{
	static const char *const places[] = {"liballocprof.so", "../lib/liballocprof.so.0",
		"../lib/x86_64-linux-gnu/liballocprof.so.0"};

	return ap_own_file_find(path, places, sizeof(places) / sizeof(*places));
}

bool ap_preload_is_static(int program)
{
	struct ap_elf_file file;
	GElf_Phdr header;
	size_t count = 0;
	bool dynamic = false;

	if (program < 0 || ap_elf_file_open(&file, program))
		return false;
	if (elf_getphdrnum(file.elf, &count))
		count = 0;
	for (size_t i = 0; i < count && !dynamic; i++)
		dynamic = gelf_getphdr(file.elf, (int)i, &header) && header.p_type == PT_INTERP;
	ap_elf_file_close(&file);
	return !dynamic;
}

/*
 * Whether a table of dynamic symbols defines malloc. The program's is searched before those of all
 * libraries. A damaged table has none.
 */
static bool has_malloc(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && i <= INT_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (symbol.st_shndx != SHN_UNDEF && name && !strcmp(name, "malloc"))
			return true;
	}
	return false;
}

bool ap_preload_is_shadowed(int program)
{
	struct ap_elf_file file;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	bool found = false;

	if (program < 0 || ap_elf_file_open(&file, program))
		return false;
	while (!found && (section = elf_nextscn(file.elf, section)))
		found = gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
			header.sh_size <= SYMBOLS_SIZE_MAX &&
			has_malloc(file.elf, section, &header);
	ap_elf_file_close(&file);
	return found;
}

const char *ap_preload_obstacle(int program)
{
	struct stat status;

	if (program < 0 || fstat(program, &status))
		return NULL;
	if (status.st_mode & (S_ISUID | S_ISGID))
		return "setuid or setgid";
	return ap_preload_is_static(program) ? "static" : NULL;
}
