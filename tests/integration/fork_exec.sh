#!/usr/bin/env bash
# The children of an attached process start clean: nothing of theirs is in its profile, and they can
# be attached themselves. Attached by perf uprobes, a forked child has its semaphores at 0 after the
# first sample that it took for nothing; by uprobe_multi at the end of the recording. What a child
# frees of its parent's stays live in the parent.
. "$(dirname "$0")/common.sh"
need_bpf
need readelf

objects() { # FUNCTION live|allocated
  "$allocprof" report -q --show "$2" --by objects -o "$tmp/$2.folded" "$tmp/out.pb.gz"
  awk -v name=";$1 " 'index($0, name) { sum += $NF } END { printf "%d", sum }' "$tmp/$2.folded"
}
count_is() { # PATTERN NUMBER
  [ "$(grep -c "$1" "$tmp/forker.out")" = "$2" ]
}

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start forker
equal "semaphores before" "$(library_semaphores "$pid")" "0 0 "
attach parent -v --period 16 -o "$tmp/out.pb.gz" "$pid"
echo >"$tmp/forker.in"
wait_until has "$tmp/forker.out" "^done"
wait_until count_is '^executed' 2
wait_until count_is '^forked' 1
equal "semaphores of the parent" "$(library_semaphores "$pid")" "1 1 "
while read -r what child; do
  expected="0 0 "
  if [ "$what" = forked ] && has "$tmp/parent.err" "attached by uprobe_multi"; then expected="1 1 "; fi
  equal "semaphores of the child that was $what" "$(library_semaphores "$child")" "$expected"
done < <(grep -E '^(forked|executed)' "$tmp/forker.out")
detach || fail "attach ended with $?"
! has "$tmp/parent.err" "^warning" || fail "warnings"
read -r _ allocated live < <(grep ^done "$tmp/forker.out")
equal "allocated by the parent" "$(objects parent allocated)" "$allocated"
equal "live in the parent" "$(objects parent live)" "$live"
for site in child executed again; do
  equal "allocated by $site()" "$(objects $site allocated)" 0
done
equal "semaphores after" "$(library_semaphores "$pid")" "0 0 "

while read -r what child; do
  equal "semaphores of the child that was $what, after" "$(library_semaphores "$child")" "0 0 "
  attach "$what" --period 16 -o "$tmp/out.pb.gz" "$child"
  equal "semaphores of an attached child" "$(library_semaphores "$child")" "1 1 "
  kill -USR1 "$child"
  wait_until has "$tmp/forker.out" "^again $child"
  detach || fail "attach to a child ended with $?"
  equal "allocated by a child that was $what" "$(objects again allocated)" 40
  equal "live in a child that was $what" "$(objects again live)" 20
  equal "semaphores of a child" "$(library_semaphores "$child")" "0 0 "
done < <(grep -E '^(forked|executed)' "$tmp/forker.out")
