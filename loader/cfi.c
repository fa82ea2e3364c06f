// SPDX-License-Identifier: MIT
#include "cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cfi_program.h"
#include "cfi_rule.h"
#include "table.h"

/* A row has 16 bits for its rule. Libraries have some hundred rules. */
#define RULES_MAX 65536U

/*
 * Gaps between entries that are longer than this are code without a table; shorter ones are
 * padding, which never runs. A return address at the start of the function behind a padding
 * means that nobody called that function: libc makes the first frame of threads and coroutines
 * like that. The look-up, one byte before, then finds the padding, which all unwinders take for
 * the end of the stack.
 */
#define PADDING_MAX 16

/* ---- Rules and rows ---- */

struct compiler {
	struct ap_cfi *cfi;
	struct ap_table rules; /* of cfi->rules */
	uint32_t padding_rule;
	const struct ap_cfi_common *common;
	uint64_t limit; /* where the entry after the one that is compiled begins */
	struct common *commons;
	uint32_t common_count, common_room;
	uint32_t common_first; /* index of the first CIE of the section that is read */
	struct entry *entries;
	uint32_t entry_count, entry_room;
};

/* A CIE, and where it stands. */
struct common {
	uint64_t offset;
	int err; /* its entries cannot be followed */
	struct ap_cfi_common common;
};

/* An FDE. */
struct entry {
	uint64_t start, end;
	uint32_t common;
	struct ap_cfi_reader instructions;
};

static bool rule_equal(const void *array, uint32_t index, const void *key)
{
	return !memcmp(
		(const struct ap_unwind_rule *)array + index, key, sizeof(struct ap_unwind_rule));
}

/* The rule's number, or a negative errno. */
static int rule_get(struct compiler *compiler, const struct ap_unwind_rule *rule)
{
	struct ap_cfi *cfi = compiler->cfi;
	uint64_t hash = ap_hash(0, rule, sizeof(*rule));
	int64_t index = ap_table_find(&compiler->rules, hash, rule_equal, cfi->rules, rule);

	if (index >= 0)
		return (int)index;
	if (cfi->rule_count == RULES_MAX)
		return AP_RULE_UNSUPPORTED;
	return (int)ap_table_append(&compiler->rules, hash, (void **)&cfi->rules, &cfi->rule_count,
		&cfi->rule_room, rule, sizeof(*rule));
}

/* Rows come in the order of their addresses. */
static int row_add(struct compiler *compiler, uint64_t address, uint32_t rule)
{
	struct ap_cfi *cfi = compiler->cfi;
	struct ap_cfi_row *last = cfi->row_count ? &cfi->rows[cfi->row_count - 1] : NULL;
	uint64_t at = address - cfi->base;

	if (at >= cfi->size)
		return 0;
	if (last && last->at == at) {
		/* The row before covers no code. */
		cfi->row_count--;
		last = cfi->row_count ? last - 1 : NULL;
	}
	if (last && last->rule == rule)
		return 0;
	if (ap_array_grow((void **)&cfi->rows, cfi->row_count, &cfi->row_room, sizeof(*cfi->rows)))
		return -ENOMEM;
	cfi->rows[cfi->row_count++] =
		(struct ap_cfi_row){.at = (uint32_t)at, .rule = (uint16_t)rule};
	return 0;
}

static int state_emit(void *context, uint64_t from, const struct ap_cfi_state *state)
{
	struct compiler *compiler = context;
	struct ap_unwind_rule rule;
	int number;

	if (from >= compiler->limit)
		return 0;
	ap_cfi_rule(compiler->common, state, &rule);
	number = rule_get(compiler, &rule);
	return number < 0 ? number : row_add(compiler, from, (uint32_t)number);
}

/* ---- Entries ---- */

