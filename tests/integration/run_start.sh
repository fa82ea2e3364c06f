#!/usr/bin/env bash
# `run` of a program with large libraries, whose constructors allocate much: their tables are there
# before any of their code runs, also when none is cached. The program is held meanwhile, which a
# loader that is killed does not leave behind.
. "$(dirname "$0")/common.sh"
need_bpf
need clang
cd "$tmp"
tables_forget() {
  rm -rf cache
  mkdir cache
}
export XDG_CACHE_HOME=$tmp/cache

# All of it was under [truncated: code not known yet]. Also of what a script executes in the end.
for command in "clang --version" "sh -c 'exec clang --version'"; do
  tables_forget
  eval '"$allocprof" run -q --period 16K --show allocated -o start.folded -- '"$command" >version.out
  equal "output of $command" "$(cat version.out)" "$(clang --version)"
  awk '{ all += $NF } /code not known yet/ { unknown += $NF } END {
    printf "%.0f KiB of %.0f KiB in code not known yet\n", unknown / 1024, all / 1024
    exit !(all > 2 ^ 18 && unknown <= all / 100)
  }' start.folded || fail "$command: code that was not known yet"
done
ls cache/allocprof/*.unwind >/dev/null || fail "no tables were made"

# Its children are not traced: somebody else may.
status=0
"$allocprof" run -q -o traced.folded -- strace -f -o strace.out sh -c 'exit 5' 2>traced.err || status=$?
equal "status of strace" $status 5
has strace.out "exited with 5" || fail "strace has seen nothing"

# That they are traced takes no rights from programs with setuid.
cp "$(command -v id)" id
chmod 4755 id
chmod 755 .
for command in "./id -u" "env ./id -u"; do
  # shellcheck disable=SC2086
  SUDO_UID=65534 SUDO_GID=65534 "$allocprof" run -q -- $command >id.out 2>/dev/null
  equal "user of a setuid program, $command" "$(cat id.out)" 0
done

# A signal while it is held is its own.
child_state() { # LETTER
  local pid
  pid=$(cat "/proc/$loader/task/$loader/children" 2>/dev/null)
  [ -n "${pid% }" ] && grep -q "^State:.$1" "/proc/${pid% }/status" 2>/dev/null
}
held_start() {
  local end=$((SECONDS + 10))
  tables_forget
  "$allocprof" run -q -o killed.folded -- clang --version >killed.out 2>killed.err &
  loader=$!
  started+=("$loader")
  until child_state t; do
    [ $SECONDS -lt $end ] && kill -0 "$loader" 2>/dev/null || return 1
  done
  child=$(cat "/proc/$loader/task/$loader/children")
  child=${child% }
}
TEST_POLL=0 wait_until held_start
kill -TERM "$loader"
status=0
wait "$loader" || status=$?
equal "status after SIGTERM" $status 143

# Job control, a moment after its start.
"$allocprof" run -q -o stopped.folded -- sh -c 'kill -STOP $$; exit 4' 2>stopped.err &
loader=$!
started+=("$loader")
wait_until child_state T
kill -CONT "$(cut -d ' ' -f 1 "/proc/$loader/task/$loader/children")"
status=0
wait "$loader" || status=$?
equal "status after SIGSTOP" $status 4

# The child of a loader that is killed goes on to its end.
TEST_POLL=0 wait_until held_start
started+=("$child")
kill -9 "$loader"
wait_until has killed.out "clang version"
