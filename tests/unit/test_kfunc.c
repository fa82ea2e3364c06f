// SPDX-License-Identifier: MIT
/*
 * Calls of kernel functions in the programs themselves: each is there, and is resolved, or gone
 * where the kernel lacks the function, and nothing else is touched. No rights are needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <allocprof/abi.h>

#include "allocprof.skel.h"
#include "kfunc.h"

static size_t calls_count(const struct bpf_program *program, int source, int32_t number)
{
	const struct bpf_insn *code = bpf_program__insns(program);
	size_t found = 0;

	for (size_t i = 0; i < bpf_program__insn_cnt(program); i++)
		found += code[i].code == (BPF_JMP | BPF_CALL) && code[i].src_reg == source &&
			 code[i].imm == number;
	return found;
}

static size_t differing_count(
	const struct bpf_program *program, const struct bpf_insn *before, size_t length)
{
	size_t found = 0;

	assert_int_equal(bpf_program__insn_cnt(program), length);
	for (size_t i = 0; i < length; i++)
		found += memcmp(&bpf_program__insns(program)[i], &before[i], sizeof(*before)) != 0;
	return found;
}

static void check_program(struct bpf_program *program, int32_t disable, int32_t enable)
{
	const struct ap_kfunc kfuncs[] = {
		{AP_KFUNC_PREEMPT_DISABLE, disable},
		{AP_KFUNC_PREEMPT_ENABLE, enable},
	};
	size_t length = bpf_program__insn_cnt(program);
	struct bpf_insn *before = malloc(length * sizeof(*before));

	assert_non_null(before);
	memcpy(before, bpf_program__insns(program), length * sizeof(*before));
	assert_int_equal(calls_count(program, 0, AP_KFUNC_PREEMPT_DISABLE), 1);
	assert_int_equal(calls_count(program, 0, AP_KFUNC_PREEMPT_ENABLE), 1);
	assert_int_equal(ap_kfuncs_resolve(program, kfuncs, 2), 0);
	assert_int_equal(calls_count(program, 0, AP_KFUNC_PREEMPT_DISABLE), 0);
	assert_int_equal(calls_count(program, 0, AP_KFUNC_PREEMPT_ENABLE), 0);
	assert_int_equal(calls_count(program, BPF_PSEUDO_KFUNC_CALL, disable), disable ? 1 : 0);
	assert_int_equal(calls_count(program, BPF_PSEUDO_KFUNC_CALL, enable), enable ? 1 : 0);
	assert_int_equal(differing_count(program, before, length), 2);
	free(before);
}

static void check_programs(int32_t disable, int32_t enable)
{
	struct allocprof_bpf *skeleton = allocprof_bpf__open();

	assert_non_null(skeleton);
	check_program(skeleton->progs.on_alloc, disable, enable);
	check_program(skeleton->progs.on_alloc_without_loop, disable, enable);
	check_program(skeleton->progs.on_free, disable, enable);
	allocprof_bpf__destroy(skeleton);
}

static void test_resolved(void **state)
{
	check_programs(71234, 71233);
}

static void test_lacking(void **state)
{
	check_programs(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
