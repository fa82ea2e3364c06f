#!/usr/bin/env bash
# report and diff on files that another program (protoc) has written: tables, conversions, exit
# statuses. Needs no privilege.
. "$(dirname "$0")/common.sh"
need protoc

# A profile of `left` and `right`, called by main through malloc, with these live bytes.
profile() { # FILE LEFT RIGHT SECONDS
  protoc --encode=pprof.Profile -Iloader loader/profile.proto <<END | gzip >"$tmp/$1"
string_table: ["", "inuse_space", "bytes", "alloc_space", "main", "left", "right", "malloc", "x.c"]
sample_type: [{type: 3, unit: 2}, {type: 1, unit: 2}]
duration_nanos: ${4}000000000
function: [{id: 1, name: 4, filename: 8}, {id: 2, name: 5, filename: 8},
  {id: 3, name: 6, filename: 8}, {id: 4, name: 7}]
location: [{id: 1, line: {function_id: 1, line: 10}}, {id: 2, line: {function_id: 2, line: 20}},
  {id: 3, line: {function_id: 3, line: 30}}, {id: 4, line: {function_id: 4}}]
sample: [{location_id: [4, 2, 1], value: [$2, $2]}, {location_id: [4, 3, 1], value: [$3, $3]}]
END
}
status() { # EXPECTED COMMAND...
  local expected=$1 got=0
  shift
  "$@" >"$tmp/status.out" 2>"$tmp/status.err" || got=$?
  equal "status of ${*:2}" "$got" "$expected"
  [ "$expected" = 0 ] || has "$tmp/status.err" '^allocprof: ' || fail "no message: ${*:2}"
}

profile base.pb.gz 1009 2003 10
profile new.pb.gz 5003 2003 20

status 0 "$allocprof" report "$tmp/base.pb.gz"
cat >"$tmp/expected" <<'END'
live 2.9 KiB of 2.9 KiB allocated in 2 stacks
     2.0 KiB   66.5%  right                             x.c:30
      1009 B   33.5%  left                              x.c:20
END
diff "$tmp/expected" "$tmp/status.out" || fail "the table"
status 0 "$allocprof" report --show-allocator -o - -f folded - <"$tmp/base.pb.gz"
equal folded "$(cat "$tmp/status.out")" "main;left;malloc 1009
main;right;malloc 2003"

# Through our own writer and back.
status 0 "$allocprof" report -q -o "$tmp/again.pb.gz" -o "$tmp/page.html" "$tmp/base.pb.gz"
equal "what -q prints" "$(cat "$tmp/status.out" "$tmp/status.err")" ""
status 0 "$allocprof" report "$tmp/again.pb.gz"
diff "$tmp/expected" "$tmp/status.out" || fail "the table after a conversion"
has "$tmp/page.html" '</html>' || fail "no page"

status 0 "$allocprof" diff "$tmp/base.pb.gz" "$tmp/new.pb.gz"
cat >"$tmp/expected" <<'END'
live +3.9 KiB since the base, in 1 stack
    +3.9 KiB  left                              x.c:20
END
diff "$tmp/expected" "$tmp/status.out" || fail "the difference"
# Twice as long: what was allocated in the base counts twice.
status 0 "$allocprof" diff --show allocated -o - -f folded "$tmp/base.pb.gz" "$tmp/new.pb.gz"
equal "allocated" "$(cat "$tmp/status.out")" "main;left 2985
main;right -2003"
has "$tmp/status.err" 'scaled by 2.000' || fail "scaling is not told"
status 0 "$allocprof" diff -o "$tmp/diff.html" -o "$tmp/diff.svg" "$tmp/base.pb.gz" "$tmp/new.pb.gz"
has "$tmp/diff.html" '"base":{' || fail "no page of the difference"
has "$tmp/diff.html" '"base":\{"info"' || fail "the page does not compare"
# What only one of them has is left out.
cat >"$tmp/sampled.heap" <<'END'
heap profile: 1: 1000000 [0: 0] @ heap_v2/1000
1: 1000000 [0: 0] @ 0x400123
END
status 0 "$allocprof" diff "$tmp/base.pb.gz" "$tmp/sampled.heap"
has "$tmp/status.out" '^live \+973.6 KiB since the base, in 3 stacks' || fail "files of two kinds"
has "$tmp/diff.svg" '(+396%)' || fail "no picture of the difference"

status 0 "$allocprof" diff --fail-above 3994 "$tmp/base.pb.gz" "$tmp/new.pb.gz"
status 8 "$allocprof" diff --fail-above 3993 "$tmp/base.pb.gz" "$tmp/new.pb.gz"
status 0 "$allocprof" diff --fail-above 0 "$tmp/new.pb.gz" "$tmp/base.pb.gz"
status 2 "$allocprof" report
status 2 "$allocprof" report "$tmp/base.pb.gz" "$tmp/new.pb.gz"
status 2 "$allocprof" diff "$tmp/base.pb.gz"
status 2 "$allocprof" report --top many "$tmp/base.pb.gz"
status 2 "$allocprof" report --by objects "$tmp/base.pb.gz"
has "$tmp/status.err" 'it has: alloc_space, inuse_space' || fail "what there is is not told"
status 1 "$allocprof" report "$tmp/none.pb.gz"
status 1 "$allocprof" report loader/profile.proto
status 1 "$allocprof" report -o /dev/full -f folded "$tmp/base.pb.gz"
head -c 100 "$tmp/base.pb.gz" >"$tmp/cut.pb.gz"
status 1 "$allocprof" report "$tmp/cut.pb.gz"
if "$allocprof" report "$tmp/base.pb.gz" >/dev/full 2>"$tmp/full.err"; then fail "a full disk is no error"; fi

