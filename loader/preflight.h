/* SPDX-License-Identifier: MIT */
/*
 * Whether this machine and this user can profile, asked before libbpf is, whose answers are hard
 * to understand. Kernel features are found by looking for them, not by the version.
 */
#ifndef ALLOCPROF_PREFLIGHT_H
#define ALLOCPROF_PREFLIGHT_H

#include <stdbool.h>

#include "error.h"

struct ap_preflight {
	bool has_preempt_disable; /* the kfuncs bpf_preempt_disable and bpf_preempt_enable */
	bool has_loop;		  /* the helper bpf_loop */
	bool has_uprobe_multi;	  /* and it reaches what it should: uprobe_multi.h */
};

/* 0, or a negative errno with the error filled in. Some 60 ms. */
int ap_preflight(struct ap_preflight *ret, struct ap_error *error);

/*
 * Fills in the error for a BPF or perf call that failed with `err` although the preflight found
 * nothing missing. `what` is the sentence that failed.
 */
void ap_preflight_explain(struct ap_error *error, int err, const char *what);

#endif
