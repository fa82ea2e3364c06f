#!/usr/bin/env bash
# --guard: an overflow of a sampled block, and a use after its free, end the process with a line
# that says which block. Without it, and after its recording, they do not.
. "$(dirname "$0")/common.sh"
need_bpf

misuse() { # HOW
  echo -n "$1" >"$tmp/overflow.in"
}

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start overflow
misuse o
wait_until has "$tmp/overflow.out" "^survived 1"
turn=1
for options in "" "--guard" ""; do
  # Every block is a sample.
  # shellcheck disable=SC2086
  attach turn$turn --period 1 $options -o "$tmp/out.folded" "$pid"
  if [ -z "$options" ]; then
    for how in o f; do
      misuse $how
      turn=$((turn + 1))
      wait_until has "$tmp/overflow.out" "^survived $turn"
    done
  fi
  detach || [ $? = 6 ] || fail "attach ended with $?"
done
[ ! -s "$tmp/overflow.err" ] || fail "a line without a misuse that was found"
kill -9 "$pid"

for how in o f; do
  [ $how = f ] || says='access past the end of a sampled block, at 0x[0-9a-f]*: block 0x[0-9a-f]* of 4096 bytes, allocated [0-9.]* s ago$'
  [ $how = o ] || says='use after free of a sampled block, at 0x[0-9a-f]*: block 0x[0-9a-f]* of 4096 bytes, allocated [0-9.]* s ago, freed [0-9.]* s ago$'
  start overflow
  attach dies --guard --period 1 -o "$tmp/out.folded" "$pid"
  misuse $how
  status=0
  wait "$pid" || status=$?
  equal "status by $how" $status 139
  wait "$loader" || fail "attach ended with $?"
  has "$tmp/overflow.err" "^allocprof: $says" || fail "not a word of it: $how"
done

# An allocator that has no such thing.
program_env=(env)
start prober
status=0
"$allocprof" attach --guard "$pid" 2>"$tmp/none.err" || status=$?
equal "status without a guard" $status 1
has "$tmp/none.err" "^allocprof: the allocator of process $pid cannot guard its sampled blocks" ||
  fail "no reason"
has "$tmp/none.err" "^hint: leave out --guard" || fail "no hint"
