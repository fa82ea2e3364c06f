// SPDX-License-Identifier: MIT
#include "kfunc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

/* r0 is the result of any call, so nothing relies on it. */
static struct bpf_insn call_of(const struct ap_kfunc *kfunc)
{
	struct bpf_insn call = {
		.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = kfunc->id};
	struct bpf_insn nothing = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0};

	return kfunc->id ? call : nothing;
}

int ap_kfuncs_resolve(struct bpf_program *program, const struct ap_kfunc *kfuncs, size_t count)
{
	size_t length = bpf_program__insn_cnt(program);
	struct bpf_insn *code = malloc(length * sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	memcpy(code, bpf_program__insns(program), length * sizeof(*code));
	for (size_t i = 0; i < length; i++)
		for (size_t j = 0; j < count; j++)
			if (code[i].code == (BPF_JMP | BPF_CALL) && !code[i].src_reg &&
				code[i].imm == kfuncs[j].number)
				code[i] = call_of(&kfuncs[j]);
	/*
	 * The number of instructions has not changed, so what libbpf still has to
	 * relocate stays in place.
	 */
	err = bpf_program__set_insns(program, code, length);
	free(code);
	return err;
}
