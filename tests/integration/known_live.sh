#!/usr/bin/env bash
# The allocator and the loader together: live and allocated bytes of a program that knows its live
# set come out within five standard deviations; and so they do in a second recording, in which the
# blocks of the first are freed. A set period is back to what it was afterwards.
. "$(dirname "$0")/common.sh"
need_bpf

within() { # WHAT GOT EXPECTED SD
  awk -v got="$2" -v expected="$3" -v sd="$4" 'BEGIN {
    off = (got - expected) / sd
    printf "%.0f, expected %.0f, %+.1f standard deviations\n", got, expected, off
    exit !(off > -5 && off < 5) }' >"$tmp/within" || fail "$1: $(cat "$tmp/within")"
  echo "$1: $(cat "$tmp/within")"
}

period=16384
program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start live_set $period
for round in 1 2; do
  attach round$round --period $period -o "$tmp/live.folded" -o "$tmp/live.pb.gz" "$pid"
  has "$tmp/round$round.err" "1 sample per 16.0 KiB" || fail "the period was not set"
  echo >"$tmp/live_set.in"
  wait_until has "$tmp/live_set.out" "^done $round"
  detach || fail "attach ended with $?"
  read -r _ _ live live_sd allocated allocated_sd < <(grep "^done $round" "$tmp/live_set.out")
  within "live, round $round" "$(folded_sum "$tmp/live.folded")" "$live" "$live_sd"
  # Of some thousand samples the root of a variance is known to 2%.
  check_error_bar "$tmp/live.pb.gz" inuse_space "$live_sd"
  check_error_bar "$tmp/live.pb.gz" alloc_space "$allocated_sd"
  ! has "$tmp/round$round.err" "^warning" || fail "warnings: $(cat "$tmp/round$round.err")"
done
# Whoever looks without setting it sees the default again. (The deviation below is that of a period that
# nothing moves.)
attach last --max-rate 0 --show allocated -o "$tmp/allocated.folded" "$pid"
has "$tmp/last.err" "1 sample per 512.0 KiB" || fail "the period was not set back"
for round in 3 4 5; do
  echo >"$tmp/live_set.in"
  wait_until has "$tmp/live_set.out" "^done $round"
done
detach || fail "attach ended with $?"
# Three rounds with a period 32 times as large: the deviation of one, by the square roots of both.
within "allocated" "$(folded_sum "$tmp/allocated.folded")" $((3 * allocated)) \
  "$(awk -v sd="$allocated_sd" 'BEGIN { print sd * sqrt(3) * sqrt(32) }')"
