// SPDX-License-Identifier: MIT
#include "cfi_program.h"

#include <dwarf.h>
#include <errno.h>
#include <stddef.h>

#include <allocprof/machine.h>

/* gcc nests one or two. */
#define REMEMBERED_MAX 64

uint64_t ap_cfi_read_fixed(struct ap_cfi_reader *reader, unsigned int bytes)
{
	uint64_t value = 0;

	if ((uint64_t)(reader->end - reader->at) < bytes) {
		reader->at = reader->end;
		reader->failed = 1;
		return 0;
	}
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)reader->at[i] << (8 * i);
	reader->at += bytes;
	return value;
}

/* Bits beyond the 64th are dropped, as elsewhere. */
static uint64_t leb_read(struct ap_cfi_reader *reader, unsigned int *bits, uint8_t *last)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = ap_cfi_read_fixed(reader, 1);
		if (*bits < 64)
			value |= (uint64_t)(*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80 && !reader->failed && *bits < 1024);
	return value;
}

uint64_t ap_cfi_read_uleb(struct ap_cfi_reader *reader)
{
	unsigned int bits;
	uint8_t last;

	return leb_read(reader, &bits, &last);
}

int64_t ap_cfi_read_sleb(struct ap_cfi_reader *reader)
{
	unsigned int bits;
	uint8_t last;
	uint64_t value = leb_read(reader, &bits, &last);

	if (last & 0x40 && bits < 64)
		value |= ~0ULL << bits;
	return (int64_t)value;
}

/* ---- Instructions ---- */

struct run {
	const struct ap_cfi_common *common;
	struct ap_cfi_reader *reader;
	struct ap_cfi_state state;
	struct ap_cfi_state remembered[REMEMBERED_MAX];
	unsigned int remembered_count;
	uint64_t at; /* the address that the instructions have reached */
};

/* Where to note a register; NULL: it is none of those followed. */
static struct ap_cfi_value *saved_get(struct run *run, uint64_t number)
{
	if (number == run->common->ra_register)
		return &run->state.saved[AP_CFI_RA];
	switch (number) {
	case AP_REG_FP:
		return &run->state.saved[AP_CFI_FP];
	case AP_REG_BX:
		return &run->state.saved[AP_CFI_BX];
	case AP_REG_SP:
		return &run->state.saved[AP_CFI_SP];
	}
	return NULL;
}

static void saved_set(struct run *run, uint64_t number, enum ap_cfi_kind kind, int64_t value)
{
	struct ap_cfi_value *saved = saved_get(run, number);

	if (saved)
		*saved = (struct ap_cfi_value){.kind = kind, .value = value};
}

static void saved_restore(struct run *run, uint64_t number)
{
	struct ap_cfi_value *saved = saved_get(run, number);

	if (saved)
		*saved = run->common->initial.saved[saved - run->state.saved];
}

static int64_t factored(const struct run *run, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)run->common->data_factor);
}

/* A block: its length, then its bytes. */
static const uint8_t *block_read(struct ap_cfi_reader *reader, uint64_t *length)
{
	const uint8_t *block;

	*length = ap_cfi_read_uleb(reader);
	block = reader->at;
	if (*length > (uint64_t)(reader->end - reader->at)) {
		reader->failed = 1;
		*length = 0;
		return block;
	}
	reader->at += *length;
	return block;
}

static void cfa_set(struct run *run, uint64_t number, int64_t offset)
{
	run->state.cfa_register = number;
	run->state.cfa_offset = offset;
	run->state.cfa_expression = NULL;
}

static void expression_take(struct run *run, enum ap_cfi_kind kind)
{
	uint64_t number = ap_cfi_read_uleb(run->reader);
	struct ap_cfi_value *saved = saved_get(run, number);
	struct ap_cfi_value value = {.kind = kind};

	value.expression = block_read(run->reader, &value.length);
	if (saved)
		*saved = value;
}

static int state_remember(struct run *run)
{
	if (run->remembered_count == REMEMBERED_MAX)
		return -EBADMSG;
	run->remembered[run->remembered_count++] = run->state;
	return 0;
}

static int state_restore(struct run *run)
{
	if (!run->remembered_count)
		return -EBADMSG;
	run->state = run->remembered[--run->remembered_count];
	return 0;
}

