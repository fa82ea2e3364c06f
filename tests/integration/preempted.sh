#!/usr/bin/env bash
# More threads than cores, each with a stack of its own, fire as fast as they can: threads are
# preempted inside the probes, and still every stack is one of the possible ones with exactly its
# own bytes.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --threads $(($(nproc) * 4 > 64 ? 64 : $(nproc) * 4 + 8)) --rounds "${ROUNDS:-10000}" --keep 13
attach attach --show allocated --show-allocator -o "$tmp/out.folded" "$pid"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
diff <(from_path "$tmp/out.folded") <(expected allocated bytes) || fail "stacks are mixed up"
! has "$tmp/attach.err" "^warning" || fail "something was lost"
