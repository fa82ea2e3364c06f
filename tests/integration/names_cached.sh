#!/usr/bin/env bash
# What one recording has found of names the next one has from the cache, and says the same, and what
# a snapshot has found its end has. A cache belongs to one user: another one neither reads nor writes
# it.
. "$(dirname "$0")/common.sh"
need_bpf
cd "$tmp"
start prober --threads 8 --attaches 5
number=0
mkdir -m 700 cache nobodys
chown 65534:65534 nobodys

cached() { # NAME all|none
  local all got
  number=$((number + 1))
  attach "$1" -v --show allocated -o "$1.folded" "$pid"
  wait_until has prober.out "^done $number"
  if [ "$1" = snapshot ]; then
    kill -USR1 "$loader"
    wait_until has snapshot.err "^wrote"
  fi
  detach || fail "attach ended with $?"
  wait_until has prober.out "^fallen $number"
  read -r all got < <(sed -n 's/^names: \([0-9]*\) addresses (\([0-9]*\) from the cache).*/\1 \2/p' "$1.err")
  [ "$all" -gt 10 ] || fail "$1: $all addresses"
  if [ "$2" = all ]; then equal "$1" "$got" "$all"; else equal "$1" "$got" 0; fi
  cmp -s first.folded "$1.folded" || fail "$1: not what it was for the first time"
}

loader_env=(env "XDG_CACHE_HOME=$tmp/cache")
cached first none
cached second all
loader_env=(env XDG_CACHE_HOME=/nonexistent)
cached snapshot all
loader_env=(env "XDG_CACHE_HOME=$tmp/nobodys" SUDO_UID=65534 SUDO_GID=65534)
chmod 777 .
cached nobody none
equal "owner" "$(stat -c %u nobodys/allocprof/*.names | sort -u)" 65534
loader_env=(env "XDG_CACHE_HOME=$tmp/nobodys")
cached root none
equal "owner" "$(stat -c %u nobodys/allocprof/* | sort -u)" 65534
