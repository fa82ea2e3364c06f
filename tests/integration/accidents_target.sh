#!/usr/bin/env bash
# What happens to a target in the middle of a recording, and who else is at it: the totals are those
# of the process that was attached, all its stacks have their names, and it is left as it was.
. "$(dirname "$0")/common.sh"
need_bpf
need gcc gdb strace

objects() { # FUNCTION: allocations through it
  awk -v name=";$1;" 'index($0, name) { sum += $NF } END { printf "%d", sum }' "$tmp/out.folded"
}

# Starts it, and attaches. Its pid is $pid, its loader $loader.
adventure() { # WHAT ARGUMENT
  start adventurer "$@"
  attach "$1" --show allocated --by objects -o "$tmp/out.folded" "$pid"
  echo >"$tmp/adventurer.in"
}

# What a recording of it must hold; nothing is missing or unknown.
recorded() { # WHAT BEFORE AFTER ALL
  equal "$1: before" "$(objects before)" "$2"
  equal "$1: after" "$(objects after)" "$3"
  equal "$1: all" "$(folded_sum "$tmp/out.folded")" "$4"
  ! has "$tmp/$1.err" '^warning' || fail "$1: $(grep ^warning "$tmp/$1.err")"
}

adventure_ends() { # WHAT ALL
  wait_until has "$tmp/adventurer.out" '^done'
  detach || fail "$1: attach ended with $?"
  recorded "$1" 100 100 "$2"
  gone "$pid" || kill -9 "$pid"
}

gcc -shared -fPIC -o "$tmp/library.so" tests/alloc/plugin.c
for what in user namespaces "libraries $tmp/library.so" threads; do
  # shellcheck disable=SC2086
  adventure $what
  case $what in
    threads) adventure_ends threads 10200 ;;
    libraries*) adventure_ends libraries 300 ;;
    *) adventure_ends "$what" 200 ;;
  esac
done

adventure stop
stopped() { grep -q '^State:	T' "/proc/$pid/status"; }
wait_until stopped
kill -CONT "$pid"
adventure_ends stop 200

# Another program in its place on disk: the names are those of what runs.
mkdir "$tmp/bin"
cp "$programs/adventurer" "$tmp/bin/"
cp /bin/true "$tmp/bin/other"
built=$programs
programs=$tmp/bin
adventure replace "$tmp/bin/other"
adventure_ends replace 200
programs=$built

# The parent is gone, and with it the recording; the child was not asked.
adventure daemon
wait "$loader" || fail "daemon: attach ended with $?"
recorded daemon 100 0 100
wait_until has "$tmp/adventurer.out" '^done'
child=$(sed -n 's/^done //p' "$tmp/adventurer.out")
pid=$child
semaphores_are "$child" "0 0" adventurer ||
  fail "daemon: semaphores of the child are $(semaphores "$child" adventurer)"
kill -9 "$child"

# The new image is root's, and so closed to us since the rights were given up: it ends there.
adventure exec
wait_until has "$tmp/adventurer.out" '^done'
wait "$loader" || fail "exec: attach ended with $?"
has "$tmp/exec.err" "^adventurer executed .* cannot be looked into" || fail "exec: no word of it"
equal "exec: before" "$(objects before)" 100
kill -9 "$pid"

# Others who are at the same process or the same probes. The same for each, and none is disturbed.
exact() { # WHAT
  diff <(from_path "$tmp/$1.folded") <(expected live bytes) || fail "$1: not what was fired"
  ! has "$tmp/$1.err" '^warning' || fail "$1: $(grep ^warning "$tmp/$1.err")"
}
prober_recorded() { # WHAT
  attach "$1" --show-allocator -o "$tmp/$1.folded" "$pid"
  wait_until has "$tmp/prober.out" '^done 1'
  detach || fail "$1: attach ended with $?"
  exact "$1"
}
traced() { ! grep -q '^TracerPid:	0' "/proc/$pid/status"; }

start prober --threads 4 --sleepers 4
strace -f -qq -o "$tmp/strace.out" -p "$pid" &
started+=($!)
wait_until traced
prober_recorded strace
kill -9 "$pid"

start prober --threads 4 --sleepers 4
gdb -q -batch -nx -ex 'handle all nostop noprint pass' -ex continue -p "$pid" >"$tmp/gdb.out" 2>&1 </dev/null &
started+=($!)
wait_until traced
prober_recorded gdb
kill -9 "$pid"

# Another loader, which comes first and leaves in the middle. (The kernel counts places, not those who
# are at them: the semaphores are 1 for both.)
start prober --threads 4 --sleepers 4 --attaches 2
"$allocprof" attach -o "$tmp/other.folded" "$pid" 2>"$tmp/other.err" &
other=$!
started+=("$other")
wait_until has "$tmp/other.err" '^attached'
attach one --show-allocator -o "$tmp/one.folded" "$pid"
wait_until has "$tmp/prober.out" '^done 1'
kill -INT $other
wait $other || fail "the other attach ended with $?"
semaphores_are "$pid" "1 1" || fail "semaphores of the one left are $(semaphores "$pid")"
detach || fail "one: attach ended with $?"
exact one
kill -9 "$pid"
