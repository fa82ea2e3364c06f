// SPDX-License-Identifier: MIT
/*
 * The compiler of call frame information against libdw's own answers, at the first and the last
 * byte of every row, of the system's libraries; and on sections made by hand.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cfi.h"
#include "elf_file.h"

static const char *const libraries[] = {
	"libc.so.6",
	"ld-linux-x86-64.so.2",
	"libm.so.6",
	"libstdc++.so.6",
	"libgcc_s.so.1",
	"libcrypto.so.3",
	"libelf.so.1",
	"libdw.so.1",
	"libbpf.so.1",
	"libz.so.1",
	"libprotobuf-c.so.1",
	"libgmp.so.10",
	"libzstd.so.1",
};
#define LIBRARIES_MIN 10

/* libdw's answer for a register, in the terms of a rule. */
struct answer {
	uint8_t saved;
	int32_t offset;
};

static bool register_same(Dwarf_Frame *frame, int number, struct answer ours)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
	/* Undefined. Of rbx libdw says so, too, where nothing is said: its table of what is saved
	 * by callees has rax in its place. */
	if (!count && ops == memory)
		return ours.saved == AP_SAVED_LOST ||
		       (number == AP_REG_BX && ours.saved == AP_SAVED_SAME);
	if (!count && !ops) /* the same */
		return ours.saved == AP_SAVED_SAME;
	/* DW_OP_call_frame_cfa, and then the offset. */
	if (count <= 2 && ops[0].atom == DW_OP_call_frame_cfa) {
		int64_t offset = count == 2 ? (int64_t)ops[1].number : 0;

		if (count == 2 && ops[1].atom == DW_OP_stack_value)
			return ours.saved == AP_SAVED_LOST;
		return ours.saved == AP_SAVED_CFA && ours.offset == offset;
	}
	if (count == 1 && ops[0].atom == DW_OP_regx)
		return number == AP_REG_RA
			       ? ours.saved == AP_SAVED_REG && ours.offset == (int64_t)ops[0].number
			       : ours.saved == AP_SAVED_LOST;
	if (count == 1 && ops[0].atom == DW_OP_breg0 + AP_REG_FP && ours.saved == AP_SAVED_FP)
		return ours.offset == (int64_t)ops[0].number;
	/* Another expression, which our rules cannot say. */
	return ours.saved == AP_SAVED_LOST;
}

static bool cfa_same(const struct ap_unwind_rule *rule, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	switch (rule->cfa) {
	case AP_CFA_REGISTER:
		return count == 1 &&
		       ((ops[0].atom == DW_OP_bregx && ops[0].number == rule->cfa_register &&
				(int64_t)ops[0].number2 == rule->cfa_offset) ||
			       (ops[0].atom == DW_OP_breg0 + rule->cfa_register &&
				       (int64_t)ops[0].number == rule->cfa_offset));
	case AP_CFA_DEREFERENCE:
		return count >= 2 && count <= 3 &&
		       ops[0].atom == DW_OP_breg0 + rule->cfa_register &&
		       (int64_t)ops[0].number == rule->cfa_offset && ops[1].atom == DW_OP_deref &&
		       (count == 3 ? ops[2].atom == DW_OP_plus_uconst &&
					       (int64_t)ops[2].number == rule->cfa_add
				   : !rule->cfa_add);
	case AP_CFA_PLT:
		return count == 9 && ops[0].atom == DW_OP_breg7 && ops[0].number == 8 &&
		       ops[1].atom == DW_OP_breg16 && ops[2].atom == DW_OP_lit15 &&
		       ops[3].atom == DW_OP_and && ops[4].atom == DW_OP_lit0 + rule->cfa_add &&
		       ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
		       ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus;
	}
	return false;
}

