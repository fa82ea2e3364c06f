#!/usr/bin/env bash
# A server and its workers, recorded together: those that are there, those to come, from their first
# instruction, and what they execute. What has ended is not live any more, unless it has crashed.
. "$(dirname "$0")/common.sh"
need_bpf

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
said() { # PATTERN TIMES
  [ "$(grep -cE "$1" "$tmp/workers.out")" = "$2" ]
}
tell() { # BYTE PATTERN TIMES
  echo -n "$1" >"$tmp/workers.in"
  wait_until said "$2" "$3"
}
pid_of() { # PATTERN NUMBER
  grep -E "$1" "$tmp/workers.out" | sed -n "$2s/.* //p"
}
mebibytes() { # live|allocated ROOT [FUNCTION]
  "$allocprof" report -q --show "$1" -o "$tmp/$1.folded" "$tmp/out.pb.gz"
  awk -v root="$2" -v name=";${3:+$3 }" 'index($0, root) == 1 && index($0, name) { sum += $NF }
    END { printf "%.2f", sum / 2^20 }' "$tmp/$1.folded"
}

start workers
tell w '^worker' 1
there=$(pid_of '^worker' 1)
attach tree --tree --period 16 -o "$tmp/out.pb.gz" "$pid"
tell h '^server' 1
kill -USR1 "$there"
wait_until said '^more' 1
tell w '^worker' 2
tell w '^worker' 3
tell w '^worker' 4
tell x '^executed' 1
kill -KILL "$(pid_of '^worker' 3)"
kill -SEGV "$(pid_of '^worker' 4)"
crashed=$(pid_of '^worker' 4)
wait_until has "$tmp/tree.err" "^workers \($crashed\) was killed by SIGSEGV at .*, live 32\.[0-9] MiB"
detach || fail "attach ended with $?"
! has "$tmp/tree.err" '^warning' || fail "warnings: $(grep ^warning "$tmp/tree.err")"

equal "live in the server" "$(mebibytes live "workers ($pid)" server)" 4.00
equal "live in a worker that was there" "$(mebibytes live "workers ($there)" more)" 8.00
equal "of before the attach" "$(mebibytes allocated "workers ($there)" worker)" 0.00
equal "live in a new worker" "$(mebibytes live "workers ($(pid_of '^worker' 2))" worker)" 16.00
equal "live in one that has ended" "$(mebibytes live "workers (ended)" worker)" 0.00
equal "allocated by one that has ended" "$(mebibytes allocated "workers (ended)" worker)" 24.00
equal "live in one that crashed" "$(mebibytes live "workers ($crashed, was killed by SIGSEGV" worker)" 32.00
executed=$(pid_of '^executed' 1)
equal "live of before an exec" "$(mebibytes live workers before)" 0.00
equal "allocated before an exec" "$(mebibytes allocated workers before)" 8.00
# Its mappings are read, and its period is set anew, a moment after the exec: by then it may have had
# all its blocks. That none of the 256 is a sample happens once in 10^13 times.
[ "$(mebibytes live "exe ($executed)")" != 0.00 ] || fail "nothing of after the exec"
