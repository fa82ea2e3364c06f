#!/usr/bin/env bash
# In a cgroup with 110 MiB a program goes through seven times 80 MiB, each in blocks of another size:
# what one size has used is given back, or to the next, before the kernel kills. (Where a limit is
# reached malloc does not fail, as the kernel has promised the memory: it kills.)
. "$(dirname "$0")/../integration/common.sh"
limit_memory 110 || skip "needs a memory cgroup, as root"

status=0
(
  echo "$BASHPID" >"$memory_group/cgroup.procs"
  exec "$O/tests/alloc/test_limits" turns 80
) || status=$?
[ $status = 0 ] ||
  fail "ended with $status; $(cat "$memory_group"/memory.max_usage_in_bytes 2>/dev/null) bytes at most"
