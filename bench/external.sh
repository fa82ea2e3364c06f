#!/usr/bin/env bash
# external.sh DIR: the programs of a mimalloc-bench that somebody has built, under each allocator.
# DIR is its checkout (programs in out/bench, inputs in bench) or a build folder with a link to its
# `bench`. Prints the same tables as `make bench`, and writes build/external.json. WORKLOADS, ROUNDS
# and PEERS as there; with OWN=1 our own workloads too, and means of all. What is not built is named
# and left out.
set -euo pipefail
if [ $# != 1 ] || [ ! -d "$1" ]; then
  echo "usage: bench/external.sh DIR" >&2
  exit 2
fi
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
programs=$dir
[ -d "$dir/out/bench" ] && programs=$dir/out/bench
inputs=$dir/bench
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cpus=$(nproc)

# NAME, `one` CPU or `all`, standard input, command; the arguments are those of its bench.sh.
add() {
  local IFS=$'\t'
  printf '%s\n' "$1"$'\t'"$2"$'\t'"$3"$'\t'"$work"$'\t'"${*:4}" >>"$list"
}
work=-
add cfrac one /dev/null "$programs/cfrac" 17545186520507317056371138836327483792789528
add espresso one /dev/null "$programs/espresso" "$inputs/espresso/largest.espresso"
add barnes one "$inputs/barnes/input" "$programs/barnes"
add alloc-test1 one /dev/null "$programs/alloc-test" 1
add alloc-testN all /dev/null "$programs/alloc-test" "$cpus"
add sh6bench all /dev/null "$programs/sh6bench" $((2 * cpus))
add sh8bench all /dev/null "$programs/sh8bench" $((2 * cpus))
add cache-thrash all /dev/null "$programs/cache-thrash" "$cpus" 1000 1 2000000 "$cpus"
add cache-scratch all /dev/null "$programs/cache-scratch" "$cpus" 1000 1 2000000 "$cpus"
add malloc-large one /dev/null "$programs/malloc-large"
add mstress all /dev/null "$programs/mstress" "$cpus" 50 25
add mleak10 all /dev/null "$programs/mleak" 5
add mleak100 all /dev/null "$programs/mleak" 50
add glibc-simple one /dev/null "$programs/glibc-simple"
if [ -e "$inputs/rbstress/stress_mem.rb" ]; then
  add rbstress1 one /dev/null ruby "$inputs/rbstress/stress_mem.rb" 1
  add rbstressN all /dev/null ruby "$inputs/rbstress/stress_mem.rb" "$cpus"
fi
[ ! -e "$inputs/z3/test1.smt2" ] || add z3-test1 one /dev/null z3 -smt2 "$inputs/z3/test1.smt2"
add rptest all /dev/null "$programs/rptest" "$cpus" 0 1 2 500 1000 100 8 16000
# These run for a time: their times are divided by what they get done in it, which they print.
work='Throughput = *([0-9]+)'
add larson all /dev/null "$programs/larson" 3 8 1000 5000 100 4141 "$cpus"
add larson-sized all /dev/null "$programs/larson-sized" 3 8 1000 5000 100 4141 "$cpus"
work='free/sec: *([0-9.]+) M'
add xmalloc-test all /dev/null "$programs/xmalloc-test" -w "$cpus" -t 3 -s 64
work='([0-9]+) iterations'
add glibc-thread all /dev/null "$programs/glibc-thread" "$cpus"
exec python3 bench/run.py --list "$list" --name external ${OWN:+--own}
