/* SPDX-License-Identifier: MIT */
/*
 * Whether this machine and this user can profile: checked before libbpf fails with an error that is
 * hard to understand. Kernel features are found by trying them, not by the version.
 */
#ifndef ALLOCPROF_PREFLIGHT_H
#define ALLOCPROF_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define AP_BTF_PATH "/sys/kernel/btf/vmlinux"

struct ap_preflight {
	/* The BTF ids of the kfuncs bpf_preempt_disable and bpf_preempt_enable: both, or 0. */
	int32_t preempt_disable;
	int32_t preempt_enable;
	bool has_loop;	       /* the helper bpf_loop */
	bool has_uprobe_multi; /* and it works as it should: see uprobe_multi.h */
};

/* 0, or a negative errno with the error filled in. Takes some 60 ms. */
int ap_preflight(struct ap_preflight *ret, struct ap_error *error);

/* ---- The single checks, for `allocprof doctor` ---- */

/* Writes the names of the capabilities that this process lacks; "": none. */
#define AP_MISSING_TEXT 80
void ap_preflight_missing(char out[AP_MISSING_TEXT]);

/* The hint for that. A root that lacks capabilities is, as a rule, root in a container. */
const char *ap_preflight_missing_hint(void);

/*
 * Reads the kernel's lockdown file; "" when there is none. Returns whether the
 * kernel is locked down.
 */
bool ap_lockdown_read(char *out, size_t room);

/* kernel.perf_event_paranoid, or "unknown". */
void ap_perf_paranoid_read(char *out, size_t room);

/* Whether this process is in the initial user namespace: in another, capabilities mean little. */
bool ap_in_initial_user_namespace(void);

/*
 * Fills in the error for a BPF or perf call that failed with `err` (a negative errno) although the
 * preflight found nothing missing. `what` is the sentence for ap_error.what.
 */
void ap_preflight_explain(struct ap_error *error, int err, const char *what);

#endif
