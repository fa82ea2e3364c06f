// SPDX-License-Identifier: MIT
#include "jit_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int ap_jit_code_add(struct ap_jit_code *code, uint64_t start, uint64_t size, const char *name,
	uint32_t first_line, uint32_t line_count)
{
	struct ap_jit_symbol symbol = {
		.start = start,
		.order = code->count,
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

static int symbol_compare(const void *a, const void *b)
{
	const struct ap_jit_symbol *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

/* ---- What is over an address while the addresses are gone through: a heap, the newest on top. */

struct heap {
	const struct ap_jit_symbol *symbols;
	uint32_t *items;
	uint32_t count;
};

static bool is_newer(const struct heap *heap, uint32_t left, uint32_t right)
{
	return heap->symbols[heap->items[left]].order > heap->symbols[heap->items[right]].order;
}

static void heap_swap(struct heap *heap, uint32_t left, uint32_t right)
{
	uint32_t kept = heap->items[left];

	heap->items[left] = heap->items[right];
	heap->items[right] = kept;
}

static void heap_push(struct heap *heap, uint32_t symbol)
{
	uint32_t at = heap->count++;

	heap->items[at] = symbol;
	for (; at && is_newer(heap, at, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(heap, at, (at - 1) / 2);
}

static void heap_pop(struct heap *heap)
{
	uint32_t at = 0, child;

	heap->items[0] = heap->items[--heap->count];
	while ((child = 2 * at + 1) < heap->count) {
		child += child + 1 < heap->count && is_newer(heap, child + 1, child);
		if (!is_newer(heap, child, at))
			break;
		heap_swap(heap, at, child);
		at = child;
	}
}

/* ---- */

static void piece_add(struct ap_jit_code *code, uint64_t start, uint64_t end, uint32_t symbol)
{
	struct ap_jit_piece *next = &code->pieces[code->piece_count];

	if (code->piece_count && next[-1].symbol == symbol && next[-1].end == start) {
		next[-1].end = end;
		return;
	}
	*next = (struct ap_jit_piece){start, end, symbol};
	code->piece_count++;
}

/* Each round ends where code begins or where the newest ends: there are at most twice as many. */
static void pieces_make(struct ap_jit_code *code, struct heap *heap)
{
	const struct ap_jit_symbol *symbols = code->symbols;
	uint64_t at = 0;
	uint32_t next = 0;

	for (;;) {
		uint64_t end;

		while (heap->count && symbols[heap->items[0]].end <= at)
			heap_pop(heap);
		if (!heap->count && next == code->count)
			return;
		if (!heap->count)
			at = symbols[next].start;
		while (next < code->count && symbols[next].start <= at)
			heap_push(heap, next++);
		end = symbols[heap->items[0]].end;
		if (next < code->count && symbols[next].start < end)
			end = symbols[next].start;
		piece_add(code, at, end, heap->items[0]);
		at = end;
	}
}

int ap_jit_code_sort(struct ap_jit_code *code)
{
	struct heap heap = {0};

	free(code->pieces);
	code->pieces = NULL;
	code->piece_count = 0;
	if (!code->count)
		return 0;
	heap.items = calloc(code->count, sizeof(*heap.items));
	code->pieces = calloc(code->count, 2 * sizeof(*code->pieces));
	if (!heap.items || !code->pieces) {
		free(heap.items);
		return -ENOMEM;
	}
	qsort(code->symbols, code->count, sizeof(*code->symbols), symbol_compare);
	heap.symbols = code->symbols;
	pieces_make(code, &heap);
	free(heap.items);
	return 0;
}

const struct ap_jit_symbol *ap_jit_code_find(const struct ap_jit_code *code, uint64_t address)
{
	int64_t index =
		ap_array_find(code->pieces, code->piece_count, sizeof(*code->pieces), address);

	if (index < 0 || address >= code->pieces[index].end)
		return NULL;
	return &code->symbols[code->pieces[index].symbol];
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
