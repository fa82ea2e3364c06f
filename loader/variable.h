/* SPDX-License-Identifier: MIT */
/*
 * A number in the target's memory that its allocator lets a profiler set: the sampling period, the
 * guard (probe.h). It is set for the time of a recording and set back at the end. A loader that is
 * killed leaves it behind, which changes nothing while nobody listens.
 */
#ifndef ALLOCPROF_VARIABLE_H
#define ALLOCPROF_VARIABLE_H

#include <stddef.h>
#include <stdint.h>

#include "process_files.h"

struct ap_variable {
	struct ap_process_files memory; /* only its memory file is open */
	uint64_t address;
	size_t size; /* bytes: 4 or 8 */
	uint64_t before, now;
};

/*
 * Takes the target's memory from its files and reads the variable at the address. 0 or a negative
 * errno. A variable starts as {0}.
 */
int ap_variable_open(struct ap_variable *variable, const struct ap_process_files *files,
	uint64_t address, size_t size);

/* 0 or a negative errno. */
int ap_variable_set(struct ap_variable *variable, uint64_t value);

/* Sets back what was changed, unless somebody else has changed it since, and closes. */
void ap_variable_close(struct ap_variable *variable);

#endif
