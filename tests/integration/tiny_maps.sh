#!/usr/bin/env bash
# With maps that are made tiny on purpose the root of the picture is still the total, and what is
# lost is shown under its reason.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --threads 8 --rounds 200 --keep 11 --attaches 4
number=0
record() { # SHOW REASON OPTIONS...
  local show=$1 reason=$2
  shift 2
  number=$((number + 1))
  attach tiny --show "$show" --show-allocator -o "$tmp/tiny.folded" "$@" "$pid"
  wait_until has "$tmp/prober.out" "^done $number"
  detach || fail "attach ended with $?"
  wait_until has "$tmp/prober.out" "^fallen $number"
  has "$tmp/tiny.err" "^warning: [0-9]+ of 1600 samples are under \[$reason\]" ||
    fail "no warning of $reason"
  ! has "$tmp/tiny.err" "do not add up" || fail "the sums differ"
}

record allocated "stack map full" --max-stacks 3
has "$tmp/tiny.folded" "^\[stack map full\] [1-9]" || fail "the loss is not in the picture"
equal "allocated" "$(folded_sum "$tmp/tiny.folded")" "$(expected_sum allocated bytes)"
record live "stack map full" --max-stacks 3
equal "live" "$(folded_sum "$tmp/tiny.folded")" "$(expected_sum live bytes)"

# Allocated is known all the same. Live is an upper bound: what could not be followed is in it, under
# its reason.
record allocated "live map full" --max-live 5
diff <(from_path "$tmp/tiny.folded") <(expected allocated bytes) || fail "allocated differs"
record live "live map full" --max-live 5
has "$tmp/tiny.folded" "^\[live map full\] [1-9]" || fail "the loss is not in the picture"
[ "$(folded_sum "$tmp/tiny.folded")" -ge "$(expected_sum live bytes)" ] || fail "live is too small"
