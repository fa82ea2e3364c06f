#!/usr/bin/env bash
# However the target ends, the profile is written, with the reason in it and on the terminal: also
# when its parent, which is not us, has collected the status at once.
. "$(dirname "$0")/common.sh"
need_bpf

program_env=(env "LD_PRELOAD=$O/liballocprof.so")

# What the terminal and the profile say of a death, and that it has what was held.
dies() { # HOW PATTERN COMMAND...
  local how=$1 pattern=$2 text
  start mortal
  [ -z "$memory_group" ] || echo "$pid" >"$memory_group/cgroup.procs"
  attach attach --period 256K -o "$tmp/out.pb.gz" -o "$tmp/out.folded" "$pid"
  echo -n h >"$tmp/mortal.in"
  wait_until has "$tmp/mortal.out" '^holds'
  echo -n "$how" >"$tmp/mortal.in"
  wait "$loader" || fail "$how: attach ended with $?"
  wait "$pid" || true
  has "$tmp/attach.err" "^mortal $pattern, live [0-9.]+ MiB$" ||
    fail "$how: got '$(grep ^mortal "$tmp/attach.err")', expected '$pattern'"
  text=$(gunzip -c "$tmp/out.pb.gz" | strings | grep -o 'ended: .*')
  grep -qE "^ended: $pattern, live " <<<"$text" || fail "$how: the profile says '$text'"
  # 64 MiB in blocks of 64 KiB, each sampled with p = 1 - exp(-1/4): the standard deviation is 3.75
  # MiB, and 6 of them are exceeded once in 5 * 10^8 times.
  awk -v how="$how" '/;hold / { sum += $NF } END { exit !(sum > 41 * 2^20 && (how == "m" || sum < 87 * 2^20)) }' \
    "$tmp/out.folded" || fail "$how: hold() has $(folded_sum "$tmp/out.folded") bytes"
}

moment='at [0-9:]{8} [A-Z0-9+-]+'
dies e "exited with status 3"
dies s "was killed by SIGSEGV $moment"
dies k "was killed by SIGKILL $moment"
# Less than the program takes.
if limit_memory 160; then
  dies m "was killed by the OOM killer $moment"
  wait_until rmdir "$memory_group" 2>/dev/null
  memory_group=
else
  echo "not tried: the OOM killer, for lack of a memory cgroup"
fi

# run knows it, too, and ends as the command did.
status=0
"$allocprof" run --period 64 -o "$tmp/out.pb.gz" -- sh -c 'kill -SEGV $$' 2>"$tmp/run.err" || status=$?
equal "status of run" $status 139
has "$tmp/run.err" "^sh was killed by SIGSEGV $moment" || fail "run does not say it"
