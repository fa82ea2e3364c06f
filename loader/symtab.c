// SPDX-License-Identifier: MIT
#include "symtab.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "table.h"

/* 40 million symbols; Chromium with debug information has some two million. */
#define SYMTAB_BYTES_MAX ((uint64_t)1 << 30)

/*
 * The rank of a symbol: global before weak before local, and functions before
 * labels of assembler code.
 */
static uint32_t symbol_rank(const GElf_Sym *symbol, const char *name)
{
	uint32_t rank = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 64 : 0;

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		break;
	case STB_WEAK:
		rank += 16;
		break;
	default:
		rank += 32;
	}
	/*
	 * Fewer leading underscores are better (malloc before __libc_malloc), except those of
	 * mangled names.
	 */
	while (*name == '_' && name[1] != 'Z' && name[1] != 'R' && rank % 16 < 15) {
		rank++;
		name++;
	}
	return rank;
}

static bool is_function(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_NOTYPE:
		return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
	default:
		return false;
	}
}

/* The end of the code section of a symbol without a size; 0: it is not in code. */
static uint64_t section_end(Elf *elf, const GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);

	if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		symbol->st_value - header.sh_addr >= header.sh_size)
		return 0;
	return header.sh_addr + header.sh_size;
}

static int section_add(struct ap_symtab *table, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count;

	if (!data || !header->sh_entsize)
		return 0;
	count = data->d_size / header->sh_entsize;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		uint64_t end;
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) || !is_function(&symbol))
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		end = section_end(elf, &symbol);
		if (!end)
			continue;
		if (symbol.st_size && symbol.st_size < end - symbol.st_value)
			end = symbol.st_value + symbol.st_size;
		if (ap_array_grow((void **)&table->symbols, table->count, &table->room,
			    sizeof(*table->symbols)))
			return -ENOMEM;
		table->symbols[table->count++] = (struct ap_elf_symbol){
			.start = symbol.st_value,
			.end = end,
			.name = name,
			.rank = symbol_rank(&symbol, name) + (symbol.st_size ? 0 : 128),
		};
	}
	return 0;
}

int ap_symtab_add(struct ap_symtab *table, const struct ap_elf_file *file)
{
	Elf_Scn *section = NULL;
	int err = 0;

	while (!err && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_size > SYMTAB_BYTES_MAX ||
			(header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		err = section_add(table, file->elf, section, &header);
	}
	return err;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct ap_elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

void ap_symtab_sort(struct ap_symtab *table)
{
	uint32_t kept = 0;

	if (!table->count)
		return;
	qsort(table->symbols, table->count, sizeof(*table->symbols), symbol_compare);
	for (uint32_t i = 1; i < table->count; i++)
		if (table->symbols[i].start != table->symbols[kept].start)
			table->symbols[++kept] = table->symbols[i];
	table->count = kept + 1;
}

const struct ap_elf_symbol *ap_symtab_find(const struct ap_symtab *table, uint64_t address)
{
	int64_t index =
		ap_array_find(table->symbols, table->count, sizeof(*table->symbols), address);

	if (index < 0 || address >= table->symbols[index].end)
		return NULL;
	return &table->symbols[index];
}

void ap_symtab_clear(struct ap_symtab *table)
{
	free(table->symbols);
	*table = (struct ap_symtab){0};
}
