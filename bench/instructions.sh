#!/usr/bin/env bash
# Counts the instructions that a pair of malloc and free costs, by callgrind, in the three loops of
# bench/pairs.c: what every object but the program itself and the dynamic linker executes in a run
# of 2 M pairs, less the same in a run of 1 M, over 1 M. Repeatable to the last digit or so.
# PEERS="NAME=PATH.so ..." adds allocators; PAIRS=N sets the shorter run's length.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
pairs=${PAIRS:-1000000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

command -v valgrind >/dev/null || {
  echo "instructions: valgrind is not installed" >&2
  exit 77
}

[ -x "$O/bench/pairs" ] || {
  echo "instructions: there is no $O/bench/pairs: make $O/bench/pairs" >&2
  exit 2
}

# The sum of the self costs of a profile in callgrind's format. A line of costs that follows
# `calls=` is the callee's inclusive cost, not this function's; `cob=` names the callee's object.
self_cost() { # FILE
  awk '
    /^c?ob=/ {
      id = $0; sub(/^c?ob=/, "", id); sub(/\).*/, ")", id)
      name = $0; if (sub(/^[^)]*\) /, "", name)) object[id] = name
      if (/^ob=/) current = id
      next
    }
    /^calls=/ { skip = 1; next }
    /^[+*0-9-]/ {
      if (skip) { skip = 0; next }
      if (object[current] !~ /\/pairs$/ && object[current] !~ /\/ld-linux[^\/]*$/) sum += $2
    }
    END { printf "%d\n", sum }' "$1"
}

count() { # LIBRARY LOOP N
  rm -f "$scratch/out"
  LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
    "$O/bench/pairs" "$2" "$3" >"$scratch/log" 2>&1 && self_cost "$scratch/out"
}

printf '%-12s %10s %10s %10s   instructions per pair\n' allocator fixed slots batch
status=0
measure() { # NAME LIBRARY
  local loop short long line
  line=$(printf '%-12s' "$1")
  for loop in fixed slots batch; do
    if short=$(count "$2" $loop "$pairs") && long=$(count "$2" $loop $((2 * pairs))); then
      line+=$(awk "BEGIN { printf \" %10.1f\", ($long - $short) / $pairs }")
    else
      line+="     failed"
      [ "$1" != ours ] || status=1
    fi
  done
  echo "$line"
}

while IFS=$'\t' read -r name library; do
  measure "$name" "$library"
done < <(python3 bench/allocators.py "${ALLOCATOR:-$O/liballocprof.so}" "${PEERS:-}")
exit $status
