/* SPDX-License-Identifier: MIT */
/*
 * Calls of kernel functions that are not helpers (kfuncs); a kernel may lack some of them.
 *
 * libbpf could resolve such calls. But 1.1 searches the modules for a function that the kernel
 * itself does not have, and listing modules takes CAP_SYS_ADMIN: with CAP_BPF alone, even a program
 * that can do without the function could not be loaded.
 */
#ifndef ALLOCPROF_KFUNC_H
#define ALLOCPROF_KFUNC_H

#include <stddef.h>
#include <stdint.h>

struct bpf_program;

struct ap_kfunc {
	int32_t number; /* by which the programs call it: AP_KFUNC_* */
	int32_t id;	/* in the kernel's BTF; 0: it has none */
};

/*
 * Makes a program call each by its id; to be called after it was opened and before it is loaded. A
 * call of a function that the kernel lacks is replaced by an instruction that does nothing. 0 or a
 * negative errno.
 */
int ap_kfuncs_resolve(struct bpf_program *program, const struct ap_kfunc *kfuncs, size_t count);

#endif
