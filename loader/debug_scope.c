// SPDX-License-Identifier: MIT
#include "debug_scope.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "die_walk.h"
#include "interval.h"

/* Bounds for damaged or hostile files. A name beyond them is cut on its outer side. */
#define SCOPES_MAX (4u << 20)
#define PARTS_MAX  32
#define COPIES_MAX 16
#define NAME_SIZE  4096

struct ap_scope_unit {
	const Dwarf_CU *unit;
	Dwarf_Die *scopes;
	uint32_t count, room;
	struct ap_intervals offsets; /* value: index in scopes */
};

static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* ---- The scopes of a unit ---- */

struct walk {
	struct ap_debug_scopes *scopes;
	struct ap_scope_unit *unit;
	struct open { /* the scopes around the DIE that is visited */
		uint32_t scope, depth;
	} * open;
	uint32_t open_count, open_room;
};

/* Ends the open scopes that are not around the next DIE, which has this depth. */
static int scopes_close(struct walk *walk, uint32_t depth, Dwarf_Off here)
{
	while (walk->open_count && walk->open[walk->open_count - 1].depth >= depth) {
		const struct open *last = &walk->open[--walk->open_count];
		Dwarf_Off begin = dwarf_dieoffset(&walk->unit->scopes[last->scope]);
		int err = ap_intervals_add(
			&walk->unit->offsets, begin, here, last->depth, last->scope);

		if (err)
			return err;
	}
	return 0;
}

static int scope_visit(void *context, Dwarf_Die *die, uint32_t depth, bool *descend)
{
	struct walk *walk = context;
	struct ap_scope_unit *unit = walk->unit;
	int tag = dwarf_tag(die);
	int err = scopes_close(walk, depth, dwarf_dieoffset(die));

	/* Blocks may contain classes. */
	*descend = is_scope(tag) || tag == DW_TAG_lexical_block;
	if (err || !is_scope(tag) || !dwarf_haschildren(die) ||
		walk->scopes->scope_count == SCOPES_MAX)
		return err;
	if (ap_array_grow(
		    (void **)&unit->scopes, unit->count, &unit->room, sizeof(*unit->scopes)) ||
		ap_array_grow((void **)&walk->open, walk->open_count, &walk->open_room,
			sizeof(*walk->open)))
		return -ENOMEM;
	walk->scopes->scope_count++;
	walk->open[walk->open_count++] = (struct open){unit->count, depth};
	unit->scopes[unit->count++] = *die;
	return 0;
}

static int unit_walk(
	struct ap_debug_scopes *scopes, struct ap_scope_unit *unit, const Dwarf_Die *top)
{
	struct walk walk = {.scopes = scopes, .unit = unit};
	int err = ap_die_walk(top, scope_visit, &walk);

	if (!err)
		err = scopes_close(&walk, 0, UINT64_MAX);
	ap_intervals_sort(&unit->offsets);
	free(walk.open);
	return err;
}

static bool unit_equal(const void *array, uint32_t index, const void *key)
{
	return ((const struct ap_scope_unit *)array)[index].unit == key;
}

/* The unit of a DIE, which is walked when it is new. 0; -ENOENT: it is damaged; or -ENOMEM. */
static int unit_get(
	struct ap_debug_scopes *scopes, Dwarf_Die *die, const struct ap_scope_unit **ret)
{
	uint64_t hash = ap_hash_u64(0, (uintptr_t)die->cu);
	int64_t index = ap_table_find(&scopes->by_unit, hash, unit_equal, scopes->units, die->cu);
	struct ap_scope_unit fresh = {.unit = die->cu}, *unit;
	Dwarf_Die top;
	int err;

	if (index >= 0) {
		*ret = &scopes->units[index];
		return 0;
	}
	if (!dwarf_diecu(die, &top, NULL, NULL))
		return -ENOENT;
	index = ap_table_append(&scopes->by_unit, hash, (void **)&scopes->units,
		&scopes->unit_count, &scopes->unit_room, &fresh, sizeof(fresh));
	if (index < 0)
		return -ENOMEM;
	unit = &scopes->units[index];
	err = unit_walk(scopes, unit, &top);
	*ret = unit;
	return err;
}

/* ---- Names ---- */

/*
 * Moves from a copy or the definition of a function to its declaration, which is inside its class.
 */
static void declaration_find(Dwarf_Die *die)
{
	for (int i = 0; i < COPIES_MAX; i++) {
		Dwarf_Attribute found;
		Dwarf_Die next;

		if (!dwarf_attr(die, DW_AT_abstract_origin, &found) &&
			!dwarf_attr(die, DW_AT_specification, &found))
			return;
		if (!dwarf_formref_die(&found, &next))
			return;
		*die = next;
	}
}

/* Replaces the DIE by that of the scope around it. 0; -ENOENT: there is none, or -ENOMEM. */
static int scope_leave(struct ap_debug_scopes *scopes, Dwarf_Die *die)
{
	const struct ap_scope_unit *unit;
	Dwarf_Off at = dwarf_dieoffset(die);
	int err = unit_get(scopes, die, &unit);
	uint32_t found;

	if (err)
		return err;
	found = ap_intervals_find(&unit->offsets, at);
	if (found != AP_INTERVAL_NONE && unit->offsets.items[found].low == at)
		found = unit->offsets.items[found].outer;
	if (found == AP_INTERVAL_NONE)
		return -ENOENT;
	*die = unit->scopes[unit->offsets.items[found].value];
	return 0;
}

static const char *scope_name(Dwarf_Die *die)
{
	const char *name = ap_die_string(die, DW_AT_name);

	if (name)
		return name;
	return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
}

int ap_debug_scope_name(struct ap_debug_scopes *scopes, Dwarf_Die *function, const char **ret)
{
	const char *part[PARTS_MAX] = {ap_die_string(function, DW_AT_name)};
	char name[NAME_SIZE];
	size_t used = 0, count;
	Dwarf_Die die = *function;
	int err = 0;

	*ret = NULL;
	if (!part[0])
		return 0;
	for (count = 1; count < PARTS_MAX && !err; count += !err) {
		declaration_find(&die);
		err = scope_leave(scopes, &die);
		if (!err)
			part[count] = scope_name(&die);
	}
	if (err == -ENOMEM)
		return err;
	for (size_t i = count; i-- > 0;) {
		int length =
			snprintf(name + used, sizeof(name) - used, "%s%s", part[i], i ? "::" : "");

		/* Too long: the outer scopes are left out. */
		if (length < 0 || (size_t)length >= sizeof(name) - used)
			used = 0;
		else
			used += (size_t)length;
	}
	*ret = used ? ap_intern(&scopes->names, name, used) : part[0];
	return *ret ? 0 : -ENOMEM;
}

void ap_debug_scopes_clear(struct ap_debug_scopes *scopes)
{
	for (uint32_t i = 0; i < scopes->unit_count; i++) {
		free(scopes->units[i].scopes);
		ap_intervals_clear(&scopes->units[i].offsets);
	}
	free(scopes->units);
	ap_table_clear(&scopes->by_unit);
	ap_intern_clear(&scopes->names);
	*scopes = (struct ap_debug_scopes){0};
}
