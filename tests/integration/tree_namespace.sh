#!/usr/bin/env bash
# A server and its workers in a pid namespace of their own: recorded from the host, by the numbers
# that they have there, and from inside, by their own, each has what it held.
. "$(dirname "$0")/common.sh"
need_bpf
need unshare nsenter pgrep
unshare --pid --fork --kill-child --mount-proc true 2>/dev/null || skip "needs pid namespaces"

program_env=(unshare --pid --fork --kill-child --mount-proc env "LD_PRELOAD=$O/liballocprof.so")
start workers
server=$(pgrep -P "$pid" -x workers)
started+=("$server")

said() { # PATTERN TIMES
  [ "$(grep -cE "$1" "$tmp/workers.out")" = "$2" ]
}
mebibytes() { # ROOT FUNCTION
  awk -v root="$1" -v name=";$2 " 'index($0, root) == 1 && index($0, name) { sum += $NF }
    END { printf "%.2f", sum / 2^20 }' "$tmp/live.folded"
}
recorded() { # NAME PID: when a worker and what executes itself have been born, and the server has held
  local born
  born=$(grep -c '^worker' "$tmp/workers.out" || true)
  echo -n h >"$tmp/workers.in"
  wait_until said '^server' $((born + 1))
  echo -n w >"$tmp/workers.in"
  wait_until said '^worker' $((born + 1))
  echo -n x >"$tmp/workers.in"
  wait_until said '^executed' $((born + 1))
  kill -INT "$loader_there"
  wait "$loader" || fail "$1: attach ended with $?"
  ! has "$tmp/$1.err" '^warning' || fail "$1: $(grep ^warning "$tmp/$1.err")"
  "$allocprof" report -q -o "$tmp/live.folded" "$tmp/out.pb.gz"
  equal "$1: live in the server" "$(mebibytes "workers ($2)" server)" 4.00
}

attach host --tree --period 16 -o "$tmp/out.pb.gz" "$server"
loader_there=$loader
recorded host "$server"
worker=$(pgrep -P "$server" -x workers | head -n 1)
equal "host: live in a worker" "$(mebibytes "workers ($worker)" worker)" 8.00
equal "host: of before an exec" "$(mebibytes "" before)" 0.00
has "$tmp/live.folded" "^exe \($(pgrep -P "$server" -x exe)\);" || fail "host: nothing of after the exec"

inside=(nsenter --target "$server" --pid --mount --wd=/)
loader_env=("${inside[@]}")
attach inside --tree --period 16 -o "$tmp/out.pb.gz" 1
loader_there=$(pgrep -P "$loader" -x allocprof)
recorded inside 1
worker=$(sed -n 's/^worker //p' "$tmp/workers.out" | sed -n 2p)
equal "inside: live in a worker" "$(mebibytes "workers ($worker)" worker)" 16.00
has "$tmp/live.folded" "^exe \($(sed -n 's/^executed //p' "$tmp/workers.out" | sed -n 2p)\);" ||
  fail "inside: nothing of after the exec"
"${inside[@]}" "$allocprof" list >"$tmp/list.out"
has "$tmp/list.out" "^ *1 root +workers .* no " || fail "inside: list"
