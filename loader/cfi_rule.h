/* SPDX-License-Identifier: MIT */
/*
 * Turns the state of a CFA program at one address into one of the few rules that the BPF stack
 * walker knows.
 */
#ifndef ALLOCPROF_CFI_RULE_H
#define ALLOCPROF_CFI_RULE_H

#include <allocprof/unwind.h>

#include "cfi_program.h"

/* The rule for a state, or AP_CFA_UNSUPPORTED. */
void ap_cfi_rule(const struct ap_cfi_common *common, const struct ap_cfi_state *state,
	struct ap_unwind_rule *ret);

#endif
