// SPDX-License-Identifier: MIT
#include "die_walk.h"

#define DEPTH_MAX 256

/*
 * Moves to the next sibling of a DIE, which must be at a higher offset: a hostile file could lead
 * in a circle.
 */
static bool die_next(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
		return false;
	*die = next;
	return true;
}

int ap_die_walk(const Dwarf_Die *top, ap_die_visit_fn *visit, void *context)
{
	Dwarf_Die path[DEPTH_MAX] = {*top};
	uint32_t depth = 1;

	if (dwarf_child(&path[0], &path[1]))
		return 0;
	while (depth) {
		bool descend = false;
		int err = visit(context, &path[depth], depth, &descend);

		if (err)
			return err;
		if (descend && depth + 1 < DEPTH_MAX &&
			dwarf_child(&path[depth], &path[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (depth && !die_next(&path[depth]))
			depth--;
	}
	return 0;
}

const char *ap_die_string(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));

	/* In a damaged file it may be empty. */
	return text && *text ? text : NULL;
}
