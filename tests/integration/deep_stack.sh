#!/usr/bin/env bash
# A stack deeper than what is recorded keeps its leaf end, and says that it is cut.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --deeper 200
attach attach --show-allocator -o "$tmp/out.folded" "$pid"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
has "$tmp/out.folded" "^\[truncated: too deep\];descend;.*;path;.*;fire;fire_alloc " || fail "not cut?"
equal "frames" "$(sed 's/ [0-9]*$//' "$tmp/out.folded" | tr ';' '\n' | grep -vc truncated)" 127
equal "live" "$(folded_sum "$tmp/out.folded")" "$(expected_sum live bytes)"
has "$tmp/attach.err" " 0% of samples have a whole stack" || fail "counted as whole"
