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

#define AP_DEBUG_DIRECTORY "/usr/lib/debug"

struct ap_debuginfod;

/* The places in which debug files are looked for. */
struct ap_debug_places {
	const char *directory; /* of the system: AP_DEBUG_DIRECTORY, but for tests */
	int root; /* root of the target, searched before ours; AP_ROOT_OURS: no other */
	struct ap_debuginfod *debuginfod; /* NULL: none */
};

/*
 * Opens the debug file that belongs to a file: DIRECTORY/.build-id/ab/cdef.debug, or the file that
 * .gnu_debuglink names, beside `path`, in .debug beside it, or at its path under DIRECTORY; or,
 * when the file has no debug information of its own, what debuginfod has. For a target in a
 * container, all of it below the container's root first. A file is taken only if it has the same
 * build id, or, when there is none, the checksum of the link. build_id "" and path "" stand for
 * unknown ones. Returns a descriptor, which the caller closes, or -ENOENT.
 */
int ap_debug_file_open(const struct ap_elf_file *file, const char *build_id, const char *path,
	const struct ap_debug_places *places);

struct ap_dwarf {
	Dwarf *dwarf;  /* NULL: none */
	Dwarf *shared; /* the file of what dwz has moved out of several files; NULL: none */
	int shared_fd;
	char shared_build_id[AP_BUILD_ID_SIZE]; /* "": none; set also if it was not found */
};

/* The shared file of dwz with this build id. A descriptor, or -ENOENT. */
int ap_shared_file_open(const char *build_id, const struct ap_debug_places *places);

/*
 * Opens a file's debug information. libdw would open whatever path the file gives for dwz's shared
 * file; here that is looked up by its build id only. 0; -ENOENT when there is none, it is too
 * large, or the shared one is missing; -EBADMSG when it cannot be read. *dwarf is to be closed in
 * any case.
 */
int ap_dwarf_open(struct ap_dwarf *dwarf, const struct ap_elf_file *file,
	const struct ap_debug_places *places);
void ap_dwarf_close(struct ap_dwarf *dwarf); /* {0} is fine */

#endif
