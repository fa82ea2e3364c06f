#!/usr/bin/env bash
# A loader killed with SIGKILL leaves no raised semaphore and no program behind, the target runs
# on, and a second attach works. Its output file does not appear, and nothing beside it.
. "$(dirname "$0")/common.sh"
need_bpf

programs_of() { # PID: BPF programs that the process holds
  find "/proc/$1/fd" -lname '*bpf-prog*' | wc -l
}

start prober --threads 4 --attaches 2
mkdir "$tmp/out"
attach first -o "$tmp/out/first.folded" "$pid"
wait_until has "$tmp/prober.out" "^done 1"
[ "$(programs_of "$loader")" -ge 2 ] || fail "the loader holds no programs?"
semaphores_are "$pid" "1 1" || fail "semaphores are $(semaphores "$pid")"
kill -9 "$loader"
wait "$loader" || true
wait_until semaphores_are "$pid" "0 0"
wait_until has "$tmp/prober.out" "^fallen 1"
equal "files left" "$(ls "$tmp/out")" ""
kill -0 "$pid" || fail "the target is gone"
attach second --show-allocator -o "$tmp/second.folded" "$pid"
wait_until has "$tmp/prober.out" "^done 2"
detach || fail "the second attach ended with $?"
diff <(from_path "$tmp/second.folded") <(expected live bytes) || fail "second attach"
