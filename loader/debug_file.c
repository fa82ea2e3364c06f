// SPDX-License-Identifier: MIT
#include "debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <elfutils/libdwelf.h>

#include "build_id.h"
#include "debuginfod.h"
#include "regular_file.h"

/* libdw reads all sections into memory at once. */
#define DEBUG_BYTES_MAX ((uint64_t)2 << 30)
#define FILE_BYTES_MAX	((off_t)4 << 30)

/* What proves that a debug file belongs to another file. */
struct proof {
	const char *build_id; /* "" unknown */
	uint32_t checksum;    /* if the build id is "": the checksum */
};

static bool has_build_id(int fd, const char *build_id)
{
	char other[AP_BUILD_ID_SIZE];

	return ap_build_id_read(fd, other) == 0 && strcmp(other, build_id) == 0;
}

static bool has_checksum(int fd, uint32_t checksum)
{
	unsigned char piece[65536];
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t length;

	while ((length = pread(fd, piece, sizeof(piece), at)) > 0) {
		sum = crc32(sum, piece, (uInt)length);
		at += length;
	}
	return length == 0 && sum == checksum;
}

/*
 * Opens a file at a path in the target's root, or else in ours, if it is proven to be the right
 * one. A descriptor, or -ENOENT.
 */
static int proven_open(
	const struct ap_debug_places *places, const char *path, const struct proof *proof)
{
	const int roots[] = {AP_ROOT_OURS, places->root};
	struct stat status;

	for (int i = places->root != AP_ROOT_OURS; i >= 0; i--) {
		int fd = ap_regular_open(roots[i], path, true, &status);

		if (fd < 0)
			continue;
		if (status.st_size <= FILE_BYTES_MAX &&
			(*proof->build_id ? has_build_id(fd, proof->build_id)
					  : has_checksum(fd, proof->checksum)))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int build_id_open(const struct ap_debug_places *places, const char *build_id)
{
	struct proof proof = {.build_id = build_id};
	char path[PATH_MAX];

	if (strlen(build_id) < 3 || snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug",
					    places->directory, build_id, build_id + 2) >= PATH_MAX)
		return -ENOENT;
	return proven_open(places, path, &proof);
}

static int link_open(const struct ap_elf_file *file, const char *build_id, const char *path,
	const struct ap_debug_places *places)
{
	struct proof proof = {.build_id = build_id};
	const char *name = dwelf_elf_gnu_debuglink(file->elf, &proof.checksum);
	const char *slash = strrchr(path, '/');
	const struct {
		const char *before, *between;
	} around[] = {{"", ""}, {"", ".debug/"}, {places->directory, ""}};

	if (!name || !*name || strchr(name, '/') || *path != '/' || strstr(path, "/../"))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
		char candidate[PATH_MAX];
		int fd;

		if (snprintf(candidate, sizeof(candidate), "%s%.*s/%s%s", around[i].before,
			    (int)(slash - path), path, around[i].between, name) >= PATH_MAX)
			continue;
		fd = proven_open(places, candidate, &proof);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

/* What a server sends has to be proven like a file on the disk. */
static int fetched_open(
	const struct ap_debug_places *places, const char *build_id, const char *name)
{
	int fd;

	if (!places->debuginfod || !*build_id)
		return -ENOENT;
	fd = ap_debuginfod_open(places->debuginfod, build_id, name);
	if (fd >= 0 && !has_build_id(fd, build_id)) {
		close(fd);
		return -ENOENT;
	}
	return fd >= 0 ? fd : -ENOENT;
}

int ap_debug_file_open(const struct ap_elf_file *file, const char *build_id, const char *path,
	const struct ap_debug_places *places)
{
	int fd = build_id_open(places, build_id);

	if (fd < 0)
		fd = link_open(file, build_id, path, places);
	/* The vDSO has no path, and few functions. */
	if (fd < 0 && *path == '/' && !ap_elf_file_section_bytes(file, ".debug_info"))
		fd = fetched_open(places, build_id, path);
	return fd;
}

/* The build id of the shared file as hex, if one is named; true also when it is damaged. */
static bool shared_named(Dwarf *dwarf, char build_id[AP_BUILD_ID_SIZE])
{
	const char *name;
	const void *id;
	ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	ap_build_id_format(build_id, id, length > 0 ? (size_t)length : 0);
	return length != 0;
}

int ap_shared_file_open(const char *build_id, const struct ap_debug_places *places)
{
	int fd = build_id_open(places, build_id);

	return fd >= 0 ? fd : fetched_open(places, build_id, "shared debug information");
}

int ap_dwarf_open(struct ap_dwarf *dwarf, const struct ap_elf_file *file,
	const struct ap_debug_places *places)
{
	uint64_t bytes = ap_elf_file_section_bytes(file, ".debug_");

	*dwarf = (struct ap_dwarf){.shared_fd = -1};
	if (!bytes || bytes > DEBUG_BYTES_MAX)
		return -ENOENT;
	dwarf->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf)
		return -EBADMSG;
	if (!shared_named(dwarf->dwarf, dwarf->shared_build_id))
		return 0;
	dwarf->shared_fd = ap_shared_file_open(dwarf->shared_build_id, places);
	if (dwarf->shared_fd < 0)
		return -ENOENT;
	dwarf->shared = dwarf_begin(dwarf->shared_fd, DWARF_C_READ);
	if (!dwarf->shared)
		return -EBADMSG;
	dwarf_setalt(dwarf->dwarf, dwarf->shared);
	return 0;
}

void ap_dwarf_close(struct ap_dwarf *dwarf)
{
	dwarf_end(dwarf->dwarf);
	dwarf_end(dwarf->shared);
	if (dwarf->shared_fd >= 0)
		close(dwarf->shared_fd);
	*dwarf = (struct ap_dwarf){.shared_fd = -1};
}
