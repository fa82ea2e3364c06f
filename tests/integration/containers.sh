#!/usr/bin/env bash
# A process in mount and pid namespaces and a root of its own, whose files exist nowhere else: it is
# attached from outside by the number that the host has for it, and from inside by its own; with
# names from its own files, also when these have been replaced or deleted since it started, and from
# a debug file that is in there.
. "$(dirname "$0")/common.sh"
need_bpf
need unshare nsenter pivot_root objcopy go

program=$programs/runtime
root=$tmp/root
mkdir "$root"
# Everything of it is gone with the last process that is in it.
export root program O
# shellcheck disable=SC2016
unshare --mount --pid --fork --kill-child --propagation private bash -ec '
  mount -t tmpfs tmpfs "$root"
  cd "$root"
  mkdir app outside proc tmp usr sys out
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --bind /usr usr
  for link in lib lib64 bin sbin; do ln -s usr/$link $link; done
  mkdir app/.debug
  objcopy --only-keep-debug "$program" app/.debug/server.debug
  objcopy --strip-all --add-gnu-debuglink=app/.debug/server.debug "$program" app/server
  cp "$O/liballocprof.so" app/
  cp "$O/allocprof" app/
  pivot_root . outside
  cd /
  umount -l outside
  LD_PRELOAD=/app/liballocprof.so exec /app/server /tmp
' >"$tmp/server.out" 2>"$tmp/server.err" &
outer=$!
started+=("$outer")
wait_until has "$tmp/server.out" '^ready'
pid=$(pgrep -P "$outer")
equal "its own number" "$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status")" 1
[ ! -e "$root/app" ] || fail "its files are to be seen outside"

named() { # WHAT FILE
  grep -q ";main;made_by_map;allocate " "$2" || fail "$1: no name from perf-1.map"
  grep -q ";main;made_by_dump;allocate " "$2" || fail "$1: no name from jit-1.dump"
  ! grep -q truncated "$2" || fail "$1: stacks are cut"
}

"$allocprof" attach -q -d 300ms --show allocated -o "$tmp/outside.folded" -o "$tmp/outside.pb.gz" "$pid"
named outside "$tmp/outside.folded"
go tool pprof -lines -top "$tmp/outside.pb.gz" 2>/dev/null >"$tmp/lines.out"
has "$tmp/lines.out" 'made_by_dump made.src:42$' || fail "no line from jit-1.dump"

inside() { nsenter --target "$pid" --mount --pid --root --wd "$@"; }
inside /app/allocprof attach -q -d 300ms --show allocated -o /out/inside.folded 1 2>"$tmp/inside.err"
inside cat /out/inside.folded >"$tmp/inside.folded"
named inside "$tmp/inside.folded"

# An upgrade, and then one whose files are gone altogether.
inside sh -c 'cd /app; for file in server liballocprof.so; do echo other >new; mv new $file; done'
"$allocprof" attach -q -d 300ms --show allocated -o "$tmp/replaced.folded" "$pid"
named replaced "$tmp/replaced.folded"
inside rm /app/server /app/liballocprof.so
"$allocprof" attach -q -d 300ms --show allocated -o "$tmp/deleted.folded" "$pid"
named deleted "$tmp/deleted.folded"
