#!/usr/bin/env bash
# Profiles a live redis-server: starts it with the built allocator preloaded, puts redis-benchmark on
# it, and only then attaches. All files go to $O/demo; leaves no process, also when interrupted.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
out=$O/demo
. tests/redis.sh

redis_start
redis_load set,get,lpush,hset,zadd
echo "redis-server $server runs with $O/liballocprof.so preloaded, redis-benchmark is on it"

echo "\$ $O/allocprof attach $server --duration 5s"
"$O/allocprof" attach "$server" --duration 5s -o "$out/redis.html" -o "$out/redis.pb.gz"
