#!/usr/bin/env bash
# top where nobody looks at a screen: tables and JSON, whose numbers are those of the program to the
# byte, until it is told to end or the target exits.
. "$(dirname "$0")/common.sh"
need_bpf
need python3
cd "$tmp"

top() { # NAME OPTIONS...: in the background, its output in NAME.out
  local name=$1
  shift
  "$allocprof" top "$@" >"$name.out" 2>"$name.err" &
  loader=$!
  started+=("$loader")
}

start prober --threads 3 --attaches 3
top json --json --delay 100ms "$pid"
wait_until has json.out '"samples":0'
echo >prober.in
wait_until has json.out '"samples":300,'
kill -9 "$pid"
wait "$loader" || fail "top --json ended with $?"
python3 - json.out "$(expected_sum live bytes)" "$(expected_sum live objects)" \
  "$(expected_sum allocated bytes)" "$pid" <<'END' || fail "the JSON"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
live, objects, allocated, pid = map(int, sys.argv[2:])
last = lines[-1]
assert all(line["schema"] == 1 and line["pid"] == pid for line in lines)
assert all(line["end"] is None for line in lines[:-1]), "ended early"
assert "killed by SIGKILL" in last["end"], last["end"]
number = lambda of, name: of[name]["value"]
total = last["total"]
assert number(total, "inuse_space") == live and number(total, "inuse_objects") == objects, last
assert last["samples"] == 300 and last["lost"] == 0 and last["whole_stacks"] == 300, last
assert sum(number(row["self"], "inuse_space") for row in last["functions"]) == live, last
assert last["functions"][0]["name"] == "fire_alloc", last
assert total["inuse_space"]["low"] < live < total["inuse_space"]["high"], last
# Rates are of their own intervals, so together they are all that was allocated.
seen = sum(number(line["total"], "alloc_space_per_s") * line["interval_s"] for line in lines)
assert abs(seen - allocated) < 5 * len(lines), (seen, allocated)
END

rm prober.in
start prober --threads 3 --attaches 9 --endless
top tables -n 2 --delay 200ms --rows 1 --lines "$pid"
echo >prober.in
wait "$loader" || fail "top -n 2 ended with $?"
equal "tables" "$(grep -c "^prober (pid $pid)  00:0" tables.out)" 2
equal "heads" "$(grep -cE '^ +LIVE +\+- +ALLOC/s +OBJECTS  FUNCTION$' tables.out)" 2
equal "rows" "$(grep -cE '  fire_alloc  probes.h:[0-9]+$' tables.out)" 2
wait_until semaphores_are "$pid" "0 0"

# What is lost is said each time.
top lossy -n 1 --max-stacks 1 "$pid"
echo >prober.in
wait "$loader" || fail "top --max-stacks 1 ended with $?"
has lossy.out "^warning: [0-9]+ of [0-9]+ samples are under \[stack map full\]; use --max-stacks 4" ||
  fail "no warning"
has lossy.out "  \[stack map full\]$" || fail "no row of the loss"

rm prober.in
start prober --attaches 9
status=0
"$allocprof" top -n 1 --delay 100ms "$pid" >none.out 2>none.err || status=$?
equal "status without samples" $status 6
has none.err "^allocprof: no samples in [0-9.]+ s" || fail "no reason"
status=0
"$allocprof" top -n 1 --delay 100ms "$pid" >/dev/full 2>full.err || status=$?
equal "status of a full disk" $status 1
has full.err "^allocprof: cannot write to standard output" || fail "a full disk is not mentioned"
