#!/usr/bin/env bash
# The .pb.gz as an independent reader sees it: Go's pprof finds the totals of all four sample types
# beside what the error is told from, and the blocks by their size, lifetime and age.
. "$(dirname "$0")/common.sh"
need_bpf
need go

start prober --threads 5
attach attach -o "$tmp/out.pb.gz" "$pid"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
raw() { HOME=$tmp go tool pprof -raw "$tmp/out.pb.gz" 2>/dev/null; }
raw >"$tmp/raw.out"
equal "sample types" "$(sed -n '/^Samples:/{n;p}' "$tmp/raw.out" | sed 's/\[dflt\]//')" \
  "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes samples/count variance/square_kib"
column=0
for kind in allocated live; do
  for unit in objects bytes; do
    column=$((column + 1))
    sum=$(sed -n '/^Samples:/,/^Locations/p' "$tmp/raw.out" | sed -n 's/:.*//; /^ *[0-9]/p' |
      awk -v column=$column '{ sum += $column } END { printf "%.0f", sum }')
    equal "$kind $unit" "$sum" "$(expected_sum $kind $unit)"
  done
done
# Every block is in a class of sizes, and either freed after a lifetime or live with an age.
HOME=$tmp go tool pprof -sample_index=alloc_objects -tags "$tmp/out.pb.gz" 2>/dev/null >"$tmp/tags.out"
tagged() { sed -n "s/^ *$1: Total \([0-9]*\).*/\1/p" "$tmp/tags.out"; }
allocated=$(expected_sum allocated objects) live=$(expected_sum live objects)
equal "objects by size" "$(tagged bytes)" "$allocated"
equal "objects by age" "$(tagged age)" "$live"
equal "objects by lifetime" "$(tagged lifetime)" $((allocated - live))
build_id=$(readelf -n "$programs/prober" | sed -n 's/.*Build ID: //p')
grep -q "$programs/prober $build_id" "$tmp/raw.out" || fail "the mapping has not its path and build id"
