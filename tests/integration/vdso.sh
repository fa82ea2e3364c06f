#!/usr/bin/env bash
# Stacks through the code that the kernel maps into each process are whole, and it has names.
. "$(dirname "$0")/common.sh"
need_bpf

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start alarmed
"$allocprof" attach -q -d 300ms --show allocated -o "$tmp/out.folded" "$pid"
! grep truncated "$tmp/out.folded" || fail "stacks are cut"
grep -q ';main;read_clock;[^;]*clock_gettime[^;]*;[^;]*clock_gettime;.*;allocate ' "$tmp/out.folded" ||
  fail "no stack through the vDSO: $(cat "$tmp/out.folded")"
