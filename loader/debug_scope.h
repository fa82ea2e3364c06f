/* SPDX-License-Identifier: MIT */
/*
 * The names of functions with the namespaces and classes around them, for functions without a
 * linkage name. Those have internal linkage: everything in an anonymous namespace, and
 * templates for a local type. A DIE does not lead to its parent, so each unit is walked once,
 * into ranges of offsets.
 */
#ifndef ALLOCPROF_DEBUG_SCOPE_H
#define ALLOCPROF_DEBUG_SCOPE_H

#include <stdint.h>
#include <elfutils/libdw.h>

#include "intern.h"
#include "table.h"

struct ap_scope_unit;

/* Starts as {0}. */
struct ap_debug_scopes {
	struct ap_scope_unit *units; /* those that were needed so far */
	uint32_t unit_count, unit_room;
	struct ap_table by_unit;
	uint32_t scope_count; /* of all units together, to bound it */
	struct ap_intern names;
};

/*
 * "std::vector<int>::push_back" for a function or an inlined copy of one; NULL: it has no name. The
 * string lives as long as the scopes. In damaged debug information some scopes may be missing from
 * it. 0 and *ret, or -ENOMEM.
 */
int ap_debug_scope_name(struct ap_debug_scopes *scopes, Dwarf_Die *function, const char **ret);

void ap_debug_scopes_clear(struct ap_debug_scopes *scopes);

#endif