static bool rule_same(const struct ap_unwind_rule *rule, Dwarf_Frame *frame)
{
	struct answer ra = {rule->ra, rule->ra_offset}, fp = {rule->fp, rule->fp_offset},
		      bx = {rule->bx, rule->bx_offset};
	Dwarf_Op memory[3], *ops;
	Dwarf_Addr start, end;
	size_t count;
	bool signal;

	assert_true(dwarf_frame_info(frame, &start, &end, &signal) >= 0);
	if (rule->cfa == AP_CFA_SIGNAL)
		return signal;
	if (rule->cfa == AP_CFA_END) {
		assert_int_equal(dwarf_frame_register(frame, AP_REG_RA, memory, &ops, &count), 0);
		return !count && ops == memory;
	}
	return !signal && cfa_same(rule, frame) && register_same(frame, AP_REG_RA, ra) &&
	       register_same(frame, AP_REG_FP, fp) && register_same(frame, AP_REG_BX, bx);
}

struct tally {
	uint64_t rows, boundaries, unsupported, different;
};

/* Compares our row for one address with libdw's answer. */
static void address_compare(const struct ap_cfi *cfi, const struct ap_cfi_row *row, uint32_t at,
	Dwarf_CFI *reference, struct tally *tally)
{
	const struct ap_unwind_rule *rule = &cfi->rules[row->rule];
	Dwarf_Frame *frame = NULL;
	bool covered = !dwarf_cfi_addrframe(reference, cfi->base + at, &frame);
	bool same;

	tally->boundaries++;
	if (rule->cfa == AP_CFA_UNSUPPORTED) {
		tally->unsupported++;
		same = covered;
	} else if (!covered) {
		/* Padding, or code without information. */
		same = rule->cfa == AP_CFA_NONE || rule->cfa == AP_CFA_END;
	} else {
		same = rule_same(rule, frame);
	}
	free(frame);
	if (same)
		return;
	if (!tally->different++)
		printf("differs at %#lx: cfa %u %u %d %d, ra %u %d, fp %u %d, bx %u %d, "
		       "%scovered\n",
			(unsigned long)(cfi->base + at), rule->cfa, rule->cfa_register,
			rule->cfa_offset, rule->cfa_add, rule->ra, rule->ra_offset, rule->fp,
			rule->fp_offset, rule->bx, rule->bx_offset, covered ? "" : "not ");
}

static bool library_open(const char *name, int *fd)
{
	char path[256];

	snprintf(path, sizeof(path), "/lib/x86_64-linux-gnu/%s", name);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd >= 0;
}

static void file_compile(int fd, struct ap_elf_file *file, struct ap_cfi *cfi)
{
	struct ap_cfi_section sections[AP_CFI_SECTIONS];
	uint64_t base, size;

	assert_int_equal(ap_elf_file_open(file, fd), 0);
	assert_int_equal(ap_cfi_extent(file, &base, &size), 0);
	assert_int_equal(ap_cfi_sections_find(sections, file), 1);
	assert_int_equal(ap_cfi_compile(cfi, sections, 1, base, size), 0);
}

static void library_compare(int fd, struct tally *tally)
{
	struct ap_elf_file file;
	Dwarf_CFI *reference;
	struct ap_cfi cfi;

	file_compile(fd, &file, &cfi);
	assert_true(cfi.row_count > 10);
	assert_int_equal(cfi.damaged, 0);
	reference = dwarf_getcfi_elf(file.elf);
	assert_non_null(reference);
	for (uint32_t i = 0; i < cfi.row_count; i++) {
		uint64_t end = i + 1 < cfi.row_count ? cfi.rows[i + 1].at : cfi.size;

		assert_true(cfi.rows[i].at < end);
		address_compare(&cfi, &cfi.rows[i], cfi.rows[i].at, reference, tally);
		address_compare(&cfi, &cfi.rows[i], (uint32_t)end - 1, reference, tally);
	}
	tally->rows += cfi.row_count;
	dwarf_cfi_end(reference);
	ap_cfi_clear(&cfi);
	ap_elf_file_close(&file);
}

