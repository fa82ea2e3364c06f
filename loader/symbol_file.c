// SPDX-License-Identifier: MIT
#include "symbol_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"
#include "debug_info.h"
#include "error.h"
#include "mapping.h"
#include "table.h"

void ap_symbol_file_open(struct ap_symbol_file *file, const struct ap_object *object,
	const struct ap_debug_places *places)
{
	*file = (struct ap_symbol_file){
		.object = object,
		.places = *places,
		.debug_fd = -1,
		.dwarf = {.shared_fd = -1},
	};
	if (object->fd < 0 || ap_elf_file_open(&file->elf, object->fd))
		return;
	file->debug_fd = ap_debug_file_open(&file->elf, object->build_id, object->path, places);
}

void ap_symbol_file_close(struct ap_symbol_file *file)
{
	ap_debug_info_free(file->info);
	ap_dwarf_close(&file->dwarf);
	ap_symtab_clear(&file->symtab);
	ap_elf_file_close(&file->debug);
	ap_elf_file_close(&file->elf);
	if (file->debug_fd >= 0)
		close(file->debug_fd);
}

/* ---- Which files ---- */

static int identity_get(int fd, struct ap_file_identity *ret)
{
	struct statfs system;
	struct stat status;

	if (fstat(fd, &status) || fstatfs(fd, &system))
		return ap_errno();
	*ret = (struct ap_file_identity){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = (uint64_t)status.st_size,
		.modified_ns = ap_timespec_ns(status.st_mtim),
		.changed_ns = ap_timespec_ns(status.st_ctim),
	};
	memcpy(&ret->file_system, &system.f_fsid, sizeof(system.f_fsid));
	return 0;
}

static void build_id_copy(char to[AP_SYMBOL_ID_SIZE], const char *from)
{
	memcpy(to, from, strnlen(from, AP_BUILD_ID_SIZE - 1));
}

/* ---- Read ---- */

static int debug_read(struct ap_symbol_file *file)
{
	const struct ap_elf_file *from = &file->elf;
	int err;

	if (file->debug_fd >= 0) {
		err = ap_elf_file_open(&file->debug, file->debug_fd);
		if (!err)
			err = ap_symtab_add(&file->symtab, &file->debug);
		if (err == -ENOMEM)
			return err;
		if (file->debug.elf && ap_elf_file_section_bytes(&file->debug, ".debug_info"))
			from = &file->debug;
	}
	err = ap_dwarf_open(&file->dwarf, from, &file->places);
	file->is_sure = !err || err == -ENOENT;
	build_id_copy(file->shared.build_id, file->dwarf.shared_build_id);
	if (file->dwarf.shared_fd >= 0)
		identity_get(file->dwarf.shared_fd, &file->shared.file);
	if (err)
		return 0;
	file->info = ap_debug_info_new(file->dwarf.dwarf);
	return file->info ? 0 : -ENOMEM;
}

int ap_symbol_file_read(struct ap_symbol_file *file)
{
	int err;

	if (file->is_read || !file->elf.elf)
		return 0;
	file->is_read = true;
	err = ap_symtab_add(&file->symtab, &file->elf);
	if (!err)
		err = debug_read(file);
	ap_symtab_sort(&file->symtab);
	return err;
}

static void program_build_id(char to[AP_SYMBOL_ID_SIZE])
{
	static char known[AP_BUILD_ID_SIZE];
	int fd;

	if (!*known) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		ap_build_id_read(fd, known);
		close(fd);
	}
	build_id_copy(to, known);
}

int ap_symbol_file_key(const struct ap_symbol_file *file, struct ap_symbol_key *ret)
{
	const char *path = file->object->path, *base = strrchr(path, '/');
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!file->elf.elf)
		return -ENOEXEC;
	err = identity_get(file->object->fd, &ret->file);
	if (!err && file->debug_fd >= 0)
		err = identity_get(file->debug_fd, &ret->debug);
	if (err)
		return err;
	build_id_copy(ret->build_id, file->object->build_id);
	program_build_id(ret->program);
	base = base ? base + 1 : path;
	ret->path_hash = ap_hash(0, base, strlen(base));
	return *ret->program ? 0 : -ENOENT;
}

bool ap_symbol_file_shares(const struct ap_symbol_file *file, const struct ap_symbol_shared *shared)
{
	struct ap_file_identity found = {0};
	int fd;

	if (!*shared->build_id)
		return true;
	fd = ap_shared_file_open(shared->build_id, &file->places);
	if (fd >= 0) {
		identity_get(fd, &found);
		close(fd);
	}
	return !memcmp(&found, &shared->file, sizeof(found));
}
