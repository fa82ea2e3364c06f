#!/usr/bin/env bash
# Every value of a recording, to the byte, in four recordings of one process after another. With
# frees of blocks that none of them has seen allocated, and blocks allocated again without a free.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --threads 8 --rounds 300 --keep 7 --strays 5 --repeats 3 --attaches 4
number=0
for show in live allocated; do
  for by in bytes objects; do
    number=$((number + 1))
    attach $by --show $show --by $by --show-allocator -o "$tmp/$show-$by.folded" "$pid"
    wait_until has "$tmp/prober.out" "^done $number"
    detach || fail "attach ended with $?"
    wait_until has "$tmp/prober.out" "^fallen $number"
    diff <(from_path "$tmp/$show-$by.folded") <(expected $show $by) || fail "$show $by differ"
    has "$tmp/$by.err" "in 2424 samples, 16 stacks" || fail "the counts of samples and stacks"
    has "$tmp/$by.err" "^warning: 24 blocks were allocated again" || fail "no word of missed frees"
    ! has "$tmp/$by.err" "do not add up|damaged" || fail "sums"
  done
done