static void test_libraries(void **state)
{
	size_t found = 0;
	int fd;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		struct tally tally = {0};

		if (!library_open(libraries[i], &fd))
			continue;
		library_compare(fd, &tally);
		printf("%-24s %7lu rows, %7lu addresses compared, %lu unsupported\n", libraries[i],
			tally.rows, tally.boundaries, tally.unsupported);
		assert_int_equal(tally.different, 0);
		assert_true(tally.unsupported * 100 <= tally.boundaries);
		close(fd);
		found++;
	}
	assert_true(found >= LIBRARIES_MIN);
}

/* Compiles a section for 4 KiB of code at 0x1000. */
static int section_compile(struct ap_cfi *cfi, void *bytes, size_t size)
{
	struct ap_cfi_section section = {
		.bytes = bytes, .size = size, .address = 0x2000, .is_eh_frame = 1};

	return ap_cfi_compile(cfi, &section, 1, 0x1000, 0x1000);
}

static void test_empty_section(void **state)
{
	uint8_t none[4] = {0};
	struct ap_cfi cfi;

	assert_int_equal(section_compile(&cfi, none, sizeof(none)), 0);
	assert_int_equal(cfi.row_count, 1);
	assert_int_equal(cfi.rules[cfi.rows[0].rule].cfa, AP_CFA_NONE);
	ap_cfi_clear(&cfi);
}

/* CIE "zR": code factor 1, data factor -8, ra 16, absolute addresses; CFA = rsp + 8, ra at -8. */
#define CIE                                                                                  \
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, DW_CFA_def_cfa, 7, 8, \
		DW_CFA_offset + 16, 1, 0, 0
/* An FDE of [from, from + length), with 8 bytes of instructions. */
#define FDE(from, length, ...)                                                               \
	29, 0, 0, 0, 28, 0, 0, 0, (from)&0xff, (from) >> 8, 0, 0, 0, 0, 0, 0, (length)&0xff, \
		(length) >> 8, 0, 0, 0, 0, 0, 0, 0, __VA_ARGS__

static const struct ap_unwind_rule *rule_at(const struct ap_cfi *cfi, uint32_t address)
{
	uint32_t i = 0;

	while (i + 1 < cfi->row_count && cfi->rows[i + 1].at <= address - 0x1000)
		i++;
	return &cfi->rules[cfi->rows[i].rule];
}

static void test_instructions(void **state)
{
	uint8_t bytes[] = {CIE,
		FDE(0x1100, 0x80, DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 16,
			DW_CFA_advance_loc + 4, DW_CFA_def_cfa_register, 6, DW_CFA_offset + 6, 2)};
	const struct ap_unwind_rule *rule;
	struct ap_cfi cfi;

	assert_int_equal(section_compile(&cfi, bytes, sizeof(bytes)), 0);
	assert_int_equal(cfi.entries, 1);
	assert_int_equal(rule_at(&cfi, 0x10ff)->cfa, AP_CFA_NONE);
	rule = rule_at(&cfi, 0x1103);
	assert_int_equal(rule->cfa, AP_CFA_REGISTER);
	assert_int_equal(rule->cfa_register, 7);
	assert_int_equal(rule->cfa_offset, 8);
	assert_int_equal(rule->ra_offset, -8);
	assert_int_equal(rule_at(&cfi, 0x1104)->cfa_offset, 16);
	rule = rule_at(&cfi, 0x117f);
	assert_int_equal(rule->cfa_register, 6);
	assert_int_equal(rule->fp, AP_SAVED_CFA);
	assert_int_equal(rule->fp_offset, -16);
	assert_int_equal(rule_at(&cfi, 0x1180)->cfa, AP_CFA_NONE);
	ap_cfi_clear(&cfi);
}

