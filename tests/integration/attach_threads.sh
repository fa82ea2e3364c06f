#!/usr/bin/env bash
# Eight threads, of which four sleep when the attach comes, are all sampled, counted by thread as
# well; the semaphores rise with the attach and fall with its end.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --threads 8 --sleepers 4
equal "semaphores before" "$(semaphores "$pid")" "0 0 "
attach attach --by-thread --show-allocator -o "$tmp/out.folded" "$pid"
wait_until semaphores_are "$pid" "1 1"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
equal "semaphores after" "$(semaphores "$pid")" "0 0 "
diff <(from_path "$tmp/out.folded") <(expected live bytes) || fail "not every thread was sampled"
