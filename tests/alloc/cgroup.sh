#!/usr/bin/env bash
# In a cgroup with 110 MiB a program goes through seven times 80 MiB, each in blocks of another size:
# what one size has used is given back, or to the next, before the kernel kills. (Where a limit is
# reached malloc does not fail, as the kernel has promised the memory: it kills.)
set -euo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
root=/sys/fs/cgroup name=allocprof-test-$$
if [ -d $root/memory ] && mkdir "$root/memory/$name" 2>/dev/null; then
  group=$root/memory/$name
  limit=memory.limit_in_bytes
elif grep -qw memory $root/cgroup.subtree_control 2>/dev/null && mkdir "$root/$name" 2>/dev/null; then
  group=$root/$name
  limit=memory.max
else
  echo "skip: needs a memory cgroup, as root"
  exit 77
fi
trap 'rmdir "$group"' EXIT
echo $((110 << 20)) >"$group/$limit"

status=0
(
  echo "$BASHPID" >"$group/cgroup.procs"
  exec "$O/tests/alloc/test_limits" turns 80
) || status=$?
[ $status = 0 ] || {
  echo "FAIL: ended with $status; $(cat "$group"/memory.max_usage_in_bytes 2>/dev/null) bytes at most"
  exit 1
}
