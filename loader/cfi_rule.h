/* SPDX-License-Identifier: MIT */
/*
 * What a CFA program has come to at one address, as one of the few rules that the kernel's stack
 * walk follows.
 */
#ifndef ALLOCPROF_CFI_RULE_H
#define ALLOCPROF_CFI_RULE_H

#include <allocprof/unwind.h>

#include "cfi_program.h"

/* The rule for a state, or AP_CFA_UNSUPPORTED. */
void ap_cfi_rule(const struct ap_cfi_common *common, const struct ap_cfi_state *state,
	struct ap_unwind_rule *ret);

#endif
