/* SPDX-License-Identifier: MIT */
/*
 * How the BPF programs check that a file is still mapped where it was: before they use its table,
 * they compare the first bytes of its build id with the target's memory.
 */
#ifndef ALLOCPROF_UNWIND_CHECK_H
#define ALLOCPROF_UNWIND_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "mapping.h"

struct ap_unwind_check {
	uint64_t address; /* of these bytes, as linked; 0: the file cannot be checked */
	uint64_t expected;
};

/* Finds the build id of the object in the segments of the file. */
void ap_unwind_check_find(struct ap_unwind_check *check, const struct ap_object *object,
	const struct ap_elf_file *elf);

/*
 * Whether the target has the expected bytes at an address. Reading them also brings the page in,
 * which the BPF programs cannot do.
 */
bool ap_unwind_check_holds(
	const struct ap_process_files *files, uint64_t address, uint64_t expected);

#endif