/* The rows before an unknown instruction hold; from there on the rule is AP_RULE_UNSUPPORTED. */
static void test_damaged_instructions(void **state)
{
	uint8_t bytes[] = {CIE,
		FDE(0x1100, 0x80, DW_CFA_advance_loc + 4, DW_CFA_restore_state, 0, 0, 0, 0, 0, 0)};
	struct ap_cfi cfi;

	assert_int_equal(section_compile(&cfi, bytes, sizeof(bytes)), 0);
	assert_int_equal(cfi.damaged, 1);
	assert_int_equal(rule_at(&cfi, 0x1103)->cfa, AP_CFA_REGISTER);
	assert_int_equal(rule_at(&cfi, 0x1104)->cfa, AP_CFA_UNSUPPORTED);
	assert_int_equal(rule_at(&cfi, 0x117f)->cfa, AP_CFA_UNSUPPORTED);
	assert_int_equal(rule_at(&cfi, 0x1180)->cfa, AP_CFA_NONE);
	ap_cfi_clear(&cfi);
}

/* Offsets of the largest frames seen need 32 bits; what needs more is refused. */
static void test_large_offsets(void **state)
{
	uint8_t large[] = {
		CIE, FDE(0x1100, 0x80, DW_CFA_def_cfa_offset, 0xf0, 0xfb, 0x20, 0, 0, 0, 0)};
	uint8_t huge[] = {CIE,
		FDE(0x1100, 0x80, DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0)};
	struct ap_cfi cfi;

	assert_int_equal(section_compile(&cfi, large, sizeof(large)), 0);
	assert_int_equal(rule_at(&cfi, 0x1100)->cfa_offset, 540144);
	ap_cfi_clear(&cfi);
	assert_int_equal(section_compile(&cfi, huge, sizeof(huge)), 0);
	assert_int_equal(rule_at(&cfi, 0x1100)->cfa, AP_CFA_UNSUPPORTED);
	ap_cfi_clear(&cfi);
}

/* A program that has .eh_frame for a part of its code and .debug_frame for another. */
static void test_two_sections(void **state)
{
	uint8_t first[] = {CIE, FDE(0x1100, 0x80, DW_CFA_def_cfa_offset, 16, 0, 0, 0, 0, 0, 0)};
	uint8_t second[] = {CIE, FDE(0x1200, 0x80, DW_CFA_def_cfa_offset, 24, 0, 0, 0, 0, 0, 0)};
	struct ap_cfi_section sections[2] = {
		{.bytes = first, .size = sizeof(first), .is_eh_frame = 1},
		{.bytes = second, .size = sizeof(second), .is_eh_frame = 1},
	};
	struct ap_cfi cfi;

	assert_int_equal(ap_cfi_compile(&cfi, sections, 2, 0x1000, 0x1000), 0);
	assert_int_equal(cfi.entries, 2);
	assert_int_equal(rule_at(&cfi, 0x1100)->cfa_offset, 16);
	assert_int_equal(rule_at(&cfi, 0x1200)->cfa_offset, 24);
	ap_cfi_clear(&cfi);
}

/* Every way to cut a section short, and every byte of it changed: no crash, and rows in order. */
static void test_mutations(void **state)
{
	uint8_t original[] = {CIE,
		FDE(0x1100, 0x80, DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 16,
			DW_CFA_advance_loc + 4, DW_CFA_def_cfa_register, 6, DW_CFA_offset + 6, 2),
		FDE(0x1140, 0x80, DW_CFA_remember_state, DW_CFA_advance_loc + 8,
			DW_CFA_restore_state, DW_CFA_undefined, 16, 0, 0, 0)};
	uint8_t bytes[sizeof(original)];
	struct ap_cfi cfi;

	for (size_t length = 0; length <= sizeof(original); length++)
		for (size_t at = 0; at < length; at++)
			for (unsigned int change = 1; change < 256; change += 7) {
				memcpy(bytes, original, length);
				bytes[at] ^= change;
				assert_int_equal(section_compile(&cfi, bytes, length), 0);
				for (uint32_t i = 0; i < cfi.row_count; i++) {
					assert_true(cfi.rows[i].at < 0x1000);
					assert_true(!i || cfi.rows[i].at > cfi.rows[i - 1].at);
					assert_true(cfi.rows[i].rule < cfi.rule_count);
				}
				ap_cfi_clear(&cfi);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_section),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_damaged_instructions),
		cmocka_unit_test(test_large_offsets),
		cmocka_unit_test(test_two_sections),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
