#!/usr/bin/env bash
# A Go program that calls C. The call leaves the goroutine's stack for the thread's, so stacks end
# there; and there they all end, with nothing made up from what stands on that stack.
. "$(dirname "$0")/common.sh"
need_bpf
need go gcc

GOCACHE=$tmp/go HOME=$tmp GO111MODULE=off CGO_ENABLED=1 go build -o "$tmp/cgo" tests/programs/cgo.go
"$allocprof" run -q --period 4K -o "$tmp/cgo.folded" "$tmp/cgo" || fail "run ended with $?"
# 4 x 400 blocks, each of which is a sample but once in 10^10 times.
awk '/\[truncated: no unwind table\];runtime\.asmcgocall.*;_cgo_[0-9a-f]*_Cfunc_keep(;keep)? / { sum += $NF; next }
  /keep/ { print; wrong = 1 } END { exit wrong || sum != 160000000 }' "$tmp/cgo.folded" ||
  fail "$(cat "$tmp/cgo.folded")"
