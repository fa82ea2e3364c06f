#!/usr/bin/env bash
# A target killed with SIGKILL in the middle of an attach: the profile is written, with symbols,
# although its executable has been deleted meanwhile.
. "$(dirname "$0")/common.sh"
need_bpf

cp "$programs/prober" "$tmp/prober"
programs=$tmp
start prober --threads 4 --endless
attach attach --show-allocator -o "$tmp/out.folded" -o "$tmp/out.pb.gz" "$pid"
rm "$tmp/prober"
firing() { [ "$(grep -c '^endless' "$tmp/prober.out")" = 4 ]; }
wait_until firing
kill -9 "$pid"
wait "$loader" || fail "attach ended with $?"
has "$tmp/attach.err" "^prober was killed by SIGKILL" || fail "not a word of the end"
for thread in left right; do
  grep -q ";path;$thread;.*;fire;fire_alloc [0-9]" "$tmp/out.folded" || fail "no $thread in the profile"
done
[ -s "$tmp/out.pb.gz" ] || fail "no pprof"
