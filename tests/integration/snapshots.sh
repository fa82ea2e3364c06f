#!/usr/bin/env bash
# Profiles written while the recording goes on: --every and SIGUSR1, with the names of -o; --keep
# removes what is too old, and nothing else. Each is whole, from the attach on: the difference of
# two is what grew between them. One that cannot be written ends nothing.
. "$(dirname "$0")/common.sh"
need_bpf
cd "$tmp"

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start mortal
hold() { # TIMES-SO-FAR
  echo -n h >"$tmp/mortal.in"
  wait_until has "$tmp/mortal.out" "^holds $1\$"
}
live() { # FILE...: MiB under hold()
  "$allocprof" "$@" -q -f folded -o - | awk '/;hold / { sum += $NF } END { printf "%.0f", sum / 2^20 }'
}
# 64 MiB in blocks of 64 KiB, each sampled with p = 1 - exp(-1/4): the standard deviation is 3.75
# MiB, of several times of it the root as much; 6 are exceeded once in 5 * 10^8 times.
near() { # WHAT MIB TIMES
  awk -v got="$2" -v times="$3" 'BEGIN { d = got - 64 * times; exit !(d * d <= times * (6 * 3.75 + 1) ^ 2) }' ||
    fail "$1: $2 MiB instead of 64 * $3"
}
wrote() { [ "$(grep -c "^wrote" "$tmp/$1.err")" -ge "$2" ]; } # NAME LINES

# By signal, with names.
attach signal --period 256K -o '%n-%p-%t.pb.gz' -o latest.folded "$pid"
hold 1
kill -USR1 "$loader"
wait_until wrote signal 2
first=$(echo mortal-"$pid"-2*Z.pb.gz)
cp "$first" first.pb.gz
near "the first" "$(live report first.pb.gz)" 1
near "the latest" "$(awk '/;hold / { sum += $NF } END { printf "%.0f", sum / 2^20 }' latest.folded)" 1
hold 2
hold 3
kill -0 "$loader" || fail "the recording has ended"
detach || fail "attach ended with $?"
last=$(find . -name 'mortal-*.pb.gz' | sort | tail -n 1)
near "the last" "$(live report "$last")" 3
near "the growth" "$(live diff first.pb.gz "$last")" 2
grep -q 'ended: a snapshot of it' <<<"$(gunzip -c first.pb.gz | strings)" || fail "a snapshot does not say that it is one"
rm -f mortal-* latest.folded

# By the clock. What somebody else has put there stays.
touch "s-1-20200101T000000Z.pb.gz"
attach every --every 300ms --keep 1 -o 's-1-%t.pb.gz' "$pid"
hold 4
two_names() { [ "$(grep '^wrote' every.err | sort -u | wc -l)" -ge 2 ]; }
wait_until two_names
detach || fail "attach ended with $?"
[ -e s-1-20200101T000000Z.pb.gz ] || fail "a file of somebody else's is gone"
read -r _ path _ < <(grep '^wrote' every.err | tail -n 1)
[ -e "$path" ] || fail "the last one, $path, is gone"
equal "files kept" "$(find . -name 's-1-*' | wc -l)" 2
rm -f s-1-*

# A place that goes away: a warning each time, and the end has its own.
mkdir place
attach gone --every 300ms -o place/x.pb.gz "$pid"
hold 5
wait_until [ -e place/x.pb.gz ]
rm -r place
wait_until has gone.err '^warning: no snapshot: cannot write place/x.pb.gz: No such file or directory'
mkdir place
wait_until [ -e place/x.pb.gz ]
detach || fail "attach ended with $?"

# No writer outlives its loader.
attach killed --every 100ms -o x.pb.gz "$pid"
hold 6
wait_until wrote killed 1
kill -9 "$loader"
wait "$loader" 2>/dev/null || true
writers_gone() { ! pgrep -f 'attach --every 100ms -o x.pb.gz' >/dev/null; }
wait_until writers_gone
equal "half of a file" "$(find . -name 'x.pb.gz?*')" ""
