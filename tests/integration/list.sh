#!/usr/bin/env bash
# `list` names the processes that have the probes, for root and for somebody who may look into his
# own alone; the others are counted. Names cannot hold escape sequences.
. "$(dirname "$0")/common.sh"
need_bpf
need setpriv python3

chmod 755 "$tmp"
evil=$(printf 'p\033[31mr')
cp "$programs/prober" "$tmp/$evil"
cp "$allocprof" "$tmp/allocprof"
start prober
root_pid=$pid
setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/$evil" <>"$tmp/prober.in" >"$tmp/own.out" &
own_pid=$!
started+=("$own_pid")
wait_until has "$tmp/own.out" "^ready"

"$allocprof" list >"$tmp/list.out" 2>"$tmp/list.err" || fail "list ended with $?"
has "$tmp/list.out" "^ *PID USER +COMM +PROBE +RATE +LIVE-ATTACHED CONTAINER" || fail "no header"
has "$tmp/list.out" "^ *$root_pid root +prober +prober +512K +no +[-0-9a-f]+$" || fail "no root's"
has "$tmp/list.out" "^ *$own_pid nobody +p.x1b\[31mr " || fail "no nobody's"
! grep -q "$(printf '\033')" "$tmp/list.out" || fail "an escape sequence"

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/allocprof" "$@"; }
nobody list >"$tmp/nobody.out" 2>"$tmp/nobody.err" || fail "list ended with $?"
has "$tmp/nobody.out" "^ *$own_pid nobody " || fail "his own is missing"
! has "$tmp/nobody.out" "^ *$root_pid " || fail "root's is shown"
has "$tmp/nobody.err" "^note: [1-9][0-9]* process(es are| is) not readable; run as root" || fail "no count"
setpriv --bounding-set -all,+bpf,+perfmon "$allocprof" list >/dev/null 2>"$tmp/bound.err" || fail "list ended with $?"
has "$tmp/bound.err" "not readable; why: allocprof doctor [0-9]+$" || fail "root is not told where to ask why"

"$allocprof" list --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
pid, own = int(sys.argv[1]), int(sys.argv[2])
assert got["schema"] == 1 and got["unreadable"] >= 0
by_pid = {p["pid"]: p for p in got["processes"]}
assert by_pid[pid]["user"] == "root" and by_pid[pid]["comm"] == "prober", by_pid[pid]
probe, = by_pid[pid]["probes"]
assert probe["file"].endswith("/prober") and probe["period"] == 512 << 10 and probe["attached"] is False, probe
assert by_pid[own]["user"] == "nobody"
' "$root_pid" "$own_pid" || fail "--json"

# Whether somebody records, and how often it is sampled. Our allocator says it.
program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start torrent
says() { # RATE ATTACHED
  "$allocprof" list 2>/dev/null >"$tmp/says.out"
  has "$tmp/says.out" "^ *$pid root +torrent +liballocprof.so +$1 +$2 "
}
says 512K no || fail "one that nobody records"
attach first --period 96K -o "$tmp/first.folded" "$pid"
first=$loader
says 96K yes || fail "one that is recorded"
attach second --period 2M -o "$tmp/second.folded" "$pid"
! has "$tmp/first.err" "somebody else" || fail "the first one is not alone"
wait_until has "$tmp/second.err" "^note: somebody else records it, too"
says 2M yes || fail "one that is recorded twice"
"$allocprof" list --json | python3 -c '
import json, sys
probe, = [p["probes"][0] for p in json.load(sys.stdin)["processes"] if p["pid"] == int(sys.argv[1])]
assert probe["period"] == 2 << 20 and probe["attached"] is True, probe
' "$pid" || fail "--json of one that is recorded"
kill -INT "$first"
wait "$first" || [ $? = 6 ] || fail "the first ended with $?"
wait_until says 2M yes || fail "one of two has gone"
detach || [ $? = 6 ] || fail "the second ended with $?"
says 512K no || says 96K no || fail "both have gone"

status=0
"$allocprof" list 1 2>"$tmp/usage.err" || status=$?
equal "status of an argument" $status 2
