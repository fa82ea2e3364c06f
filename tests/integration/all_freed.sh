#!/usr/bin/env bash
# When all that was sampled has been freed, the closing table and the page begin with what was
# allocated; outputs of one value hold what was asked for, which is nothing.
. "$(dirname "$0")/common.sh"
need_bpf

start prober --keep 0
attach freed -o "$tmp/out.html" -o "$tmp/out.folded" "$pid"
wait_until has "$tmp/prober.out" "^done"
detach || fail "attach ended with $?"
has "$tmp/freed.err" "^note: live 0 B, .* --show allocated" || fail "not a word of it"
has "$tmp/freed.err" "^allocated .* in 100 samples" || fail "no table of what was allocated"
has "$tmp/freed.err" " 100.0%  fire" || fail "no site"
has "$tmp/out.html" '"show":1,' || fail "the page begins with nothing"
equal "live" "$(folded_sum "$tmp/out.folded")" 0
