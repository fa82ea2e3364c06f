// SPDX-License-Identifier: MIT
#include "cfi_rule.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

static bool fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static struct ap_cfi_reader expression_reader(const uint8_t *expression, uint64_t length)
{
	return (struct ap_cfi_reader){.at = expression, .end = expression + length};
}

/* "register + offset", the beginning of all expressions known here. */
static bool breg_read(struct ap_cfi_reader *reader, uint64_t *number, int64_t *offset)
{
	uint8_t code = ap_cfi_read_fixed(reader, 1);

	if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
		*number = code - DW_OP_breg0;
	else if (code == DW_OP_bregx)
		*number = ap_cfi_read_uleb(reader);
	else
		return false;
	*offset = ap_cfi_read_sleb(reader);
	return !reader->failed;
}

/* The expression of an x86-64 PLT's section: see AP_CFA_PLT. */
static bool plt_match(const uint8_t *expression, uint64_t length, int64_t *from)
{
	static const uint8_t plt[] = {DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15,
		DW_OP_and, DW_OP_lit0, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const size_t literal = 6;

	if (length != sizeof(plt) || memcmp(expression, plt, literal) ||
		memcmp(expression + literal + 1, plt + literal + 1, length - literal - 1) ||
		expression[literal] < DW_OP_lit0 || expression[literal] > DW_OP_lit15)
		return false;
	*from = expression[literal] - DW_OP_lit0;
	return true;
}

static bool cfa_expression_rule(const struct ap_cfi_state *state, struct ap_unwind_rule *rule)
{
	struct ap_cfi_reader reader = expression_reader(state->cfa_expression, state->cfa_length);
	int64_t offset, add = 0;
	uint64_t number;

#ifdef __x86_64__
	if (plt_match(state->cfa_expression, state->cfa_length, &add)) {
		rule->cfa = AP_CFA_PLT;
		rule->cfa_register = AP_REG_SP;
		rule->cfa_offset = 8;
		rule->cfa_add = (int32_t)add;
		return true;
	}
#endif
	if (!breg_read(&reader, &number, &offset) || ap_cfi_read_fixed(&reader, 1) != DW_OP_deref)
		return false;
	if (reader.at < reader.end) {
		if (ap_cfi_read_fixed(&reader, 1) != DW_OP_plus_uconst)
			return false;
		add = (int64_t)ap_cfi_read_uleb(&reader);
	}
	if (reader.failed || reader.at < reader.end || number >= AP_REG_RA || !fits(offset) ||
		!fits(add))
		return false;
	rule->cfa = AP_CFA_DEREFERENCE;
	rule->cfa_register = (uint8_t)number;
	rule->cfa_offset = (int32_t)offset;
	rule->cfa_add = (int32_t)add;
	return true;
}

/* The kernel's signal frame, as libc's trampoline describes it: the CFA is the saved sp. */
static bool is_signal_frame(const struct ap_cfi_state *state)
{
	static const uint8_t slots[] = AP_SIGNAL_SLOTS;
	struct ap_cfi_reader reader;
	uint64_t number;
	int64_t offset;

	if (!state->cfa_expression)
		return false;
	reader = expression_reader(state->cfa_expression, state->cfa_length);
	return breg_read(&reader, &number, &offset) && number == AP_REG_SP &&
	       offset == AP_SIGNAL_REGISTERS + 8 * slots[AP_REG_SP] &&
	       ap_cfi_read_fixed(&reader, 1) == DW_OP_deref && reader.at == reader.end &&
	       !reader.failed;
}

/* A register that is lost ends only the stacks that need it. */
static void saved_rule(const struct ap_cfi_value *value, uint8_t *saved, int32_t *offset)
{
	struct ap_cfi_reader reader;
	uint64_t number;
	int64_t from;

	*saved = AP_SAVED_LOST;
	switch (value->kind) {
	case AP_CFI_UNSAID:
	case AP_CFI_SAME:
		*saved = AP_SAVED_SAME;
		break;
	case AP_CFI_OFFSET:
		if (!fits(value->value))
			break;
		*saved = AP_SAVED_CFA;
		*offset = (int32_t)value->value;
		break;
	case AP_CFI_EXPRESSION:
		reader = expression_reader(value->expression, value->length);
		if (!breg_read(&reader, &number, &from) || number != AP_REG_FP || !fits(from) ||
			reader.at != reader.end)
			break;
		*saved = AP_SAVED_FP;
		*offset = (int32_t)from;
		break;
	default:
		break;
	}
}

static bool ra_rule(const struct ap_cfi_value *value, struct ap_unwind_rule *rule)
{
	if (value->kind == AP_CFI_OFFSET && fits(value->value)) {
		rule->ra = AP_SAVED_CFA;
		rule->ra_offset = (int32_t)value->value;
		return true;
	}
	if (value->kind == AP_CFI_REGISTER && value->value >= 0 && value->value < AP_REGISTERS) {
		rule->ra = AP_SAVED_REG;
		rule->ra_offset = (int32_t)value->value;
		return true;
	}
#ifdef __aarch64__
	if (value->kind == AP_CFI_UNSAID || value->kind == AP_CFI_SAME) {
		rule->ra = AP_SAVED_REG;
		rule->ra_offset = AP_REG_RA;
		return true;
	}
#endif
	return false;
}

void ap_cfi_rule(const struct ap_cfi_common *common, const struct ap_cfi_state *state,
	struct ap_unwind_rule *ret)
{
	const struct ap_cfi_value *sp = &state->saved[AP_CFI_SP];
	const struct ap_cfi_value *ra = &state->saved[AP_CFI_RA];
	struct ap_unwind_rule rule = {0};

	*ret = (struct ap_unwind_rule){.cfa = AP_CFA_UNSUPPORTED};
	if (ra->kind == AP_CFI_UNDEFINED) {
		ret->cfa = AP_CFA_END;
		return;
	}
	if (common->is_signal) {
		if (is_signal_frame(state))
			ret->cfa = AP_CFA_SIGNAL;
		return;
	}
	/* The caller's stack pointer is the CFA, or else this is a switch of stacks. */
	if (sp->kind != AP_CFI_UNSAID && (sp->kind != AP_CFI_VAL_OFFSET || sp->value))
		return;
	if (state->cfa_expression) {
		if (!cfa_expression_rule(state, &rule))
			return;
	} else {
		if (state->cfa_register >= AP_REG_RA || !fits(state->cfa_offset))
			return;
		rule.cfa = AP_CFA_REGISTER;
		rule.cfa_register = (uint8_t)state->cfa_register;
		rule.cfa_offset = (int32_t)state->cfa_offset;
	}
	if (!ra_rule(ra, &rule))
		return;
	saved_rule(&state->saved[AP_CFI_FP], &rule.fp, &rule.fp_offset);
	saved_rule(&state->saved[AP_CFI_BX], &rule.bx, &rule.bx_offset);
	*ret = rule;
}
