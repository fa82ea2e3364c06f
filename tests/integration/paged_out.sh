#!/usr/bin/env bash
# A stack that is not resident cannot be read in the kernel: its first samples end early, and say
# so; the loader brings the pages in, and the samples after that are whole.
. "$(dirname "$0")/common.sh"
need_bpf

mkfifo "$tmp/paged_out.in"
start paged_out
attach attach --show allocated --by objects --show-allocator -o "$tmp/out.folded" "$pid"
echo >"$tmp/paged_out.in"
wait_until has "$tmp/paged_out.out" "^done"
detach || fail "attach ended with $?"
cut=$(awk '/^.truncated: stack not readable/ { sum += $NF } END { printf "%d", sum }' "$tmp/out.folded")
whole=$(awk '!/^.truncated/ { sum += $NF } END { printf "%d", sum }' "$tmp/out.folded")
echo "$cut cut, $whole whole"
equal "samples" $((cut + whole)) 500
[ "$cut" -gt 0 ] || fail "all of the stack was resident: nothing was tested"
[ "$whole" -gt 0 ] || fail "the stack was never brought in"
