/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of CFA programs, the instructions of .eh_frame and .debug_frame: from a CIE's
 * and an FDE's instructions to the rule at every address. Follows what a stack walk needs and no
 * other registers.
 */
#ifndef ALLOCPROF_CFI_PROGRAM_H
#define ALLOCPROF_CFI_PROGRAM_H

#include <stdint.h>

/* A part of a section that is being read. Reading beyond the end gives 0 and sets `failed`. */
struct ap_cfi_reader {
	const uint8_t *at, *end;
	int failed;
};

uint64_t ap_cfi_read_fixed(struct ap_cfi_reader *reader, unsigned int bytes);
uint64_t ap_cfi_read_uleb(struct ap_cfi_reader *reader);
int64_t ap_cfi_read_sleb(struct ap_cfi_reader *reader);

enum ap_cfi_kind {
	AP_CFI_UNSAID, /* no rule given: for the registers followed here that means same */
	AP_CFI_SAME,
	AP_CFI_UNDEFINED,
	AP_CFI_OFFSET,	   /* saved at CFA + value */
	AP_CFI_VAL_OFFSET, /* is CFA + value */
	AP_CFI_REGISTER,   /* is in register `value` */
	AP_CFI_EXPRESSION, /* saved at the address that the expression gives */
	AP_CFI_VAL_EXPRESSION,
};

struct ap_cfi_value {
	enum ap_cfi_kind kind;
	int64_t value;
	const uint8_t *expression;
	uint64_t length;
};

/* The registers that are followed. */
enum { AP_CFI_FP, AP_CFI_BX, AP_CFI_SP, AP_CFI_RA, AP_CFI_FOLLOWED };

/* What holds at one address. */
struct ap_cfi_state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* NULL: register + offset */
	uint64_t cfa_length;
	struct ap_cfi_value saved[AP_CFI_FOLLOWED];
};

/* What a CIE says of its FDEs. */
struct ap_cfi_common {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t ra_register;
	int is_signal;
	int is_sized;	  /* its FDEs have augmentation data, with its length before it */
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	struct ap_cfi_state initial;
};

/* Called once for each new address: the state that holds from there on. 0 or a negative errno. */
typedef int ap_cfi_emit_fn(void *context, uint64_t from, const struct ap_cfi_state *state);

/* Runs a CIE's instructions: common->initial. 0, or -EBADMSG. */
int ap_cfi_run_common(struct ap_cfi_common *common, struct ap_cfi_reader *instructions);

/*
 * Runs an FDE's instructions for code at [start, end). 0; -EBADMSG when there is one that is not
 * understood, with *reached set to where its effect would begin; what emit() returned.
 */
int ap_cfi_run(const struct ap_cfi_common *common, struct ap_cfi_reader *instructions,
	uint64_t start, uint64_t end, uint64_t *reached, ap_cfi_emit_fn *emit, void *context);

#endif
