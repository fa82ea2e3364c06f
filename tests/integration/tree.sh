#!/usr/bin/env bash
# A server and its workers, recorded together: those that are there, those to come, from their first
# instruction, and what they execute. What has ended is not live any more, unless it has crashed.
. "$(dirname "$0")/common.sh"
need_bpf
need readelf

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

# Set back in the worker that was born while it was set, too.
rate() { # PID
  "$allocprof" list 2>/dev/null | awk -v pid="$1" '$1 == pid { print $5 }'
}
for process in "$pid" "$there" "$(pid_of '^worker' 2)"; do
  equal "the period of $process" "$(rate "$process")" 512K
done

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

# Killed, the loader leaves no probe behind, neither in the tree nor in who only has the library, too.
LD_PRELOAD=$O/liballocprof.so sleep 1000 &
bystander=$!
started+=("$bystander")
# By its name, which its workers have as well.
status=0
"$allocprof" attach --name workers 2>"$tmp/several.err" || status=$?
equal "status of a name of several" $status 4
has "$tmp/several.err" "^hint: .*the others descend from $pid, .*--tree" || fail "no word of the first one"
attach killed --tree -o "$tmp/killed.pb.gz" --name workers
for process in "$pid" "$there" "$bystander"; do
  library_semaphores_are "$process" "1 1" || fail "semaphores of $process: $(library_semaphores "$process")"
done
kill -9 "$loader"
wait "$loader" 2>/dev/null || true
for process in "$pid" "$there" "$bystander"; do
  wait_until library_semaphores_are "$process" "0 0"
done

# Who has lost the first one of its processes waits for the others, and does nothing else.
polls() { # NUMBER
  [ "$(wc -l <"$tmp/polls")" -ge "$1" ]
}
"$allocprof" run --tree -o "$tmp/orphan.pb.gz" -- sh -c 'sleep 1000 & echo $!' >"$tmp/orphan.out" 2>"$tmp/orphan.err" &
loader=$!
started+=("$loader")
wait_until has "$tmp/orphan.err" 'children go on'
started+=("$(cat "$tmp/orphan.out")")
if command -v strace >/dev/null; then
  # They wait 20 ms: the last ones are a second after its last look at the first one's mappings.
  strace -q -e trace=poll -o "$tmp/polls" -p "$loader" &
  started+=("$!")
  wait_until polls 100
  slept=$(sed -n 81,100p "$tmp/polls" | grep -cE ', [1-9][0-9]*\) = 0 \(Timeout\)$') || true
  [ "$slept" -ge 10 ] || fail "the loader is busy: of 20 polls $slept have waited"
fi
kill -TERM "$(cat "$tmp/orphan.out")"
wait "$loader" || true

# A server of somebody else's, started by us: workers that python's multiprocessing forks, of which
# the k-th holds 10 MB times k. The standard deviation of their sum is 1.3 MB.
command -v python3 >/dev/null || exit 0
cat >"$tmp/pool.py" <<'END'
import multiprocessing, os, time
def work(count, ready, over):
    held = [bytearray(100000) for _ in range(count)]
    print(os.getpid(), len(held), flush=True)
    ready.release()
    over.acquire()
    os._exit(0)
context = multiprocessing.get_context("fork")
ready, over = context.Semaphore(0), context.Semaphore(0)
workers = [context.Process(target=work, args=(100 * k, ready, over)) for k in (1, 2, 3)]
for worker in workers:
    worker.start()
for worker in workers:
    ready.acquire()
    time.sleep(0.1)
print("ready", flush=True)
time.sleep(1000)
END
PYTHONMALLOC=malloc "$allocprof" run --follow-fork --period 64K -o "$tmp/out.pb.gz" python3 "$tmp/pool.py" \
  >"$tmp/pool.out" 2>"$tmp/pool.err" &
loader=$!
started+=("$loader")
wait_until has "$tmp/pool.out" '^ready'
read -r -a children < <(pgrep -P "$loader" python3)
equal "children of run" ${#children[@]} 1
mapfile -t workers < <(awk '$2 > 0 { print $1 }' "$tmp/pool.out")
started+=("${children[@]}" "${workers[@]}")
kill -TERM "${children[@]}"
kill -KILL "${workers[@]}"
wait "$loader" || true
has "$tmp/pool.err" '^python3 (exited|was killed)' || fail "the end of python is not told"
equal "live in workers that have ended" "$(mebibytes live "python3 (ended)" PyByteArray_Resize)" 0.00
mebibytes allocated "python3 (ended)" PyByteArray_Resize |
  awk '{ exit !($1 * 1.048576 > 60 - 6 * 1.3 && $1 * 1.048576 < 60 + 6 * 1.3) }' ||
  fail "the workers of python allocated $(mebibytes allocated "python3 (ended)" PyByteArray_Resize) MiB"
