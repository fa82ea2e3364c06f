#!/usr/bin/env bash
# A second allocator, loaded after the loader has given up its rights: uprobe_multi attaches to it
# all the same; where perf uprobes may not any more, a warning says that it is missing.
. "$(dirname "$0")/common.sh"
need_bpf
need python3

cp "$O/liballocprof.so" "$tmp/second.so"
cat >"$tmp/late.py" <<'PY'
import ctypes, sys
print("ready", flush=True)
sys.stdin.readline()
second = ctypes.CDLL(sys.argv[1])
second.malloc.restype, second.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
print("loaded", flush=True)
sys.stdin.readline()
for _ in range(20):
    second.malloc(50 << 20)
print("done", flush=True)
sys.stdin.readline()
PY
mkfifo "$tmp/late.in"

links_are() { # NUMBER
  [ "$(find "/proc/$loader/fd" -lname 'anon_inode:bpf_link' | wc -l)" = "$1" ]
}
record() { # NAME: ends before the second allocator is used
  LD_PRELOAD=$O/liballocprof.so python3 "$tmp/late.py" "$tmp/second.so" \
    <>"$tmp/late.in" >"$tmp/late.out" &
  pid=$!
  started+=("$pid")
  wait_until has "$tmp/late.out" "^ready"
  attach "$1" -v --show allocated -o "$tmp/$1.folded" "$pid"
  wait_until has "$tmp/$1.err" "^rights: .* capabilities 8000000000$"
  [ "$1" = perf ] || links=$(find "/proc/$loader/fd" -lname 'anon_inode:bpf_link' | wc -l)
  echo >"$tmp/late.in"
  wait_until has "$tmp/late.out" "^loaded"
}
finish() { # NAME STATUS
  local status=0
  echo >"$tmp/late.in"
  wait_until has "$tmp/late.out" "^done"
  detach || status=$?
  kill -9 "$pid"
  equal "$1: status" $status "$2"
}

export ALLOCPROF_FORCE=perf-uprobe
record perf
wait_until has "$tmp/perf.err" "^warning: .*permission denied; the right was given up"
finish perf 6
unset ALLOCPROF_FORCE

record multi
has "$tmp/multi.err" "attached by uprobe_multi" || exit 0
wait_until links_are $((links + 2))
finish multi 0
# Blocks of 50 MiB are sampled each.
equal "allocated by the second" "$(folded_sum "$tmp/multi.folded")" $((20 * (50 << 20)))
