#!/usr/bin/env bash
# Two processes of one program, recorded by two loaders at once: neither has anything of the other
# in its profile, and each has its own semaphores.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --threads 2 --endless
attach neighbour -vv --show allocated -o "$tmp/neighbour.folded" "$pid"
neighbour=$loader
wait_until has "$tmp/prober.out" "^endless"
# Its pipe and its output make room for those of the second.
mv "$tmp/prober.in" "$tmp/neighbour.in"
mv "$tmp/prober.out" "$tmp/neighbour.out"

start prober --threads 4 --rounds 300
equal "semaphores before" "$(semaphores "$pid")" "0 0 "
attach exact -v --show-allocator -o "$tmp/exact.folded" "$pid"
wait_until has "$tmp/prober.out" "^done"
equal "semaphores within" "$(semaphores "$pid")" "1 1 "
detach || fail "attach ended with $?"
equal "semaphores after" "$(semaphores "$pid")" "0 0 "
diff <(from_path "$tmp/exact.folded") <(expected live bytes) || fail "not what was fired"
grep '^kernel:' "$tmp/exact.err"
has "$tmp/neighbour.err" "^libbpf: loading object" || fail "-vv does not say what libbpf does"
! has "$tmp/exact.err" "^libbpf: loading object" || fail "-v says what only -vv should"
if [[ ",${ALLOCPROF_FORCE:-}," = *,perf-uprobe,* ]]; then
  has "$tmp/exact.err" "attached by perf uprobes" || fail "not attached as was asked for"
fi

loader=$neighbour
detach || fail "the first attach ended with $?"
has "$tmp/neighbour.folded" "path;left;left;.* [1-9]" || fail "the first has no samples"
