#!/usr/bin/env bash
# Reads the probes back from the library, as a profiler finds them, and checks what else the
# contract (include/allocprof/probe.h) and the dynamic linker are promised.
set -euo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
library=$O/liballocprof.so
failures=0

complain() {
  echo "probes: $*"
  failures=$((failures + 1))
}

equal() { # WHAT GOT EXPECTED
  [ "$2" = "$3" ] || complain "$1: got '$2', expected '$3'"
}

lies_in() { # WHAT ADDRESS LENGTH SECTION_ADDRESS SECTION_SIZE
  if [ $((16#$2)) -lt $((16#$4)) ] || [ $((16#$2 + $3)) -gt $((16#$4 + 16#$5)) ]; then
    complain "$1: $2 is not in its section"
  fi
}

command -v readelf >/dev/null || { echo "skip: no readelf"; exit 77; }
notes=$(readelf -n "$library")
sections=$(readelf -SW "$library")
dynamic=$(readelf -dW "$library")
dynsym=$(readelf --dyn-syms -W "$library" | awk '$7 != "UND" && NF >= 8 { sub(/@.*/, "", $8); print $8 }')

# The section's address, file offset and size, in hexadecimal.
section() { # NAME
  sed -n "s/^ *\[ *[0-9]*\] $1  *[A-Z]*  *\([0-9a-f]*\) \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2 \3/p" \
    <<<"$sections"
}
read -r text_address text_offset text_size <<<"$(section '\.text')"
read -r probes_address _ probes_size <<<"$(section '\.probes')"

# Bytes of the code at an address, as hexadecimal digits.
code() { # ADDRESS COUNT
  od -An -v -tx1 -j $((16#$text_offset + 16#$1 - 16#$text_address)) -N "$2" "$library" | tr -d ' \n'
}

check_probe() { # NAME ARGUMENTS
  local found site base semaphore offset function
  found=$(awk -v name="$1" '
    $1 == "Provider:" { provider = $2 }
    $1 == "Name:" { this = $2 }
    $1 == "Location:" { gsub(",", ""); where = $2 " " $4 " " $6 }
    $1 == "Arguments:" && provider == "otel_memory" && this == name {
      sub(/^ *Arguments: /, ""); print where " " $0 }' <<<"$notes")
  equal "sites of $1" "$(grep -c . <<<"$found")" 1
  read -r site base semaphore arguments <<<"$found"
  site=${site#0x} base=${base#0x} semaphore=${semaphore#0x}
  equal "arguments of $1" "$arguments" "$2"
  [ -n "$site" ] || return 0
  lies_in "site of $1" "$site" 1 "$text_address" "$text_size"
  equal "base of $1" $((16#$base)) $((16#$(section '\.stapsdt\.base' | cut -d' ' -f1)))

  # A nop of one byte, and what follows it is not one that it would be fused with (66 90, 0f 1f).
  equal "byte at the site of $1" "$(code "$site" 1)" 90
  case $(code "$(printf %x $((16#$site + 1)))" 2) in
    90* | 660f | 0f1f) complain "$1: more nops behind the site" ;;
  esac
  case $(code "$(printf %x $((16#$site - 1)))" 1) in
    66 | f2 | f3) complain "$1: the nop has a prefix" ;;
  esac

  # push %rbp; mov %rsp,%rbp stand between the function's start and the site (behind an endbr64).
  function=$(readelf -sW "$library" | awk -v site=$((16#$site)) '
    function number(hex,  i, n) { for (i = 1; i <= length(hex); i++)
      n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
    $4 == "FUNC" { at = number($2); if (at <= site && site < at + $3 && !found++) print $2 }')
  [ -n "$function" ] || complain "$1: the site is in no function"
  case $(code "$function" $((16#$site - 16#$function))) in
    *554889e5*) ;;
    *) complain "$1: no frame before the site" ;;
  esac

  # The semaphore: two bytes in .probes, which start as 0 and that nobody else can see.
  lies_in "semaphore of $1" "$semaphore" 2 "$probes_address" "$probes_size"
  equal "alignment of the semaphore of $1" $((16#$semaphore % 2)) 0
  offset=$((16#$semaphore - 16#$probes_address + 16#$(section '\.probes' | cut -d' ' -f2)))
  equal "semaphore of $1" "$(od -An -v -tx1 -j $offset -N 2 "$library" | tr -d ' \n')" 0000
}

equal "number of notes" "$(grep -c '^  stapsdt ' <<<"$notes")" 2
check_probe alloc '8@%rdi 8@%rsi 8@%rdx'
check_probe free '8@%rdi'

# Exported: the interface, the period (8 bytes), nothing else of ours.
for name in malloc free calloc realloc aligned_alloc memalign posix_memalign valloc pvalloc \
  malloc_usable_size free_sized free_aligned_sized malloc_trim malloc_stats malloc_info mallinfo \
  mallinfo2 mallopt _Znwm _ZdlPv allocprof_sample_period; do
  grep -qx "$name" <<<"$dynsym" || complain "$name is not exported"
done
ours=$(grep -E '^(ap_|_?stapsdt)' <<<"$dynsym" || true)
equal "exported symbols of ours" "$ours" ""
equal "size of the period" "$(readelf --dyn-syms -W "$library" |
  awk '$8 == "allocprof_sample_period" { print $3 }')" 8

# Nothing but libc is needed, nothing is bound late, no text is relocated, and thread-local storage
# is a few bytes of the static kind, so that dlopen finds room for it.
equal "needed libraries" "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")" libc.so.6
grep -q 'BIND_NOW\|NOW' <<<"$dynamic" || complain "symbols are bound late"
grep -q TEXTREL <<<"$dynamic" && complain "text relocations"
grep -q STATIC_TLS <<<"$dynamic" || complain "thread-local storage is not static"
tls=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
[ $((tls)) -le 64 ] || complain "$((tls)) bytes of thread-local storage"

[ $failures = 0 ]
