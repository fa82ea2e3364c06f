#!/usr/bin/env bash
# No function of the BPF programs has a stack frame of 64 bytes or more: new kernels keep those per
# CPU, where a thread that preempts another one inside the program overwrites them.
. "$(dirname "$0")/common.sh"
need_bpf
need bpftool

pinned=/sys/fs/bpf/allocprof-test-$$
mountpoint -q /sys/fs/bpf || skip "needs /sys/fs/bpf"
bpftool -d prog loadall "$O/bpf/allocprof.bpf.o" "$pinned" >"$tmp/load.out" 2>&1 || fail "not loaded"
rm -rf "$pinned"
depths=$(sed -n 's/^stack depth //p' "$tmp/load.out" | tr '+' '\n')
[ -n "$depths" ] || fail "the verifier says nothing of stack depths"
echo "frames: $(echo "$depths" | tr '\n' ' ')"
for depth in $depths; do
  [ "$depth" -lt 64 ] || fail "a frame of $depth bytes"
done
