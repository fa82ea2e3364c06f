#!/usr/bin/env bash
# Prints the machine code of the fast paths in build/liballocprof.so and how many instructions they
# have: from the entry to the first return, with every branch not taken. A call on the way means
# that something is not inlined: exit status 1.
# fastpath.sh [LIBRARY [FUNCTION...]]
set -euo pipefail
cd "$(dirname "$0")/.."
library=${1:-${O:-build}/liballocprof.so}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- malloc free calloc _Znwm _ZdlPv _ZdlPvm
command -v objdump >/dev/null || {
  echo "fastpath: objdump is not installed (binutils)" >&2
  exit 77
}

status=0
for name in "$@"; do
  # By address and size: objdump would look for one of the aliases at that address only.
  read -r address size < <(nm -DS --defined-only "$library" |
    awk -v name="$name" '$4 == name { print $1, $2 }') || true
  [ -n "${size:-}" ] || {
    echo "fastpath: $library has no function $name" >&2
    exit 1
  }
  objdump -d --no-show-raw-insn --start-address=0x"$address" \
    --stop-address=$((0x$address + 0x$size)) "$library" |
    awk -v name="$name" '
      !/^ +[0-9a-f]+:\t/ { next }
      { sub(/^ +/, ""); code = code "    " $0 "\n" }
      done { next }
      { count++ }
      /\tcall/ { called = called "    calls" substr($0, index($0, "call") + 4) "\n" }
      /\t(ret|jmp)/ { done = 1; ends = /\tret/ ? "" : ", and ends in a jump" }
      END {
        printf "%s: %d instructions%s\n%s%s\n", name, count, ends, code, called
        exit called != ""
      }' || status=1
  size=
done
exit $status
