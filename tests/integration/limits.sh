#!/usr/bin/env bash
# A loader with little: locked memory, open files, memory of its cgroup, time, room in its ring
# buffer. Either it says what is missing, with nothing left in the target, or what it records is
# exact.
. "$(dirname "$0")/common.sh"
need_bpf
need gcc

number=0
start prober --threads 4 --sleepers 4 --attaches 3
exact() { # NAME
  number=$((number + 1))
  wait_until has "$tmp/prober.out" "^done $number"
  detach || fail "$1: attach ended with $?"
  diff <(from_path "$tmp/$1.folded") <(expected live bytes) || fail "$1: not what was fired"
  ! has "$tmp/$1.err" '^warning' || fail "$1: $(grep ^warning "$tmp/$1.err")"
  wait_until semaphores_are "$pid" "0 0"
}
refused() { # NAME STATUS
  [ "$2" != 0 ] || fail "$1: went well?"
  # Unless the kernel has killed it.
  [ "$2" = 137 ] || has "$tmp/$1.err" '^allocprof: ' || fail "$1: not a word, status $2"
  wait_until semaphores_are "$pid" "0 0"
}

# Kernels since 5.11 do not ask for it; the loader raises its own limit for older ones.
ulimit -S -l 0
attach memlock --show-allocator -o "$tmp/memlock.folded" "$pid"
exact memlock

status=0
(ulimit -n 12 && exec "$allocprof" attach -d 10s -o "$tmp/files.folded" "$pid") 2>"$tmp/files.err" || status=$?
refused files $status
has "$tmp/files.err" 'too many open files' || fail "files: $(cat "$tmp/files.err")"
has "$tmp/files.err" '^hint: allow more: ulimit -n' || fail "files: no hint"

if limit_memory 12; then
  status=0
  (echo "$BASHPID" >"$memory_group/cgroup.procs" && exec "$allocprof" attach -d 10s -o "$tmp/group.folded" "$pid") \
    2>"$tmp/group.err" || status=$?
  refused group $status
  [ $status = 137 ] || has "$tmp/group.err" 'out of memory$' || fail "group: $(cat "$tmp/group.err")"
else
  echo "not tried: a memory cgroup, for lack of one"
fi

# A loader that is stopped does not read its ring buffer, and reads nothing of the target.
attach stopped --show-allocator -o "$tmp/stopped.folded" "$pid"
kill -STOP "$loader"
number=$((number + 1))
wait_until has "$tmp/prober.out" "^done $number"
kill -CONT "$loader"
number=$((number - 1))
exact stopped

# Nor does it when that is full, of requests to look at code that is new: each of these stacks makes
# one. That is counted and shown, as are the stacks that end early for it, and all the rest is exact.
for name in first second; do
  gcc -g -O2 -fomit-frame-pointer -fPIC -shared -o "$tmp/$name.so" tests/corpus/plugin.c
done
mkfifo "$tmp/dlopener.in"
start dlopener "$tmp/first.so" "$tmp/second.so"
attach full -v --show allocated --by objects --show-allocator -o "$tmp/full.folded" "$pid"
kill -STOP "$loader"
echo >"$tmp/dlopener.in"
wait_until has "$tmp/dlopener.out" "^done"
kill -CONT "$loader"
detach || fail "full: attach ended with $?"
has "$tmp/full.err" '^ring buffer full: [1-9][0-9]* requests' || fail "the ring buffer was not full"
equal "full: samples" "$(folded_sum "$tmp/full.folded")" $((2 * (2 * 600 + 1)))
has "$tmp/full.folded" '^.truncated: ' || fail "full: no stack has ended early"
has "$tmp/full.err" ' [0-9.]*% of samples have a whole stack' || fail "full: not shown"
