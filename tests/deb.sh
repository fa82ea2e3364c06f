#!/usr/bin/env bash
# Installs the packages of `make deb` in a root of their own, uses what they bring, and removes them.
# The libraries that they depend on are this machine's.
. "$(dirname "$0")/integration/common.sh"
[ "$(id -u)" = 0 ] || {
  echo "deb: not root, so the packages are not tried"
  exit 0
}
root=$tmp/root
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

in_root() { # DPKG-OPTIONS...
  dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null "$@" >"$tmp/dpkg.out" 2>&1 ||
    fail "dpkg $1: $(cat "$tmp/dpkg.out")"
}
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
touch "$root/var/lib/dpkg/status"

in_root -i "$O"/deb/allocprof_*.deb "$O"/deb/liballocprof0_*.deb
equal version "$("$root/usr/bin/allocprof" version)" "$("$allocprof" version)"
equal "a program that preloads it" "$(LD_PRELOAD=$lib/liballocprof.so.0 sh -c 'echo it runs')" "it runs"
LD_PRELOAD=$lib/liballocprof.so.0 cat /proc/self/maps >"$tmp/maps.out"
has "$tmp/maps.out" 'liballocprof\.so\.0' || fail "it is not preloaded"
readelf -n "$lib/liballocprof.so.0" >"$tmp/notes.out"
has "$tmp/notes.out" 'otel_memory' || fail "the probes have been stripped"
zcat "$root/usr/share/man/man1/allocprof.1.gz" >"$tmp/page.out"
has "$tmp/page.out" '^\.SH NAME' || fail "no manual page"
sed "s|^ExecStart=|&$root/usr/bin/|" "$root/lib/systemd/system/allocprof@.service" >"$tmp/allocprof@any.service"
has "$root/usr/share/zsh/vendor-completions/_allocprof" attach || fail "no completion"
systemd-analyze verify --man=no "$tmp/allocprof@any.service" >"$tmp/unit.out" 2>&1 || fail "the unit"
equal "what systemd says of the unit" "$(cat "$tmp/unit.out")" ""
if [ -r /sys/kernel/btf/vmlinux ]; then
  "$root/usr/bin/allocprof" run -q -o "$tmp/run.folded" -- sh -c 'echo "$LD_PRELOAD"' >"$tmp/run.out" 2>"$tmp/run.err" || true
  equal "what run preloads" "$(cat "$tmp/run.out")" "$(realpath "$lib/liballocprof.so.0")"
fi

# A program that is linked with it finds it by its soname.
in_root -i "$O"/deb/liballocprof-dev_*.deb
printf '#include <allocprof/probe.h>\n#include <stdlib.h>\nint main(void) { return !malloc(1); }\n' |
  gcc -I"$root/usr/include" -x c - -o "$tmp/linked" -Wl,--no-as-needed -L"$lib" -lallocprof
LD_LIBRARY_PATH=$lib "$tmp/linked" || fail "a linked program"

mkdir -p "$root/var/cache/allocprof"
touch "$root/var/cache/allocprof/0.unwind"
in_root --purge allocprof liballocprof0 liballocprof-dev
equal "what is left" "$(find "$root" -path "$root/var" -prune -o ! -type d -print)" ""
[ ! -e "$root/var/cache/allocprof" ] || fail "the cache is left"
echo "deb: installed, used and removed"
