#!/usr/bin/env bash
# What preloading costs a process that does nothing: peak memory over glibc's and start-up time of
# `true`, the medians of ROUNDS (15) times 40 runs, interleaved and pinned. PEERS as in run.py. The
# row `nothing` is a library with nothing in it: what ld.so and the kernel need to load any.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
[ -x "$O/bench/measure" ] || {
  echo "startup: there is no $O/bench/measure: make $O/bench/measure" >&2
  exit 2
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"${CC:-cc}" -O2 -shared -fPIC -o "$scratch/nothing.so" -x c - <<<'extern int nothing;'
allocators=$(python3 bench/allocators.py "${ALLOCATOR:-$O/liballocprof.so}" "${PEERS:-}"
  printf 'nothing\t%s\n' "$scratch/nothing.so")
cpu=${CPU:-$(($(nproc) - 1))}
for _ in $(seq "${ROUNDS:-15}"); do
  while IFS=$'\t' read -r name library; do
    "$O/bench/measure" -w -c $((1 << cpu)) -n 40 -p "$library" true >>"$scratch/$name"
    "$O/bench/measure" -c $((1 << cpu)) -n 4 -p "$library" true >>"$scratch/$name.rss"
  done <<<"$allocators"
done

median() { # FILE COLUMN
  awk -v column="$2" '{ print $column }' "$1" | sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

base_rss=$(median "$scratch/glibc.rss" 5)
base_wall=$(median "$scratch/glibc" 4)
printf '| allocator | RSS, KiB | over glibc, MiB | start to end, us | ratio to glibc |\n|---|---|---|---|---|\n'
while IFS=$'\t' read -r name library; do
  if awk '$1 != 0 { bad = 1 } END { exit !bad }' "$scratch/$name"; then
    echo "| $name | failed | | | |"
    continue
  fi
  awk -v name="$name" -v rss="$(median "$scratch/$name.rss" 5)" -v wall="$(median "$scratch/$name" 4)" \
    -v base_rss="$base_rss" -v base_wall="$base_wall" 'BEGIN {
      printf "| %s | %d | %+.2f | %.0f | %.3f |\n", name, rss, (rss - base_rss) / 1024, wall * 1e6, wall / base_wall
    }'
done <<<"$allocators"