# By the second: 10 s and 20 s. `left` went from 100.9 to 250.2 a second, all from 301.2 to 350.3.
status 0 "$allocprof" diff --show allocated "$tmp/base.pb.gz" "$tmp/new.pb.gz"
cat >"$tmp/expected" <<'EOF'
allocated +49 B/s since the base, in 2 stacks
    +149 B/s  left                              x.c:20
    -100 B/s  right                             x.c:30
EOF
diff "$tmp/expected" "$tmp/status.out" || fail "the difference by the second"
status 8 "$allocprof" diff --show allocated --fail-above 48 "$tmp/base.pb.gz" "$tmp/new.pb.gz"
has "$tmp/status.err" 'grew by 49 B/s, more than 48 B/s' || fail "the limit by the second"
status 0 "$allocprof" diff --show allocated --fail-above 50 "$tmp/base.pb.gz" "$tmp/new.pb.gz"

# For scripts.
json() { # FILE EXPRESSION-OF-j...
  python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
for expression in sys.argv[2:]:
    assert eval(f"({expression})"), (expression, j)' "$@" || fail "not so in JSON"
}
status 0 "$allocprof" report --json "$tmp/base.pb.gz"
json "$tmp/status.out" \
  'j["schema"] == 1 and j["units"] == {"inuse_space": "bytes", "alloc_space": "bytes"}' \
  'j["total"]["inuse_space"] == {"value": 3012} and j["profile"]["duration_s"] == 10' \
  '{f["name"]: (f["self"]["inuse_space"]["value"], f["total"]["inuse_space"]["value"])
    for f in j["functions"]} == {"main": (0, 3012), "left": (1009, 1009), "right": (2003, 2003)}' \
  '[[(j["functions"][f["function"]]["name"], f["line"]) for f in s["frames"]] for s in
    j["stacks"]] == [[("left", 20), ("main", 10)], [("right", 30), ("main", 10)]]'
status 0 "$allocprof" diff --json "$tmp/base.pb.gz" "$tmp/new.pb.gz"
equal "notes beside JSON" "$(cat "$tmp/status.err")" ""
json "$tmp/status.out" 'j["total"]["alloc_space"] == {"value": 7006, "base": 6024, "change": 982}' \
  'j["total"]["inuse_space"]["change"] == 3994 and j["base_scale"] == 2'
status 0 "$allocprof" report --json --exclude right "$tmp/base.pb.gz"
json "$tmp/status.out" 'j["total"]["inuse_space"]["value"] == 1009 and "right" in j["profile"]["filter"]' \
  'j["profile"]["left_out"]["inuse_space"] == 2003'
status 0 "$allocprof" report -f json -o "$tmp/own.json" -o "$tmp/other.pb.gz" "$tmp/base.pb.gz"
has "$tmp/own.json" '^\{"schema":1,' || fail "--format json"
status 0 env LC_ALL=C "$allocprof" report -f tree "$tmp/base.pb.gz"
equal "the tree on standard output" "$(sed -E 's/^ +//; s/ +/ /g' "$tmp/status.out")" \
  $'2.9 KiB 100.0% main x.c\n2.0 KiB 66.5% |-right x.c\n1009 B 33.5% `-left x.c'
status 0 "$allocprof" report -o "$tmp/speedscope.json" "$tmp/base.pb.gz"
json "$tmp/speedscope.json" '[sum(p["weights"]) for p in j["profiles"]] == [3012, 3012]'
status 0 "$allocprof" diff -f speedscope -o - "$tmp/new.pb.gz" "$tmp/base.pb.gz"
json "$tmp/status.out" '[(p["name"], p["weights"]) for p in j["profiles"][2:]] ==
  [("live bytes, grown", []), ("live bytes, shrunk", [3994])]'
for bad in "1 --json $tmp/none.pb.gz" "2 $tmp/base.pb.gz --frobnicate --json"; do
  # shellcheck disable=SC2086
  "$allocprof" report ${bad#? } 2>"$tmp/bad.err" >"$tmp/bad.out" || true
  has "$tmp/bad.err" "^\{\"schema\":1,\"error\":\{\"status\":${bad%% *},\"what\":\"" || fail "error: $bad"
  equal "output of a failure" "$(cat "$tmp/bad.out")" ""
done
status 2 "$allocprof" report "$tmp/base.pb.gz" "$tmp/new.pb.gz"
has "$tmp/status.err" "^hint: .*allocprof diff" || fail "nothing of diff for two files"
status 0 "$allocprof" version --json
has "$tmp/status.out" '^\{"schema":1,.*"diff".*"speedscope"' || fail "features"

# What nobody reads to its end is no error, and nothing to talk about.
for form in -q --json; do
  exec 4> >(true)
  wait $!
  status=0
  "$allocprof" report $form "$tmp/base.pb.gz" >&4 2>"$tmp/pipe.err" || status=$?
  exec 4>&-
  equal "status of $form without a reader" $status 141
  equal "messages of $form without a reader" "$(cat "$tmp/pipe.err")" ""
done