static uint64_t pointer_read(
	struct ap_cfi_reader *reader, uint8_t encoding, const struct ap_cfi_section *section)
{
	uint64_t place = section->address + (uint64_t)(reader->at - (uint8_t *)section->bytes);
	uint64_t value = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = ap_cfi_read_fixed(reader, 8);
		break;
	case DW_EH_PE_udata4:
		value = ap_cfi_read_fixed(reader, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)ap_cfi_read_fixed(reader, 4);
		break;
	case DW_EH_PE_udata2:
		value = ap_cfi_read_fixed(reader, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)ap_cfi_read_fixed(reader, 2);
		break;
	case DW_EH_PE_uleb128:
		value = ap_cfi_read_uleb(reader);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)ap_cfi_read_sleb(reader);
		break;
	default:
		reader->failed = 1;
	}
	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + place;
	}
	reader->failed = 1;
	return 0;
}

/* Reads the augmentation of a CIE. Returns whether it is understood. */
static bool augmentation_read(
	struct ap_cfi_common *common, const Dwarf_CIE *cie, const struct ap_cfi_section *section)
{
	struct ap_cfi_reader data = {.at = cie->augmentation_data,
		.end = cie->augmentation_data + cie->augmentation_data_size};
	const char *text = cie->augmentation;

	common->encoding = DW_EH_PE_absptr;
	if (!*text)
		return true;
	if (*text != 'z' || !cie->augmentation_data)
		return false;
	common->is_sized = 1;
	for (text++; *text; text++) {
		switch (*text) {
		case 'R':
			common->encoding = (uint8_t)ap_cfi_read_fixed(&data, 1);
			break;
		case 'P':
			pointer_read(&data, ap_cfi_read_fixed(&data, 1) & 0x0f, section);
			break;
		case 'L':
			ap_cfi_read_fixed(&data, 1);
			break;
		case 'S':
			common->is_signal = 1;
			break;
		case 'B':
			break;
		default:
			/* Everything that matters has been read. */
			return !data.failed;
		}
	}
	return !data.failed;
}

static int common_read(struct compiler *compiler, const struct ap_cfi_section *section,
	uint64_t offset, const Dwarf_CIE *cie)
{
	struct ap_cfi_reader instructions = {
		.at = cie->initial_instructions, .end = cie->initial_instructions_end};
	struct common common = {
		.offset = offset,
		.common = {.code_factor = cie->code_alignment_factor,
			.data_factor = cie->data_alignment_factor,
			.ra_register = cie->return_address_register},
	};

	if (!augmentation_read(&common.common, cie, section))
		common.err = -EBADMSG;
	else
		common.err = ap_cfi_run_common(&common.common, &instructions);
	if (ap_array_grow((void **)&compiler->commons, compiler->common_count,
		    &compiler->common_room, sizeof(common)))
		return -ENOMEM;
	compiler->commons[compiler->common_count++] = common;
	return 0;
}

static int common_compare(const void *key, const void *element)
{
	uint64_t left = *(const uint64_t *)key, right = ((const struct common *)element)->offset;

	return left < right ? -1 : left > right;
}

static int entry_read(
	struct compiler *compiler, const struct ap_cfi_section *section, const Dwarf_FDE *fde)
{
	struct ap_cfi_reader reader = {.at = fde->start, .end = fde->end};
	struct entry entry;
	struct common *common;
	uint64_t offset = fde->CIE_pointer, length;

	/* CIEs are read first, and in order. */
	common = compiler->common_count > compiler->common_first
			 ? bsearch(&offset, compiler->commons + compiler->common_first,
				   compiler->common_count - compiler->common_first, sizeof(*common),
				   common_compare)
			 : NULL;
	if (!common)
		return 0;
	entry.common = (uint32_t)(common - compiler->commons);
	entry.start = pointer_read(&reader, common->common.encoding, section);
	length = pointer_read(&reader, common->common.encoding & 0x0f, section);
	if (common->common.is_sized) {
		uint64_t skip = ap_cfi_read_uleb(&reader);

		if (skip > (uint64_t)(reader.end - reader.at))
			reader.failed = 1;
		else
			reader.at += skip;
	}
	/* Not for code that is outside the file, or that the linker has discarded. */
	if (reader.failed || !length || entry.start - compiler->cfi->base >= compiler->cfi->size)
		return 0;
	if (length > compiler->cfi->size)
		length = compiler->cfi->size;
	entry.end = entry.start + length;
	entry.instructions = reader;
	if (ap_array_grow((void **)&compiler->entries, compiler->entry_count, &compiler->entry_room,
		    sizeof(entry)))
		return -ENOMEM;
	compiler->entries[compiler->entry_count++] = entry;
	return 0;
}

