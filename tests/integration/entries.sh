#!/usr/bin/env bash
# Whatever entry of the malloc interface a program calls, the leaf of the stack is its caller, and
# in `go tool pprof`, which drops frames by their names, too.
. "$(dirname "$0")/common.sh"
need_bpf
need go

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start entries
attach entries --period 4K --show allocated -o "$tmp/out.folded" -o "$tmp/out.pb.gz" "$pid"
echo >"$tmp/entries.in"
wait_until has "$tmp/entries.out" "^done"
detach || fail "attach ended with $?"
names=$(sed -n 's/^BY(\([a-z_]*\),.*/by_\1/p' tests/programs/entries.cc | sort)
equal "leaves" "$(sed 's/ [0-9]*$//; s/.*;//; s/(.*//' "$tmp/out.folded" | grep -v '^posix$' | sort -u)" \
  "$(grep -v posix_memalign <<<"$names")"
HOME=$tmp go tool pprof -traces -sample_index=alloc_space "$tmp/out.pb.gz" >"$tmp/traces.out" 2>/dev/null
equal "leaves of go tool pprof" "$(sed -n 's/^ *[0-9.]*[kMG]*B  *//p' "$tmp/traces.out" | sed 's/(.*//; s/ .*//' |
  grep -v '^posix$' | sort -u)" "$(grep -v posix_memalign <<<"$names")"
