/* SPDX-License-Identifier: MIT */
#include "preload.h"

#include <gelf.h>
#include <stddef.h>
#include <sys/stat.h>

#include "elf_file.h"
#include "own_file.h"

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

const char *ap_preload_obstacle(int program)
{
	struct stat status;

	if (program < 0 || fstat(program, &status))
		return NULL;
	if (status.st_mode & (S_ISUID | S_ISGID))
		return "setuid or setgid";
	return ap_preload_is_static(program) ? "static" : NULL;
}
