#!/usr/bin/env bash
# The fast paths cost nothing for the probes: built with and without them, malloc, calloc, free and
# the C++ operators are the same bytes with the same relocations. (In the object files, where
# addresses are not filled in yet.)
set -euo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
without=$O/noprobes

make --no-print-directory PROBES=0 O="$without" alloc >/dev/null

functions() { # OBJECT: its global functions: name, address, size
  readelf -sW "$1" | awk '$4 == "FUNC" && $5 == "GLOBAL" && $7 != "UND" { print $8, "0x" $2, $3 }'
}
code() { # OBJECT FUNCTION: its bytes and relocations, by their place in the function
  functions "$1" | while read -r name address size; do
    [ "$name" = "$2" ] || continue
    objdump -drw -j .text --start-address=$((address)) --stop-address=$((address + size)) "$1" |
      sed -E '1,/^[0-9a-f]+ </d; s/^ *[0-9a-f]+:\t//; s/[0-9a-f]+ <[^>]*\+(0x[0-9a-f]+)>/<+\1>/g
              s/\t[0-9a-f]+: R_/\tR_/g'
  done
}

checked=0
for object in alloc/malloc.o alloc/operators.o; do
  for function in $(functions "$O/$object" | cut -d" " -f1); do
    case $function in
      malloc | calloc | free | _Zn[wa]m | _Zn[wa]mRKSt9nothrow_t | _Zd[la]Pv*) ;;
      *) continue ;;
    esac
    if [ -z "$(code "$O/$object" "$function")" ]; then
      echo "$function: no code found in $O/$object"
      exit 1
    fi
    if ! diff <(code "$O/$object" "$function") <(code "$without/$object" "$function"); then
      echo "$function: differs between PROBES=1 and PROBES=0"
      exit 1
    fi
    checked=$((checked + 1))
  done
done
echo "$checked functions are byte-identical with and without the probes"
# malloc, calloc, free, four new, twelve delete
[ $checked = 19 ]
if grep -q allocprof_sample_period <<<"$(nm -D "$without/liballocprof.so")"; then
  echo "PROBES=0 still exports the period"
  exit 1
fi
if grep -q otel_memory <<<"$(readelf -n "$without/liballocprof.so")"; then
  echo "PROBES=0 still has probes"
  exit 1
fi