/* Runs the instructions whose first operand is a register. */
static int register_instruction_run(struct run *run, uint8_t code)
{
	struct ap_cfi_reader *reader = run->reader;
	uint64_t number = ap_cfi_read_uleb(reader);

	switch (code) {
	case DW_CFA_offset_extended:
		saved_set(run, number, AP_CFI_OFFSET, factored(run, ap_cfi_read_uleb(reader)));
		return 0;
	case DW_CFA_offset_extended_sf:
		saved_set(run, number, AP_CFI_OFFSET, factored(run, ap_cfi_read_sleb(reader)));
		return 0;
	case DW_CFA_GNU_negative_offset_extended:
		saved_set(run, number, AP_CFI_OFFSET, factored(run, -ap_cfi_read_uleb(reader)));
		return 0;
	case DW_CFA_val_offset:
		saved_set(run, number, AP_CFI_VAL_OFFSET, factored(run, ap_cfi_read_uleb(reader)));
		return 0;
	case DW_CFA_val_offset_sf:
		saved_set(run, number, AP_CFI_VAL_OFFSET, factored(run, ap_cfi_read_sleb(reader)));
		return 0;
	case DW_CFA_restore_extended:
		saved_restore(run, number);
		return 0;
	case DW_CFA_undefined:
		saved_set(run, number, AP_CFI_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		saved_set(run, number, AP_CFI_SAME, 0);
		return 0;
	case DW_CFA_register:
		saved_set(run, number, AP_CFI_REGISTER, (int64_t)ap_cfi_read_uleb(reader));
		return 0;
	}
	return -EBADMSG;
}

/* Runs an instruction that changes the state. */
static int instruction_run(struct run *run, uint8_t code)
{
	struct ap_cfi_reader *reader = run->reader;
	uint64_t number;

	switch (code & 0xc0) {
	case DW_CFA_offset:
		saved_set(run, code & 0x3f, AP_CFI_OFFSET, factored(run, ap_cfi_read_uleb(reader)));
		return 0;
	case DW_CFA_restore:
		saved_restore(run, code & 0x3f);
		return 0;
	}
	switch (code) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_remember_state:
		return state_remember(run);
	case DW_CFA_restore_state:
		return state_restore(run);
	case DW_CFA_GNU_args_size:
		ap_cfi_read_uleb(reader);
		return 0;
#ifdef __aarch64__
	case DW_CFA_AARCH64_negate_ra_state: /* it is removed from every address anyway */
		return 0;
#endif
	case DW_CFA_def_cfa:
		number = ap_cfi_read_uleb(reader);
		cfa_set(run, number, ap_cfi_read_uleb(reader));
		return 0;
	case DW_CFA_def_cfa_sf:
		number = ap_cfi_read_uleb(reader);
		cfa_set(run, number, factored(run, ap_cfi_read_sleb(reader)));
		return 0;
	case DW_CFA_def_cfa_expression:
		run->state.cfa_expression = block_read(reader, &run->state.cfa_length);
		return 0;
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		if (run->state.cfa_expression)
			return -EBADMSG;
		if (code == DW_CFA_def_cfa_register)
			run->state.cfa_register = ap_cfi_read_uleb(reader);
		else if (code == DW_CFA_def_cfa_offset)
			run->state.cfa_offset = ap_cfi_read_uleb(reader);
		else
			run->state.cfa_offset = factored(run, ap_cfi_read_sleb(reader));
		return 0;
	case DW_CFA_expression:
		expression_take(run, AP_CFI_EXPRESSION);
		return 0;
	case DW_CFA_val_expression:
		expression_take(run, AP_CFI_VAL_EXPRESSION);
		return 0;
	}
	return register_instruction_run(run, code);
}

/*
 * How far an instruction advances, in bytes of code; -1: it does not. DW_CFA_set_loc is not
 * supported: no compiler writes it, and it could go backwards.
 */
static int64_t advance_read(struct run *run, uint8_t code)
{
	uint64_t units;

	if ((code & 0xc0) == DW_CFA_advance_loc)
		units = code & 0x3f;
	else if (code == DW_CFA_advance_loc1)
		units = ap_cfi_read_fixed(run->reader, 1);
	else if (code == DW_CFA_advance_loc2)
		units = ap_cfi_read_fixed(run->reader, 2);
	else if (code == DW_CFA_advance_loc4)
		units = ap_cfi_read_fixed(run->reader, 4);
	else
		return -1;
	/* No machine has a larger factor, and the product could overflow. */
	if (run->common->code_factor > 16)
		run->reader->failed = 1;
	return run->reader->failed ? 0 : (int64_t)(units * run->common->code_factor);
}

int ap_cfi_run_common(struct ap_cfi_common *common, struct ap_cfi_reader *instructions)
{
	struct run run = {.common = common, .reader = instructions};
	int err = 0;

	while (!err && instructions->at < instructions->end && !instructions->failed) {
		uint8_t code = ap_cfi_read_fixed(instructions, 1);

		err = instruction_run(&run, code);
	}
	common->initial = run.state;
	return err || instructions->failed ? -EBADMSG : 0;
}

int ap_cfi_run(const struct ap_cfi_common *common, struct ap_cfi_reader *instructions,
	uint64_t start, uint64_t end, uint64_t *reached, ap_cfi_emit_fn *emit, void *context)
{
	struct run run;
	int err = 0;

	run.common = common;
	run.reader = instructions;
	run.state = common->initial;
	run.remembered_count = 0;
	run.at = start;
	while (!err && instructions->at < instructions->end && run.at < end) {
		uint8_t code = ap_cfi_read_fixed(instructions, 1);
		int64_t advance = advance_read(&run, code);
		uint64_t from = run.at;

		*reached = run.at;
		if (advance < 0)
			err = instruction_run(&run, code);
		if (instructions->failed)
			err = -EBADMSG;
		if (err || advance <= 0)
			continue;
		run.at = (uint64_t)advance > end - from ? end : from + advance;
		err = emit(context, from, &run.state);
	}
	if (!err && run.at < end)
		err = emit(context, run.at, &run.state);
	return err;
}