/* One pass over the section, for the CIEs or for the FDEs. */
static int section_read(
	struct compiler *compiler, const struct ap_cfi_section *section, bool commons)
{
	static const unsigned char ident[EI_NIDENT] = {
		[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB, [EI_VERSION] = EV_CURRENT};
	Elf_Data data = {.d_buf = section->bytes, .d_size = section->size, .d_version = EV_CURRENT};
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	int err = 0, status;

	for (; !err; offset = next) {
		next = offset;
		status = dwarf_next_cfi(ident, &data, section->is_eh_frame, offset, &next, &entry);
		if (status > 0 || next <= offset || next > section->size)
			break;
		if (status < 0)
			continue;
		if (dwarf_cfi_cie_p(&entry) == commons)
			err = commons ? common_read(compiler, section, offset, &entry.cie)
				      : entry_read(compiler, section, &entry.fde);
	}
	return err;
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	/* Of two entries that begin at the same address, the longer one comes last, and counts. */
	return left->end < right->end ? -1 : left->end > right->end;
}

static int entry_compile(struct compiler *compiler, struct entry *entry, uint64_t next)
{
	struct common *common = &compiler->commons[entry->common];
	uint64_t end = entry->end < next ? entry->end : next;
	uint64_t reached = entry->start;
	int err = common->err;

	compiler->common = &common->common;
	compiler->limit = end;
	if (!err)
		err = ap_cfi_run(&common->common, &entry->instructions, entry->start, entry->end,
			&reached, state_emit, compiler);
	if (err == -EBADMSG) {
		compiler->cfi->damaged++;
		err = reached < end ? row_add(compiler, reached, AP_RULE_UNSUPPORTED) : 0;
	}
	if (err)
		return err;
	compiler->cfi->entries++;
	if (next == end)
		return 0;
	return row_add(
		compiler, end, next - end < PADDING_MAX ? compiler->padding_rule : AP_RULE_NONE);
}

int ap_cfi_compile(struct ap_cfi *ret, const struct ap_cfi_section *sections, int count,
	uint64_t base, uint64_t size)
{
	static const struct ap_unwind_rule none = {.cfa = AP_CFA_NONE};
	static const struct ap_unwind_rule unsupported = {.cfa = AP_CFA_UNSUPPORTED};
	static const struct ap_unwind_rule end = {.cfa = AP_CFA_END};
	struct compiler compiler = {.cfi = ret};
	int err;

	*ret = (struct ap_cfi){.base = base, .size = size};
	err = rule_get(&compiler, &none);
	if (err >= 0)
		err = rule_get(&compiler, &unsupported);
	if (err >= 0)
		err = rule_get(&compiler, &end);
	compiler.padding_rule = err < 0 ? 0 : (uint32_t)err;
	err = err < 0 ? err : row_add(&compiler, base, AP_RULE_NONE);
	for (int i = 0; i < count && !err; i++) {
		compiler.common_first = compiler.common_count;
		err = section_read(&compiler, &sections[i], true);
		if (!err)
			err = section_read(&compiler, &sections[i], false);
	}
	if (!err && compiler.entry_count)
		qsort(compiler.entries, compiler.entry_count, sizeof(*compiler.entries),
			entry_compare);
	for (uint32_t i = 0; i < compiler.entry_count && !err; i++)
		err = entry_compile(&compiler, &compiler.entries[i],
			i + 1 < compiler.entry_count ? compiler.entries[i + 1].start : base + size);
	for (uint32_t i = 0; i < ret->row_count; i++)
		ret->unsupported += ret->rules[ret->rows[i].rule].cfa == AP_CFA_UNSUPPORTED;
	ap_table_clear(&compiler.rules);
	free(compiler.commons);
	free(compiler.entries);
	return err;
}

void ap_cfi_clear(struct ap_cfi *cfi)
{
	free(cfi->rows);
	free(cfi->rules);
	*cfi = (struct ap_cfi){0};
}
