#!/usr/bin/env bash
# Heap profiles that others wrote here and now: Go, Debian's jemalloc and gperftools. Our totals are
# those of `go tool pprof` and jeprof, and our names those of the program. Needs no privilege.
. "$(dirname "$0")/common.sh"
need go python3

library() { # NAME: its path, as the dynamic linker has it
  ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name && !found++ { print $NF }'
}
report() { # FILE: as JSON in $tmp/report.json
  "$allocprof" report --json "$1" >"$tmp/report.json" 2>"$tmp/report.err" || fail "report $1"
}
total() { # VALUE
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["total"][sys.argv[2]]["value"])' \
    "$tmp/report.json" "$1"
}
of() { # FUNCTION VALUE: what it allocated itself
  python3 -c 'import json, sys
print(sum(f["self"][sys.argv[3]]["value"] for f in json.load(open(sys.argv[1]))["functions"] if f["name"] == sys.argv[2]))' \
    "$tmp/report.json" "$1" "$2"
}
# The sum of the values that stand at that place, by Go's pprof.
pprof_total() { # FILE PLACE
  HOME=$tmp go tool pprof -raw "$1" 2>/dev/null | awk -v place="$2" '
    /^Samples:/ { inside = 1; getline; next } /^Locations/ { inside = 0 }
    inside && /^ *[0-9]/ { sub(/:.*/, ""); sum += $place } END { printf "%.0f", sum }'
}
about() { # WHAT GOT EXPECTED: rounding may differ by one in each of some stacks
  awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(d * d <= 10000 && b > 0) }' ||
    fail "$1: got '$2', expected '$3'"
}

# Go.
GOCACHE=$tmp/go HOME=$tmp GO111MODULE=off go build -o "$tmp/holder-go" tests/programs/holder.go
"$tmp/holder-go" >"$tmp/go.pb.gz"
report "$tmp/go.pb.gz"
place=1
for value in alloc_objects alloc_space inuse_objects inuse_space; do
  equal "Go's $value" "$(total $value)" "$(pprof_total "$tmp/go.pb.gz" $place)"
  place=$((place + 1))
done
[ "$(of main.keeps inuse_space)" -gt 0 ] || fail "main.keeps() is not there"
[ "$(of main.churns alloc_space)" -gt 0 ] || fail "main.churns() is not there"
equal "what churns() holds" "$(of main.churns inuse_space)" 0
has "$tmp/report.json" 'tests/programs/holder.go' || fail "no source file of Go"

# gperftools, which sees every allocation.
preload=$(library libtcmalloc.so.4)
[ -n "$preload" ] || skip "needs libgoogle-perftools4"
LD_PRELOAD=$preload HEAPPROFILE=$tmp/gperftools "$programs/holder" 2>/dev/null
mv "$tmp"/gperftools.*.heap "$tmp/gperftools.heap"
report "$tmp/gperftools.heap"
equal "what keeps() holds" "$(of keeps inuse_space)" $((4000 * 10007))
equal "blocks of keeps()" "$(of keeps inuse_objects)" 4000
equal "what churns() allocated" "$(of churns alloc_space)" $((10000 * 5003))
equal "gperftools' live bytes" "$(total inuse_space)" "$(pprof_total "$tmp/gperftools.heap" 4)"
equal "gperftools' blocks" "$(total alloc_objects)" "$(pprof_total "$tmp/gperftools.heap" 1)"
has "$tmp/report.json" 'tests/programs/holder.c' || fail "no source file"

# The same as a pprof file that has addresses alone.
HOME=$tmp go tool pprof -proto -symbolize=none -output "$tmp/addresses.pb.gz" "$tmp/gperftools.heap" 2>"$tmp/proto.err"
report "$tmp/addresses.pb.gz"
equal "what keeps() holds, by its address" "$(of keeps inuse_space)" $((4000 * 10007))

# jemalloc, which samples.
preload=$(library libjemalloc.so.2)
[ -n "$preload" ] || skip "needs libjemalloc2"
need jeprof
LD_PRELOAD=$preload MALLOC_CONF=prof:true,prof_accum:true,prof_final:true,lg_prof_sample:16,prof_prefix:$tmp/jemalloc \
  "$programs/holder" 2>"$tmp/jemalloc.err"
[ ! -s "$tmp/jemalloc.err" ] || skip "this jemalloc has no profiler"
mv "$tmp"/jemalloc.*.heap "$tmp/jemalloc.heap"
report "$tmp/jemalloc.heap"
for kind in inuse_space alloc_objects; do
  wanted=$(jeprof --show_bytes --text "--$kind" "$programs/holder" "$tmp/jemalloc.heap" 2>/dev/null |
    sed -n 's/^Total: \([0-9]*\).*/\1/p')
  about "jemalloc's $kind" "$(total $kind)" "$wanted"
done
[ "$(of keeps inuse_space)" -gt 0 ] || fail "keeps() is not there under jemalloc"
[ "$(of churns alloc_space)" -gt 0 ] || fail "churns() is not there under jemalloc"
equal "what churns() holds under jemalloc" "$(of churns inuse_space)" 0
# As it was compressed for keeping, and against itself.
gzip -k "$tmp/jemalloc.heap"
"$allocprof" diff --fail-above 0 "$tmp/jemalloc.heap" "$tmp/jemalloc.heap.gz" >"$tmp/diff.out" ||
  fail "the difference to itself"
has "$tmp/diff.out" '^live \+0 B' || fail "the difference to itself is not nothing"

# Damaged ones are refused, and where.
refused() { # FILE WHAT
  local status=0
  "$allocprof" report "$1" >/dev/null 2>"$tmp/refused.err" || status=$?
  equal "status of $1" $status 1
  has "$tmp/refused.err" "^detail: $2" || fail "not told: $2"
}
head -n 4 "$tmp/jemalloc.heap" | sed 's/0x/zz/' >"$tmp/address.heap"
refused "$tmp/address.heap" "line 4: not an address"
sed '3s/:.*/: x/' "$tmp/gperftools.heap" >"$tmp/values.heap"
refused "$tmp/values.heap" "line 3: neither values nor a stack"
