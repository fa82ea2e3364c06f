/* SPDX-License-Identifier: MIT */
/*
 * Which bytes in a target's memory tell that a file is still mapped there: the first ones of its
 * build id. The programs compare them before they use the file's table.
 */
#ifndef ALLOCPROF_UNWIND_CHECK_H
#define ALLOCPROF_UNWIND_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "mapping.h"

struct ap_unwind_check {
	uint64_t address; /* as the file wants it; 0: it cannot be checked */
	uint64_t expected;
};

/* Finds the build id, as the object has it, in what is loaded of the file. */
void ap_unwind_check_find(struct ap_unwind_check *check, const struct ap_object *object,
	const struct ap_elf_file *elf);

/*
 * Whether the target has them at an address. Looking brings the page in, too: the programs cannot
 * wait for it.
 */
bool ap_unwind_check_holds(
	const struct ap_process_files *files, uint64_t address, uint64_t expected);

#endif
