#!/usr/bin/env bash
# A recording takes no more memory the longer it lasts: a target that loads and unloads a library
# thousands of times, at other addresses each time, with snapshots meanwhile. What may grow is the
# list of mappings, by 80 bytes for each that was seen, and it has an end.
. "$(dirname "$0")/common.sh"
need_bpf
need gcc
bound_kib=1024

gcc -g -O2 -fPIC -shared -Wl,--build-id -o "$tmp/plugin.so" tests/corpus/plugin.c
program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start reloader "$tmp/plugin.so"
attach attach --period 16K --every 300ms -o "$tmp/latest.pb.gz" "$pid"

rounds() {
  sed -n 's/^round //p' "$tmp/reloader.out" | tail -n 1
}
rounds_past() { # NUMBER
  [ "$(rounds)" -ge "$1" ] 2>/dev/null
}
resident() {
  awk '/^VmRSS:/ { print $2 }' "/proc/$loader/status"
}
descriptors() { # without those of a snapshot that is being written
  find "/proc/$loader/fd" -lname 'pipe:*' -prune -o -type l -print | wc -l
}
descriptors_at_most() { # NUMBER: one that is looked at just now is closed again
  [ "$(descriptors)" -le "$1" ]
}
written() { # LINES
  [ "$(grep -c '^wrote' "$tmp/attach.err")" -ge "$1" ]
}
begin=$(rounds)
wait_until rounds_past $((${begin:-0} + 500))
wait_until written 1
before=$(resident) files=$(descriptors) from=$(rounds)
wait_until rounds_past $((from + 3000))
wait_until written 3
after=$(resident)
echo "after $from rounds: $before KiB; after $(rounds): $after KiB, in $(grep -c ^wrote "$tmp/attach.err") snapshots"
[ "$after" -le $((before + bound_kib)) ] || fail "grown by $((after - before)) KiB"
wait_until descriptors_at_most "$files"
detach || fail "attach ended with $?"
