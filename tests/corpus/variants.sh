# shellcheck shell=bash
# Sourced by corpus_gcc.sh and corpus_clang.sh. Stacks of all sorts, from programs built in all
# sorts of ways: what is recorded is, frame by frame, what gdb finds at the same probe of the same
# process.
. "$(dirname "${BASH_SOURCE[0]}")/../integration/common.sh"
need_bpf
need gdb python3
corpus=tests/corpus
tested=0 compared=0
mkdir "$tmp/1" "$tmp/2"

build() { # CC CXX PLUGIN? FLAGS...
  local cc=$1 cxx=$2 plugin=$3
  shift 3
  "$cc" -g -std=gnu11 -D_GNU_SOURCE -Iinclude ${plugin:+"$plugin"} "$@" -c -o "$tmp/c.o" $corpus/corpus.c
  "$cxx" -g -std=c++17 "$@" -c -o "$tmp/cc.o" $corpus/corpus.cc
  "$cxx" -g "$@" -o "$tmp/corpus" "$tmp/c.o" "$tmp/cc.o" -lpthread -ldl
  "$cc" -g -O1 -fPIC -shared -Wl,-z,lazy -o "$tmp/1/plugin.so" $corpus/plugin.c
  cp "$tmp/1/plugin.so" "$tmp/2/plugin.so"
}

variant() { # CC CXX PLUGIN? FLAGS...
  build "$@" 2>"$tmp/build.err" || { cat "$tmp/build.err"; fail "not built: $*"; }
  rm -f "$tmp/in" "$tmp/corpus.out" # or the last one's "ready" would be seen
  mkfifo "$tmp/in"
  "$tmp/corpus" "$tmp/1/plugin.so" "$tmp/2/plugin.so" <>"$tmp/in" >"$tmp/corpus.out" 2>&1 &
  pid=$!
  started+=("$pid")
  wait_until has "$tmp/corpus.out" '^ready'
  attach attach --show allocated --show-allocator -o "$tmp/out.pb.gz" "$pid"
  echo >"$tmp/in"
  wait_until has "$tmp/corpus.out" '^done'
  detach || fail "attach ended with $?"
  has "$tmp/attach.err" ' 100% of samples have a whole stack' || fail "not all whole: $*"
  python3 $corpus/profile_stacks.py "$tmp/out.pb.gz" | sort >"$tmp/ours"
  STACKS=$tmp/gdb INPUT=$tmp/in gdb -nx -batch -p "$pid" -x $corpus/gdb_stacks.py \
    >"$tmp/gdb.out" 2>&1 || fail "gdb ended with $?"
  sort -o "$tmp/gdb" "$tmp/gdb"
  diff "$tmp/ours" "$tmp/gdb" >"$tmp/diff.txt" || { head -c 3000 "$tmp/diff.txt"; fail "other stacks than gdb's: $*"; }
  kill "$pid" 2>/dev/null || true
  tested=$((tested + 1)) compared=$((compared + $(wc -l <"$tmp/ours")))
}


# What every compiler has.
variants() { # CC CXX
  need "$1" "$2"
  for optimize in -O0 -O1 -O2 -O3; do
    variant "$@" -DPLUGIN $optimize
    variant "$@" -DPLUGIN $optimize -fomit-frame-pointer -fcf-protection
  done
  variant "$@" -DPLUGIN -O2 -fno-omit-frame-pointer
  variant "$@" -DPLUGIN -O2 -no-pie -fno-pie -Wl,-z,lazy
  variant "$@" -DPLUGIN -O2 -Wl,-z,now
  variant "$@" -DPLUGIN -O2 -fstack-protector-all -fstack-clash-protection
  variant "$@" "" -O2 -static
  variant "$@" "" -O2 -static-pie -fPIE
  variant "$@" -DPLUGIN -Os -mno-red-zone
}
