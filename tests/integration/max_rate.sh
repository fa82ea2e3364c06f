#!/usr/bin/env bash
# --max-rate: the samples of a second settle below what was asked, and not far below; the total
# stays unbiased though the period changes all the time; the period goes down again, to what was
# asked, when the program allocates less, and is what it was when all is over.
. "$(dirname "$0")/common.sh"
need_bpf

most=2000 lowest=65536
program_env=(env "LD_PRELOAD=$O/liballocprof.so")

tell() { # ORDER
  echo -n "$1" >"$tmp/torrent.in"
}

# The last three seconds are all between half of what was asked and half more, and the period is
# more than what was asked. By the program's own sums: chance counts for nothing.
settled() {
  tail -n 3 "$tmp/torrent.out" | awk -v most=$most -v lowest=$lowest '
    $1 == "rate" && $2 > most / 2 && $2 < most * 1.5 && $3 > lowest { n++ } END { exit n != 3 }'
}
is_low() { [ "$(tail -n 1 "$tmp/torrent.out" | cut -d' ' -f3)" = $lowest ]; }

start torrent
attach rate --max-rate $most --period $lowest --show allocated -o "$tmp/allocated.folded" \
  -o "$tmp/all.pb.gz" -o "$tmp/out.svg" "$pid"
tell f
wait_until settled
tell s
wait_until is_low
tell f
wait_until settled
tell d
wait_until has "$tmp/torrent.out" "^done"
detach || fail "attach ended with $?"

has "$tmp/rate.err" "^note: 1 sample per 64.0 KiB to .*, by --max-rate" || fail "no range"
"$allocprof" report -q --show live --by objects -o "$tmp/again.svg" -o "$tmp/live.folded" "$tmp/all.pb.gz"
for picture in out again; do
  has "$tmp/$picture.svg" "one sample per 64.0 KiB to " || fail "no range in $picture.svg"
done
equal "live when all is freed" "$(folded_sum "$tmp/live.folded")" 0
! has "$tmp/rate.err" "^warning" || fail "warnings: $(cat "$tmp/rate.err")"
awk -v lowest=$lowest '$1 == "rate" && $3 < lowest { exit 1 }' "$tmp/torrent.out" ||
  fail "the period went below what was asked"

# Five standard deviations: a false alarm in 1.7 million.
read -r allocated sd < <(sed -n 's/^done //p' "$tmp/torrent.out")
awk -v got="$(folded_sum "$tmp/allocated.folded")" -v allocated="$allocated" -v sd="$sd" 'BEGIN {
  off = (got - allocated) / sd
  printf "estimated %.0f of %.0f, %+.2f standard deviations of %.2f%%\n", got, allocated, off,
    100 * sd / allocated
  exit !(off > -5 && off < 5) }' || fail "the total is biased"

# The bar is that wide: the variance is a sum over thousands of samples, and 10% of its root are more
# than five standard deviations of that. From counts and one period it would be far too narrow.
check_error_bar "$tmp/all.pb.gz" alloc_space "$sd"

# Whoever looks next sees the default again.
attach last -d 10ms -o "$tmp/last.folded" "$pid"
has "$tmp/last.err" "1 sample per 512.0 KiB" || fail "the period was not set back"
wait "$loader" || equal "status without samples" $? 6
