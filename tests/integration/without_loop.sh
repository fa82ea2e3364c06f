#!/usr/bin/env bash
# The stack walker as kernels before 5.17 load it, without bpf_loop, gives the same results.
. "$(dirname "$0")/common.sh"
need_bpf

export ALLOCPROF_FORCE=no-bpf-loop
for test in attach_exact deep_stack preempted dlopen; do
  O=$O bash "tests/integration/$test.sh" >"$tmp/$test.out" 2>&1 || fail "$test"
done
