#!/usr/bin/env bash
# Attached by perf's uprobes, as before 6.6 and for a process whose first thread has exited, all is
# the same as by uprobe_multi.
. "$(dirname "$0")/common.sh"
need_bpf

! kernel_lacks uprobe_multi || skip "all tests go that way on this kernel"
export ALLOCPROF_FORCE=perf-uprobe
for test in attach_exact kill_loader fork_exec two_processes; do
  O=$O bash "tests/integration/$test.sh" >"$tmp/$test.out" 2>&1 || fail "$test"
done
