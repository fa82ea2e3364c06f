/* SPDX-License-Identifier: MIT */
#include "preload.h"

#include <gelf.h>
#include <stdbool.h>
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

/* Whether the program has a dynamic linker; also when that cannot be told. */
static bool is_dynamic(int fd)
{
	struct ap_elf_file file;
	GElf_Phdr header;
	size_t count = 0;
	bool found = false;

	if (ap_elf_file_open(&file, fd))
		return true;
	if (elf_getphdrnum(file.elf, &count))
		count = 0;
	for (size_t i = 0; i < count && !found; i++)
		found = gelf_getphdr(file.elf, (int)i, &header) && header.p_type == PT_INTERP;
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
	return is_dynamic(program) ? NULL : "static";
}
