#!/usr/bin/env bash
# The allocator's threads are all reached, in each of three attaches: those that are allocating,
# asleep, about to end, or not there yet. And what they freed is not live.
. "$(dirname "$0")/common.sh"
need_bpf

objects() { # FILE FUNCTION
  awk -v name=";$2;" 'index($0, name) { sum += $NF } END { printf "%d", sum }' "$1"
}

# Runners and leavers may have been in a refill, and can use up that list: fewer blocks than the 300
# of one thread.
unseen=200
program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start spawner
for round in 1 2 3; do
  attach round$round --period 16 -o "$tmp/out.pb.gz" "$pid"
  echo >"$tmp/spawner.in"
  wait_until has "$tmp/spawner.out" "^done $round"
  detach || fail "attach ended with $?"
  ! has "$tmp/round$round.err" "^warning" || fail "warnings"
  for show in live allocated; do
    "$allocprof" report -q --show $show --by objects --show-allocator -o "$tmp/$show.folded" \
      "$tmp/out.pb.gz"
  done
  for group in sleeper starter runner leaver; do
    expected=$(grep "^$group " "$tmp/spawner.out" | tail -n 1 | cut -d' ' -f2)
    got=$(objects "$tmp/allocated.folded" $group)
    echo "round $round: $group: $got of $expected"
    case $group in
      sleeper | starter) equal "allocated by $group" "$got" "$expected" ;;
      *)
        if [ "$got" -gt "$expected" ] || [ "$got" -lt $((expected - unseen)) ]; then
          fail "allocated by $group: $got of $expected"
        fi
        ;;
    esac
    equal "live of $group" "$(objects "$tmp/live.folded" $group)" 0
  done
done
