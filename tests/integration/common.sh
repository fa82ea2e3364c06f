# shellcheck shell=bash
# Sourced by the tests of whole programs. Gives each a folder that is removed at the end, and ends
# the processes that it has started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
O=${O:-build}
O=$(realpath "$O")
allocprof=$O/allocprof
programs=$O/tests/programs
tmp=$(mktemp -d)
started=()
memory_group=

cleanup() {
  local status=$? pid
  for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
  if [ $status != 0 ] && [ $status != 77 ]; then
    for file in "$tmp"/*.err "$tmp"/*.out; do
      [ -s "$file" ] && { echo "--- $(basename "$file")"; tail -n 20 "$file"; }
    done
  fi
  [ -z "$memory_group" ] || rmdir "$memory_group" 2>/dev/null || true
  rm -rf "$tmp"
}
trap cleanup EXIT

skip() {
  echo "skip: $*"
  exit 77
}

fail() {
  echo "FAIL: $*"
  exit 1
}

equal() { # WHAT GOT EXPECTED
  [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

need_bpf() {
  [ "$(id -u)" = 0 ] || skip "needs root"
  [ -r /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
}

# Without a pipe: the doctor must not fail for want of a reader.
kernel_lacks() { # WHAT, as doctor calls it
  "$allocprof" doctor >"$tmp/doctor" 2>&1 || true
  has "$tmp/doctor" "$1 +no"
}

need() { # COMMAND...
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || skip "needs $command"
  done
}

# Until the command succeeds, for half a minute, or as long as TEST_PATIENCE says, tried every
# TEST_POLL seconds.
wait_until() {
  local patience=${TEST_PATIENCE:-30}
  local deadline=$((SECONDS + patience))
  while [ $SECONDS -lt $deadline ]; do
    if "$@"; then return 0; fi
    sleep "${TEST_POLL:-0.05}"
  done
  fail "still not after $patience s: $*"
}

has() { # FILE PATTERN
  grep -qE "$2" "$1" 2>/dev/null
}

gone() { # PID
  ! kill -0 "$1" 2>/dev/null
}

# Starts a program of tests/programs in the background, its standard input held open by us: its
# pid in $pid, its output in $tmp/NAME.out.
start() { # NAME ARGUMENTS...
  local name=$1
  shift
  [ -p "$tmp/$name.in" ] || mkfifo "$tmp/$name.in"
  rm -f "$tmp/$name.out" # an earlier one said that it was ready
  "${program_env[@]}" "$programs/$name" "$@" <>"$tmp/$name.in" >"$tmp/$name.out" 2>"$tmp/$name.err" &
  pid=$!
  started+=("$pid")
  wait_until has "$tmp/$name.out" '^ready'
}
program_env=(env)

# Attaches in the background: the loader's pid in $loader, its messages in $tmp/NAME.err. A prober
# is let go then.
attach() { # NAME OPTIONS... PID
  local name=$1
  shift
  rm -f "$tmp/$name.err"
  "${loader_env[@]}" "$allocprof" attach "$@" 2>"$tmp/$name.err" &
  loader=$!
  started+=("$loader")
  wait_until has "$tmp/$name.err" '^attached|^allocprof:'
  [ ! -p "$tmp/prober.in" ] || echo >"$tmp/prober.in"
}

loader_env=(env)

# Ends a recording as Ctrl-C does, and gives its exit status back.
detach() {
  kill -INT "$loader"
  wait "$loader"
}

# Makes a cgroup that has so much memory, of either version: $memory_group, which is removed at the
# end. Returns whether there can be one.
limit_memory() { # MEBIBYTES
  local root=/sys/fs/cgroup name=allocprof-test-$$
  if [ -d "$root/memory" ] && mkdir "$root/memory/$name" 2>/dev/null; then
    memory_group=$root/memory/$name
    echo $(($1 << 20)) >"$memory_group/memory.limit_in_bytes"
  elif grep -qw memory "$root/cgroup.subtree_control" 2>/dev/null && mkdir "$root/$name" 2>/dev/null; then
    memory_group=$root/$name
    echo $(($1 << 20)) >"$memory_group/memory.max"
    echo 0 >"$memory_group/memory.swap.max" 2>/dev/null || true
  else
    return 1
  fi
}

# The two semaphores of a running prober, or another program that says where they are, as "ALLOC FREE".
semaphores() { # PID [PROGRAM]
  local addresses at
  read -r -a addresses < <(sed -n 's/^semaphores //p' "$tmp/${2:-prober}.out")
  for at in "${addresses[@]}"; do
    dd if="/proc/$1/mem" bs=1 skip="$at" count=2 2>/dev/null | od -An -tu2 | tr -d ' \n'
    echo -n ' '
  done
}

semaphores_are() { # PID "ALLOC FREE" [PROGRAM]
  [ "$(semaphores "$1" "${3:-prober}")" = "$2 " ]
}

# The same of a process that runs our allocator.
library_semaphores() { # PID
  local base at
  base=0x$(awk -v file="$O/liballocprof.so" '$NF == file && $3 == 0 { sub(/-.*/, ""); print; exit }' \
    "/proc/$1/maps")
  if [ -z "$library_semaphore" ]; then
    library_semaphore=$(readelf -nW "$O/liballocprof.so" | awk '
      /Name: (alloc|free)$/ { name = $2 }
      name && sub(/.*Semaphore: /, "") { at[name] = $1; name = "" }
      END { print at["alloc"], at["free"] }')
  fi
  for at in $library_semaphore; do
    dd if="/proc/$1/mem" bs=1 skip=$((base + at)) count=2 2>/dev/null | od -An -tu2 | tr -d ' \n'
    echo -n ' '
  done
}
library_semaphore=

library_semaphores_are() { # PID "ALLOC FREE"
  [ "$(library_semaphores "$1")" = "$2 " ]
}

folded_sum() { # FILE
  awk '{ sum += $NF } END { printf "%.0f", sum }' "$1"
}

# Whether the error bar of a total is as wide as the standard deviation that its estimator has makes
# it, within a tenth.
check_error_bar() { # FILE inuse_space|alloc_space DEVIATION
  "$allocprof" report --json "$1" | grep -o '"total":{.*' | grep -o "\"$2\":{[^}]*}" | sed -n '1{s/[",{}]/ /g;p}' |
    awk -v what="$2" -v sd="$3" '
      { for (i = 1; i < NF; i++) at[$i] = substr($(i + 1), 2) }
      END {
        share = (at["high"] - at["low"]) / 2 / (1.959964 * sd)
        printf "the error bar of %s is %.3f times what it should be\n", what, share
        exit !(share > 0.9 && share < 1.1)
      }' || fail "the error bar is wrong"
}

# What the prober said that a recording must hold: stacks from path() on with their values.
expected() { # live|allocated bytes|objects
  awk -v kind="$1" -v unit="$2" \
    '$1 == kind { print $2, unit == "bytes" ? $3 : $4 }' "$tmp/prober.out" | sort
}

expected_sum() { # live|allocated bytes|objects
  awk -v kind="$1" -v unit="$2" \
    '$1 == kind { sum += unit == "bytes" ? $3 : $4 } END { printf "%.0f", sum }' "$tmp/prober.out"
}

# The same of a folded file.
from_path() { # FILE
  sed 's/^.*;\(path;\)/\1/' "$1" | sort
}
