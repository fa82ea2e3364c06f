/* SPDX-License-Identifier: MIT */
/* A set of strings that do not move: equal strings have equal pointers. */
#ifndef ALLOCPROF_INTERN_H
#define ALLOCPROF_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct ap_intern_chunk;

struct ap_intern {
	struct ap_table table;
	const char **strings; /* NUL-terminated */
	uint32_t count, room;
	struct ap_intern_chunk *chunk; /* where the next string goes */
	size_t used, size;
};

/* The set's copy of a text of `length` bytes, or up to its first NUL. NULL: out of memory. */
const char *ap_intern(struct ap_intern *set, const char *text, size_t length);

/*
 * The same, but returns its index in set->strings (numbered from 0 in the order of
 * arrival), or -ENOMEM.
 */
int ap_intern_index(struct ap_intern *set, const char *text, size_t length);

/* The set itself belongs to the caller, who starts it as {0}. */
void ap_intern_clear(struct ap_intern *set);

#endif
