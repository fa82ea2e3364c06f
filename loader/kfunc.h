/* SPDX-License-Identifier: MIT */
/*
 * Calls of kernel functions that are not helpers, of which a kernel may lack some.
 *
 * libbpf resolves such calls, too. But a function that the kernel itself does not have it (1.1)
 * goes on to look for in the modules, and to list those takes CAP_SYS_ADMIN: somebody with CAP_BPF
 * could not load a program that can do without the function.
 */
#ifndef ALLOCPROF_KFUNC_H
#define ALLOCPROF_KFUNC_H

#include <stddef.h>
#include <stdint.h>

struct bpf_program;

struct ap_kfunc {
	int32_t number; /* which a program calls it by: AP_KFUNC_* */
	int32_t id;	/* in the kernel's BTF; 0: it has none */
};

/*
 * Makes a program that is open, and not loaded, call each by its id. A call of one that the kernel
 * lacks is replaced by an instruction that does nothing. 0, or a negative errno.
 */
int ap_kfuncs_resolve(struct bpf_program *program, const struct ap_kfunc *kfuncs, size_t count);

#endif
