#!/usr/bin/env bash
# Profiles a live redis-server: starts it with the built allocator preloaded, puts redis-benchmark on
# it, and only then attaches. All files go to $O/demo; leaves no process, also when interrupted.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
out=$O/demo
. tests/redis.sh

trap redis_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
  echo "demo: $1" >&2
  [ $# = 1 ] || tail -n 5 "$2" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail "needs root, as attaching does"
rm -rf "$out"
mkdir -p "$out"
XDG_CACHE_HOME=$(realpath "$out") # of the loader's unwind tables
export XDG_CACHE_HOME

redis_start
redis_load set,get,lpush,hset,zadd
echo "redis-server $server runs with $O/liballocprof.so preloaded, redis-benchmark is on it"

echo "\$ $O/allocprof attach $server --duration 5s"
"$O/allocprof" attach "$server" --duration 5s -o "$out/redis.html" -o "$out/redis.pb.gz"
