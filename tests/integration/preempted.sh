#!/usr/bin/env bash
# More threads than cores, each with a stack of its own, fire as fast as they can: threads are
# preempted inside the probes, and still every stack is one of the possible ones with exactly its
# own bytes. Where the programs hold the CPU that is tried without as well, as on older kernels:
# preempted anywhere, others run the same program on the same CPU.
. "$(dirname "$0")/common.sh"
need_bpf

threads=$(($(nproc) * 4 > 64 ? 64 : $(nproc) * 4 + 8))
record() { # NAME
  start prober --threads $threads --rounds "${ROUNDS:-10000}" --keep 13
  attach "$1" -v --show allocated --show-allocator -o "$tmp/out.folded" "$pid"
  wait_until has "$tmp/prober.out" "^done"
  detach || fail "$1: attach ended with $?"
  diff <(from_path "$tmp/out.folded") <(expected allocated bytes) || fail "$1: stacks are mixed up"
  ! has "$tmp/$1.err" "^warning" || fail "$1: something was lost"
  kill -9 "$pid"
}

record first
if has "$tmp/first.err" "^kernel: .* with bpf_preempt_disable"; then
  export ALLOCPROF_FORCE=no-preempt-disable,${ALLOCPROF_FORCE:-}
  record anywhere
  has "$tmp/anywhere.err" "^kernel: .* without bpf_preempt_disable" || fail "not as was asked for"
fi
