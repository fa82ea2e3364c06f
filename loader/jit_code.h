/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code that a runtime has made, by address. Runtimes use memory again: of all pieces that
 * were at an address, the one that was added last gives it its name.
 */
#ifndef ALLOCPROF_JIT_CODE_H
#define ALLOCPROF_JIT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "code_range.h"
#include "intern.h"

struct ap_jit_line {
	uint64_t offset;  /* bytes from the start of the code; the line holds up to the next */
	const char *file; /* "" unknown */
	uint32_t line;
};

struct ap_jit_symbol {
	uint64_t start, end;
	const char *name;
	uint32_t first_line, line_count; /* its lines in ap_jit_code.lines, sorted by offset */
};

/* Starts as {0}. Strings live as long as it does. */
struct ap_jit_code {
	struct ap_jit_symbol *symbols;
	uint32_t count, room;
	struct ap_jit_line *lines;
	uint32_t line_count, line_room;
	struct ap_code_range *pieces; /* ids: indices of symbols; made by sorting */
	uint32_t piece_count;
	struct ap_intern strings;
};

/*
 * Adds code of `size` bytes, not 0. Its lines are those from first_line on. 0; -EINVAL when it
 * reaches beyond the end of memory, -ENOMEM.
 */
int ap_jit_code_add(struct ap_jit_code *code, uint64_t start, uint64_t size, const char *name,
	uint32_t first_line, uint32_t line_count);

/* Adds a line. 0 or -ENOMEM. */
int ap_jit_code_add_line(struct ap_jit_code *code, uint64_t offset, const char *file,
	size_t file_length, uint32_t line);

/* To be called after the last was added and before the first is looked up. 0 or -ENOMEM. */
int ap_jit_code_sort(struct ap_jit_code *code);

/* The code at an address, or NULL. */
const struct ap_jit_symbol *ap_jit_code_find(const struct ap_jit_code *code, uint64_t address);

/* The line of an address in it, or NULL. */
const struct ap_jit_line *ap_jit_code_line(
	const struct ap_jit_code *code, const struct ap_jit_symbol *symbol, uint64_t address);

void ap_jit_code_clear(struct ap_jit_code *code);

#endif
