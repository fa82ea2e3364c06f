/* SPDX-License-Identifier: MIT */
/*
 * The compiler of call frame information: .eh_frame, and .debug_frame where there is one, into
 * sorted rows "from this byte of code on, this rule". The file is not trusted: where it is damaged,
 * stacks through that code end there with the reason; nothing else is affected.
 */
#ifndef ALLOCPROF_CFI_H
#define ALLOCPROF_CFI_H

#include <stdint.h>

#include <allocprof/unwind.h>

#include "cfi_section.h"

/*
 * The rule for code from `at` up to the next row; AP_RULE_NONE where no entry covers the code.
 * 8 bytes.
 */
struct ap_cfi_row {
	uint32_t at; /* bytes from ap_cfi.base */
	uint16_t rule;
	uint16_t zero;
};

struct ap_cfi {
	uint64_t base; /* address in the file (as linked) of byte 0 */
	uint64_t size; /* bytes of code; the rows are below */
	struct ap_cfi_row *rows;
	uint32_t row_count, row_room;
	struct ap_unwind_rule *rules; /* AP_RULE_NONE and AP_RULE_UNSUPPORTED are the first two */
	uint32_t rule_count, rule_room;
	uint32_t entries;     /* FDEs */
	uint32_t damaged;     /* FDEs whose instructions could not be followed to the end */
	uint32_t unsupported; /* rows with AP_RULE_UNSUPPORTED */
};

/*
 * Compiles sections for code at [base, base + size), size below 4 GiB. 0 or -ENOMEM; *ret is to be
 * cleared in any case.
 */
int ap_cfi_compile(struct ap_cfi *ret, const struct ap_cfi_section *sections, int count,
	uint64_t base, uint64_t size);

void ap_cfi_clear(struct ap_cfi *cfi);

#endif
