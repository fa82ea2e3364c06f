#!/usr/bin/env bash
# A library that is loaded in the middle of a recording gets its unwind table at once; another one
# that takes its place in memory is not confused with it, however short the time between. Profiles
# that are written all the time meanwhile do not delay it.
. "$(dirname "$0")/common.sh"
need_bpf
need gcc

# Without frame pointers, so that nothing but the table leads through them.
for name in first second; do
  sed "s/plugin_inside/${name}_inside/g" tests/corpus/plugin.c >"$tmp/$name.c"
  gcc -g -O2 -fomit-frame-pointer -fPIC -shared -Wl,--build-id -o "$tmp/$name.so" "$tmp/$name.c"
done
mkfifo "$tmp/dlopener.in"
start dlopener "$tmp/first.so" "$tmp/second.so"
attach attach --every 50ms --show allocated --by objects --show-allocator -o "$tmp/out.folded" "$pid"
echo >"$tmp/dlopener.in"
wait_until has "$tmp/dlopener.out" "^done"
detach || fail "attach ended with $?"
echo "addresses: $(grep -E '^(same|other)' "$tmp/dlopener.out")"

samples() { # PATTERN
  awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { printf "%d", sum }' "$tmp/out.folded"
}
equal "samples" "$(samples .)" $((2 * (2 * 600 + 1)))
for name in first second; do
  whole=$(samples "^_start;.*;${name}_inside;.*fire_$name;fire_alloc ")
  cut=$(samples "^.truncated: .*;fire_$name;fire_alloc ")
  echo "$name: $whole whole, $cut before its table was there"
  # Two a round and a millisecond at least between rounds: as many as in a fifth of a second.
  [ "$cut" -le 400 ] || fail "$name: the table came late"
  [ "$whole" -gt 0 ] || fail "$name: no whole stack"
done
equal "first under second" "$(samples "second_inside.*fire_first")" 0
equal "second under first" "$(samples "first_inside.*fire_second")" 0
