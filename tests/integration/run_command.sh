#!/usr/bin/env bash
# `run`: the command's output and exit status are its own, signals reach it, it has not the rights
# of sudo, and it is recorded from its start, however short it lives.
. "$(dirname "$0")/common.sh"
need_bpf
need python3
cd "$tmp"

ends() { # STATUS COMMAND...
  local expected=$1 status=0
  shift
  "$allocprof" run -q --period 1K -o "$tmp/run.folded" "$@" >"$tmp/run.out" 2>"$tmp/run.err" || status=$?
  equal "status of '$*'" $status "$expected"
}

ends 0 -- ls /
equal "output" "$(cat "$tmp/run.out")" "$(ls /)"
ends 42 -- sh -c 'exit 42'
ends 137 -- sh -c 'kill -9 $$'
ends 127 -- "$tmp/nonexistent"
has "$tmp/run.err" "^hint: " || fail "no hint"
ends 126 -- /etc/passwd
ends 3 --duration 50ms -- sh -c 'sleep 0.3; exit 3'
ends 0 sh -c 'test "$1" = -q' sh -q

# What a shell's children allocate is not the shell's.
"$allocprof" run -q --period 1G sh -c 'true; true' 2>"$tmp/run.err"
has "$tmp/run.err" "^hint: .*\(--follow-fork\)" || fail "no hint of its children"

# What cannot be preloaded is told before it ends.
if command -v gcc >/dev/null; then
  echo 'int pause(void); int main(void) { return pause(); }' >"$tmp/pauser.c"
  gcc -static -o "$tmp/pauser" "$tmp/pauser.c"
  "$allocprof" run -q "$tmp/pauser" 2>"$tmp/static.err" &
  loader=$!
  started+=("$loader")
  wait_until has "$tmp/static.err" '^warning: pauser is static'
  kill -TERM "$loader"
  wait "$loader" || true
fi

# Without its library it is our failure.
cp "$allocprof" "$tmp/allocprof"
status=0
"$tmp/allocprof" run -- true 2>"$tmp/alone.err" || status=$?
equal "status without the library" $status 125
has "$tmp/alone.err" "^allocprof: liballocprof.so not found" || fail "no word of the library"

# What is preloaded already stays, ours comes after it.
first=$(ldd "$allocprof" | sed -n 's/.* => \(.*libz[^ ]*\).*/\1/p')
LD_PRELOAD=$first "$allocprof" run -q -- sh -c 'echo "$LD_PRELOAD"' >"$tmp/run.out" 2>/dev/null
equal "LD_PRELOAD" "$(cat "$tmp/run.out")" "$first:$O/liballocprof.so"

SUDO_UID=65534 SUDO_GID=65534 "$allocprof" run -q -- id -u >"$tmp/run.out" 2>/dev/null
equal "user under sudo" "$(cat "$tmp/run.out")" 65534

# A signal to us is one to the command.
"$allocprof" run -q -- sh -c 'trap "exit 7" TERM; echo up; while :; do sleep 0.05; done' >"$tmp/signal.out" 2>/dev/null &
loader=$!
started+=("$loader")
wait_until has "$tmp/signal.out" "^up"
kill -TERM "$loader"
status=0
wait "$loader" || status=$?
equal "status after SIGTERM" $status 7

# While an output waits for its reader a signal ends us, once the command has ended or had one too.
mkfifo "$tmp/pipe"
"$allocprof" run --period 1K -f folded -o "$tmp/pipe" -- python3 -c 'pass' 2>"$tmp/ended.err" &
loader=$!
started+=("$loader")
wait_until has "$tmp/ended.err" " exited with status 0"
kill -TERM "$loader"
status=0
wait "$loader" || status=$?
equal "status after SIGTERM and the command's end" $status 143
has "$tmp/ended.err" "^allocprof: ended before the profile was written" || fail "no word of SIGTERM"

"$allocprof" run --period 1K --duration 1s -f folded -o "$tmp/pipe" -- \
  python3 -c 'import signal; signal.pause()' 2>"$tmp/spared.err" &
loader=$!
started+=("$loader")
wait_until has "$tmp/spared.err" "^detached"
child=$(cat "/proc/$loader/task/$loader/children")
started+=("${child% }")
kill -TERM "$loader"
wait_until has "/proc/${child% }/status" "^State:.Z"
kill -TERM "$loader"
status=0
wait "$loader" || status=$?
equal "status after the second SIGTERM" $status 143
has "$tmp/spared.err" "^allocprof: ended before the profile was written" || fail "no word of the second"

# Its stacks have names, although nothing is left of the process to look at.
ends 0 --show allocated -- python3 -c 'x = [b"x" * (900 + i % 64) for i in range(50000)]'
has "$tmp/run.folded" "Py[A-Z_a-z]+ [0-9]" || fail "no names of python in its profile"
