/* SPDX-License-Identifier: MIT */
/* All the DIEs below one, in the order of the file, in debug information that is not trusted. */
#ifndef ALLOCPROF_DIE_WALK_H
#define ALLOCPROF_DIE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

/*
 * Called for each DIE. Those directly below the top have depth 1. When it sets *descend, the
 * children of this DIE are visited next. 0, or a negative errno, which ends the walk.
 */
typedef int ap_die_visit_fn(void *context, Dwarf_Die *die, uint32_t depth, bool *descend);

/* 0, or the negative errno of a visit. What is damaged, or nested too deep, is left out. */
int ap_die_walk(const Dwarf_Die *top, ap_die_visit_fn *visit, void *context);

/*
 * The text of an attribute of the DIE, or of its abstract origin or
 * specification; NULL: it has none.
 */
const char *ap_die_string(Dwarf_Die *die, unsigned int attribute);

#endif
