#!/usr/bin/env bash
# The ways in which the allocator comes into a process other than by LD_PRELOAD: linked with the
# program, with a library that is loaded and unloaded, and statically.
set -euo pipefail
cd "$(dirname "$0")/../.."
O=$(realpath "${O:-build}")
CC=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
  echo "FAIL: $*"
  exit 1
}

run() { # NAME EXPECTED COMMAND...
  local name=$1 expected=$2 output status=0
  shift 2
  output=$(timeout 60 "$@" 2>&1) || status=$?
  [ $status = 0 ] || fail "$name: status $status: $output"
  [ "$output" = "$expected" ] || fail "$name: $output"
  echo "ok: $name"
}

# Whether it is ours that serves the program: mallinfo's fields are told apart by hblkhd after
# 100 MiB, malloc_stats by its words.
uses_ours() { # NAME PROGRAM
  timeout 60 "$2" stats 2>"$tmp/stats" >/dev/null || fail "$1: ended with $?"
  grep -q '^allocprof: .* in use: ' "$tmp/stats" || fail "$1: not served by the allocator"
}

$CC -shared -fPIC -o "$tmp/plugin.so" tests/alloc/plugin.c -L"$O" -lallocprof -Wl,-rpath,"$O"
run 'loaded, with the allocator of the process' finished \
  "$O/tests/programs/alloc_dlopen" "$tmp/plugin.so" shared
run 'loaded, with its own allocator' finished "$O/tests/programs/alloc_dlopen" "$tmp/plugin.so" own
run 'loaded into a process under the preload' finished \
  env LD_PRELOAD="$O/liballocprof.so" "$O/tests/programs/alloc_dlopen" "$tmp/plugin.so" shared
run 'handlers of fork from before there was a thread' finished \
  env LD_PRELOAD="$O/liballocprof.so" "$O/tests/programs/alloc_atfork"
# RTLD_DEEPBIND would bind it to libc's; and it is found where its caller's RUNPATH says, not ours.
$CC -shared -fPIC -o "$tmp/plain.so" tests/alloc/plugin.c
$CC -D_GNU_SOURCE -o "$tmp/deep" tests/programs/alloc_dlopen.c -Wl,-rpath,"$tmp" -lpthread
run 'loaded with RTLD_DEEPBIND' finished \
  env LD_PRELOAD="$O/liballocprof.so" "$tmp/deep" plain.so deep

$CC -D_GNU_SOURCE -o "$tmp/dynamic" tests/programs/alloc_static.c -L"$O" -lallocprof -Wl,-rpath,"$O"
run 'linked dynamically' 'finished, status 0' "$tmp/dynamic"
uses_ours 'linked dynamically' "$tmp/dynamic"

for pie in -static -static-pie; do
  $CC -D_GNU_SOURCE $pie -o "$tmp/static" tests/programs/alloc_static.c "$O/liballocprof.a"
  run "linked with $pie" 'finished, status 0' "$tmp/static"
  uses_ours "linked with $pie" "$tmp/static"
done
if command -v g++ >/dev/null; then
  g++ -static -o "$tmp/static" tests/programs/alloc_threads.cc "$O/liballocprof.a"
  "$O/tests/programs/alloc_threads" >"$tmp/expected"
  run 'C++, linked with -static' "$(cat "$tmp/expected")" "$tmp/static"
fi
