/* SPDX-License-Identifier: MIT */
/*
 * The names of functions with the namespaces and classes around them, for those that have no
 * linkage name: what has internal linkage, as all has that belongs to an anonymous namespace or is
 * made from a template for a local type. DIEs do not lead to their parents, so a unit is walked
 * once, into ranges of offsets.
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
	struct ap_scope_unit *units; /* that were needed so far */
	uint32_t unit_count, unit_room;
	struct ap_table by_unit;
	uint32_t scope_count; /* of all units, which is bounded */
	struct ap_intern names;
};

/*
 * "std::vector<int>::push_back" for a function or an inlined copy of one; NULL: it has no name.
 * Lives as long as the scopes. Of what is damaged some is missing. 0 or -ENOMEM.
 */
int ap_debug_scope_name(struct ap_debug_scopes *scopes, Dwarf_Die *function, const char **ret);

void ap_debug_scopes_clear(struct ap_debug_scopes *scopes);

#endif
