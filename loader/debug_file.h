/* SPDX-License-Identifier: MIT */
/*
 * Separate debug files, as distributions ship them: found by build id or by .gnu_debuglink, or
 * fetched by build id.
 */
#ifndef ALLOCPROF_DEBUG_FILE_H
#define ALLOCPROF_DEBUG_FILE_H

#include <elfutils/libdw.h>

#include "build_id.h"
#include "elf_file.h"
#include "regular_file.h"

#define AP_DEBUG_DIRECTORY "/usr/lib/debug"

struct ap_debuginfod;

/* Where debug files are looked for. */
struct ap_debug_places {
	const char *directory;		  /* the system's */
	int root;			  /* of the target, before ours; AP_ROOT_OURS */
	struct ap_debuginfod *debuginfod; /* NULL: none */
};

/*
 * Opens the debug file that belongs to a file: DIRECTORY/.build-id/ab/cdef.debug, or the file
 * that .gnu_debuglink names, beside `path`, in .debug beside it, or at its path under DIRECTORY;
 * or, when the file has no debug information of its own, what debuginfod has. In a container that
 * is meant of its own root first. One that is not proven by the same build id, or for want of one
 * by the checksum, is not taken. build_id "" and path "" are unknown. A descriptor, or -ENOENT.
 */
int ap_debug_file_open(const struct ap_elf_file *file, const char *build_id, const char *path,
	const struct ap_debug_places *places);

struct ap_dwarf {
	Dwarf *dwarf;  /* NULL: none */
	Dwarf *shared; /* what dwz took out of several files; NULL: none */
	int shared_fd;
	char shared_build_id[AP_BUILD_ID_SIZE]; /* ""; also of one that was not found */
};

/* The file with this build id that dwz has taken out of several. A descriptor, or -ENOENT. */
int ap_shared_file_open(const char *build_id, const struct ap_debug_places *places);

/*
 * Opens a file's debug information. libdw would open any path that the file names as the shared
 * one; here it is taken by build id alone. 0; -ENOENT when there is none, it is too large, or the
 * shared one is missing; -EBADMSG when it cannot be read. *dwarf is to be closed in any case.
 */
int ap_dwarf_open(struct ap_dwarf *dwarf, const struct ap_elf_file *file,
	const struct ap_debug_places *places);
void ap_dwarf_close(struct ap_dwarf *dwarf); /* {0} is fine */

#endif
