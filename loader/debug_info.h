/* SPDX-License-Identifier: MIT */
/*
 * The functions, inlined functions and lines of an address, from DWARF. The tree of a compilation
 * unit is walked once, into ranges which are searched from then on; libdw's dwarf_getscopes() would
 * walk it anew for every address.
 */
#ifndef ALLOCPROF_DEBUG_INFO_H
#define ALLOCPROF_DEBUG_INFO_H

#include <stdint.h>
#include <elfutils/libdw.h>

struct ap_debug_info;

/* Strings live as long as both the Dwarf and the ap_debug_info; NULL where unknown. */
struct ap_debug_frame {
	const char *name;	  /* with its scope, where there is no linkage name */
	const char *linkage_name; /* mangled */
	const char *file;
	int64_t line;	    /* of the address, or of the call to the next inner frame */
	int64_t start_line; /* of the function */
};

/* Finds the compilation units. The Dwarf stays the caller's. NULL: out of memory. */
struct ap_debug_info *ap_debug_info_new(Dwarf *dwarf);
void ap_debug_info_free(struct ap_debug_info *info); /* NULL is fine */

/*
 * Fills frames[], innermost first, at most `room` of them. Returns their number, 0 when nothing is
 * known, or -ENOMEM. The last frame has no name when only its line is known.
 */
int ap_debug_info_find(
	struct ap_debug_info *info, uint64_t address, struct ap_debug_frame *frames, uint32_t room);

#endif
