#!/usr/bin/env bash
# A process whose main thread has exited can be attached; and when the thread exits on which the
# attach hangs, the probes move to another one.
. "$(dirname "$0")/common.sh"
need_bpf

leader_is_zombie() { grep -q '^State:	Z' "/proc/$pid/status"; }

start prober --threads 4 --leave
wait_until leader_is_zombie
attach exact --show-allocator -o "$tmp/exact.folded" "$pid"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
diff <(from_path "$tmp/exact.folded") <(expected live bytes) || fail "not what was fired"
kill -9 "$pid"

# Thread 0 is the first that is alive. The others fire only when it is gone.
start prober --threads 3 --leave --retire --endless
wait_until leader_is_zombie
attach moved --show allocated --show-allocator -d 3s -o "$tmp/moved.folded" "$pid"
wait "$loader" || fail "attach ended with $?"
has "$tmp/prober.out" "^retired" || fail "thread 0 is still there"
for path in 'left;left;left' 'right;left;left' 'left;right;left'; do
  has "$tmp/moved.folded" "path;$path;" || fail "no samples of $path"
done
