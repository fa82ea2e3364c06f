#!/usr/bin/env bash
# No function of the BPF programs has a stack frame of 64 bytes or more: new kernels keep those per
# CPU, where a thread that preempts another one inside the program overwrites them.
. "$(dirname "$0")/common.sh"
need_bpf
need bpftool unshare
! kernel_lacks bpf_loop || skip "bpftool loads all programs or none, and this kernel has no bpf_loop"

# bpftool pins what it loads: into a file system of its own, which goes with the namespace.
mkdir "$tmp/bpf"
unshare --mount sh -c 'mount -t bpf none "$1/bpf" && exec bpftool -d prog loadall "$2" "$1/bpf/pinned"' \
  sh "$tmp" "$O/bpf/allocprof.bpf.o" >"$tmp/load.out" 2>&1 || fail "not loaded"
depths=$(sed -n 's/^stack depth //p' "$tmp/load.out" | tr '+' '\n')
[ -n "$depths" ] || fail "the verifier says nothing of stack depths"
echo "frames: $(echo "$depths" | tr '\n' ' ')"
for depth in $depths; do
  [ "$depth" -lt 64 ] || fail "a frame of $depth bytes"
done
