#!/usr/bin/env bash
# On a terminal the line of progress is drawn again in place, and ends before anything else is
# printed; elsewhere no such thing is written, and --quiet writes nothing at all.
. "$(dirname "$0")/common.sh"
need_bpf
need script

start prober --threads 2 --attaches 3
script --quiet --flush --return --command "stty columns 200; '$allocprof' attach --duration 1s -o '$tmp/a.folded' $pid" \
  "$tmp/terminal.out" </dev/null >/dev/null &
recorder=$!
started+=("$recorder")
wait_until has "$tmp/terminal.out" "samples 0"
echo >"$tmp/prober.in"
wait "$recorder" || fail "attach ended with $?"
grep -qF $'\r'"reading unwind tables 1 of" "$tmp/terminal.out" || fail "no word of the tables"
grep -qF $'\r\033[K'"attached to" "$tmp/terminal.out" || fail "the word of the tables stays"
tr '\r' '\n' <"$tmp/terminal.out" >"$tmp/lines.out"
[ "$(grep -c '^00:0[01]  samples ' "$tmp/lines.out")" -ge 3 ] || fail "not drawn again"
has "$tmp/lines.out" "samples 200  live [0-9.]+ KiB \+/-[0-9]+%  rate [0-9.]+ [KM]iB/s  stacks 2  lost 0  whole 100.0%" || fail "numbers"
has "$tmp/lines.out" "^detached; prober keeps running" || fail "the line was not ended"

# One row of a narrow terminal holds it.
script --quiet --flush --return --command "stty columns 40; '$allocprof' attach --duration 500ms -o '$tmp/a.folded' $pid" \
  "$tmp/narrow.out" </dev/null >/dev/null || [ $? = 6 ] || fail "attach ended with $?"
tr '\r' '\n' <"$tmp/narrow.out" | grep '^00:00  samples ' | sed $'s/\033.*//' >"$tmp/rows.out"
[ -s "$tmp/rows.out" ] || fail "no line on a narrow terminal"
! grep -q '.\{40\}' "$tmp/rows.out" || fail "longer than a row"

attach file -o "$tmp/a.folded" "$pid"
wait_until has "$tmp/prober.out" "^done 2"
detach || fail "attach ended with $?"
! grep -q $'[\r\033]' "$tmp/file.err" || fail "control characters in a file"
! has "$tmp/file.err" "^reading|^resolving" || fail "short work is not worth a line in a file"

"$allocprof" attach "$pid" --quiet --duration 1s -o "$tmp/a.folded" 2>"$tmp/quiet.err" &
loader=$!
started+=("$loader")
wait_until semaphores_are "$pid" "1 1"
echo >"$tmp/prober.in"
wait "$loader" || fail "attach ended with $?"
equal "output of --quiet" "$(cat "$tmp/quiet.err")" ""
