// SPDX-License-Identifier: MIT
#include "debug_info.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "debug_scope.h"
#include "die_walk.h"
#include "interval.h"
#include "table.h"

/* Bounds for damaged or hostile files; a very large unit has a million ranges, nested 30 deep. */
#define RANGES_MAX     (16u << 20)
#define DIE_RANGES_MAX 65536

struct unit {
	Dwarf_Off die;
	bool walked;
	struct ap_intervals scopes; /* value: offset of the DIE */
};

struct ap_debug_info {
	Dwarf *dwarf;
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct ap_intervals ranges; /* value: index of the unit */
	uint32_t budget;	    /* how many ranges may still be added, in all units */
	struct ap_debug_scopes scopes;
};

static int ranges_add(struct ap_debug_info *info, struct ap_intervals *to, Dwarf_Die *die,
	uint32_t depth, uint64_t value, bool *ret_any)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t next = 0;

	*ret_any = false;
	for (uint32_t i = 0; i < DIE_RANGES_MAX && info->budget; i++) {
		int err;

		next = dwarf_ranges(die, next, &base, &start, &end);
		if (next <= 0)
			return 0;
		*ret_any = true;
		/* Linkers put 0 or 1 where they have dropped the code. */
		if (start <= 1)
			continue;
		info->budget--;
		err = ap_intervals_add(to, start, end, depth, value);
		if (err)
			return err;
	}
	return 0;
}

static int unit_add(struct ap_debug_info *info, Dwarf_Die *die)
{
	bool any;

	if (ap_array_grow((void **)&info->units, info->unit_count, &info->unit_room,
		    sizeof(*info->units)))
		return -ENOMEM;
	info->units[info->unit_count] = (struct unit){.die = dwarf_dieoffset(die)};
	return ranges_add(info, &info->ranges, die, 0, info->unit_count++, &any);
}

struct ap_debug_info *ap_debug_info_new(Dwarf *dwarf)
{
	struct ap_debug_info *info = calloc(1, sizeof(*info));
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;

	if (!info)
		return NULL;
	info->dwarf = dwarf;
	info->budget = RANGES_MAX;
	/*
	 * When it is given no place for the split unit's DIE, libdw does not
	 * look for the .dwo file.
	 */
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (unit_add(info, &die)) {
			ap_debug_info_free(info);
			return NULL;
		}
	}
	ap_intervals_sort(&info->ranges);
	return info;
}

void ap_debug_info_free(struct ap_debug_info *info)
{
	if (!info)
		return;
	for (uint32_t i = 0; i < info->unit_count; i++)
		ap_intervals_clear(&info->units[i].scopes);
	free(info->units);
	ap_intervals_clear(&info->ranges);
	ap_debug_scopes_clear(&info->scopes);
	free(info);
}

struct walk {
	struct ap_debug_info *info;
	struct unit *unit;
};

/* Adds the ranges of a DIE that is a function; sets *descend when there may be more inside. */
static int die_visit(void *context, Dwarf_Die *die, uint32_t depth, bool *descend)
{
	struct walk *walk = context;
	bool any;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		/*
		 * Also when it has no code itself: an abstract function, of which there are inlined
		 * copies, has the classes of its lambdas in it, and these have functions.
		 */
		*descend = true;
		return ranges_add(
			walk->info, &walk->unit->scopes, die, depth, dwarf_dieoffset(die), &any);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*descend = true;
		return 0;
	default:
		return 0;
	}
}

static int unit_walk(struct ap_debug_info *info, struct unit *unit)
{
	struct walk walk = {info, unit};
	Dwarf_Die top;
	int err;

	unit->walked = true;
	if (!dwarf_offdie(info->dwarf, unit->die, &top))
		return 0;
	err = ap_die_walk(&top, die_visit, &walk);
	ap_intervals_sort(&unit->scopes);
	return err;
}

/*
 * The number in an attribute of the DIE, or of its abstract origin or specification;
 * 0 when it has none.
 */
static int64_t die_number(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &found), &number) ||
		number > INT32_MAX)
		return 0;
	return (int64_t)number;
}

/* The file that an attribute names by its number in the unit's line table. */
static const char *die_file(Dwarf_Die *unit, Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Half version;
	Dwarf_Attribute found;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, attribute, &found), &number) ||
		dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	/* Before version 5 the first file has the number 1. */
	if ((version < 5 && !number) || dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* Fills in the function of a frame, but not the line of its code. 0 or -ENOMEM. */
static int function_find(struct ap_debug_info *info, Dwarf_Die *die, struct ap_debug_frame *frame)
{
	frame->linkage_name = ap_die_string(die, DW_AT_linkage_name);
	if (!frame->linkage_name)
		frame->linkage_name = ap_die_string(die, DW_AT_MIPS_linkage_name);
	frame->start_line = die_number(die, DW_AT_decl_line);
	frame->name = ap_die_string(die, DW_AT_name);
	return frame->linkage_name ? 0 : ap_debug_scope_name(&info->scopes, die, &frame->name);
}

int ap_debug_info_find(
	struct ap_debug_info *info, uint64_t address, struct ap_debug_frame *frames, uint32_t room)
{
	uint32_t found = ap_intervals_find(&info->ranges, address), count = 0, scope;
	struct unit *unit;
	Dwarf_Die unit_die, die;
	Dwarf_Line *line;
	int number = 0;

	if (found == AP_INTERVAL_NONE || !room)
		return 0;
	unit = &info->units[info->ranges.items[found].value];
	if (!unit->walked && unit_walk(info, unit))
		return -ENOMEM;
	if (!dwarf_offdie(info->dwarf, unit->die, &unit_die))
		return 0;
	frames[0] = (struct ap_debug_frame){0};
	line = dwarf_getsrc_die(&unit_die, address);
	if (line && dwarf_lineno(line, &number) == 0) {
		frames[0].file = dwarf_linesrc(line, NULL, NULL);
		frames[0].line = number > 0 ? number : 0;
	}
	for (scope = ap_intervals_find(&unit->scopes, address); scope != AP_INTERVAL_NONE;
		scope = unit->scopes.items[scope].outer) {
		const struct ap_interval *at = &unit->scopes.items[scope];
		struct ap_debug_frame *frame = &frames[count];

		if (address >= at->high || !dwarf_offdie(info->dwarf, at->value, &die))
			break;
		if (function_find(info, &die, frame))
			return -ENOMEM;
		count++;
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine || count == room)
			return (int)count;
		frames[count] = (struct ap_debug_frame){
			.file = die_file(&unit_die, &die, DW_AT_call_file),
			.line = die_number(&die, DW_AT_call_line),
		};
	}
	return frames[count].file || frames[count].line ? (int)count + 1 : (int)count;
}
