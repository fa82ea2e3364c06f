#!/usr/bin/env bash
# No function of the BPF programs has a stack frame of 64 bytes or more, rounded up to 16: new kernels
# keep those per CPU, where a thread that preempts another one inside the program overwrites them.
. "$(dirname "$0")/common.sh"
need_bpf
need bpftool unshare
! kernel_lacks bpf_loop || skip "bpftool loads all programs or none, and this kernel has no bpf_loop"

# bpftool cannot call what the loader resolves (kfunc.h): there, r0 = 0, as where the kernel lacks it.
LC_ALL=C sed 's/\x85\x00\x00\x00[\x01\x02]\x00\xf0\x7f/\xb7\x00\x00\x00\x00\x00\x00\x00/g' \
  "$O/bpf/allocprof.bpf.o" >"$tmp/allocprof.bpf.o"

# It pins what it loads: into a file system of its own, which goes with the namespace.
mkdir "$tmp/bpf"
unshare --mount sh -c 'mount -t bpf none "$1/bpf" && exec bpftool -d prog loadall "$2" "$1/bpf/pinned"' \
  sh "$tmp" "$tmp/allocprof.bpf.o" >"$tmp/load.out" 2>&1 || fail "not loaded"
depths=$(sed -n 's/^stack depth //p' "$tmp/load.out" | tr '+' '\n')
[ -n "$depths" ] || fail "the verifier says nothing of stack depths"
echo "frames: $(echo "$depths" | tr '\n' ' ')"
for depth in $depths; do
  [ "$depth" -le 48 ] || fail "a frame of $depth bytes"
done
