// SPDX-License-Identifier: MIT
#include "jit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int ap_jit_code_add(struct ap_jit_code *code, uint64_t start, uint64_t size, const char *name,
	uint32_t first_line, uint32_t line_count)
{
	struct ap_jit_symbol symbol = {
		.start = start,
		.first_line = first_line,
		.line_count = line_count,
	};

	if (!size || __builtin_add_overflow(start, size, &symbol.end))
		return -EINVAL;
	symbol.name = ap_intern(&code->strings, name, strlen(name));
	if (!symbol.name || ap_array_grow((void **)&code->symbols, code->count, &code->room,
				    sizeof(*code->symbols)))
		return -ENOMEM;
	code->symbols[code->count++] = symbol;
	return 0;
}

int ap_jit_code_add_line(struct ap_jit_code *code, uint64_t offset, const char *file,
	size_t file_length, uint32_t line)
{
	const char *kept = ap_intern(&code->strings, file, file_length);

	if (!kept || ap_array_grow((void **)&code->lines, code->line_count, &code->line_room,
			     sizeof(*code->lines)))
		return -ENOMEM;
	code->lines[code->line_count++] = (struct ap_jit_line){offset, kept, line};
	return 0;
}

int ap_jit_code_sort(struct ap_jit_code *code)
{
	struct ap_code_range *ranges = calloc(code->count + 1, sizeof(*ranges));
	size_t count = 0;

	free(code->pieces);
	code->pieces = NULL;
	for (uint32_t i = 0; i < code->count && ranges; i++)
		ranges[i] = (struct ap_code_range){
			.start = code->symbols[i].start, .end = code->symbols[i].end, .id = i};
	if (ranges)
		code->pieces = ap_code_ranges_flatten(ranges, code->count, &count);
	code->piece_count = (uint32_t)count;
	free(ranges);
	return code->pieces ? 0 : -ENOMEM;
}

const struct ap_jit_symbol *ap_jit_code_find(const struct ap_jit_code *code, uint64_t address)
{
	int64_t index =
		ap_array_find(code->pieces, code->piece_count, sizeof(*code->pieces), address);

	if (index < 0 || address >= code->pieces[index].end)
		return NULL;
	return &code->symbols[code->pieces[index].id];
}

const struct ap_jit_line *ap_jit_code_line(
	const struct ap_jit_code *code, const struct ap_jit_symbol *symbol, uint64_t address)
{
	const struct ap_jit_line *found = NULL;

	for (uint32_t i = 0; i < symbol->line_count; i++) {
		const struct ap_jit_line *line = &code->lines[symbol->first_line + i];

		if (line->offset > address - symbol->start)
			break;
		found = line;
	}
	return found;
}

void ap_jit_code_clear(struct ap_jit_code *code)
{
	free(code->symbols);
	free(code->lines);
	free(code->pieces);
	ap_intern_clear(&code->strings);
	*code = (struct ap_jit_code){0};
}
