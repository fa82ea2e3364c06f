#!/usr/bin/env bash
# `make install` with DESTDIR: what it puts there works from there, and `make uninstall` removes it.
. "$(dirname "$0")/common.sh"
need make

into() { # TARGET
  make --no-print-directory O="$O" DESTDIR="$tmp/root" PREFIX=/opt/allocprof "$1" >"$tmp/make.out" 2>&1 ||
    fail "make $1: $(cat "$tmp/make.out")"
}

into install
equal "files" "$(cd "$tmp/root/opt/allocprof" && find . -type f -printf '%m %P\n' | sort -k 2)" \
  "755 bin/allocprof
644 include/allocprof/probe.h
644 lib/liballocprof.a
755 lib/liballocprof.so.0
644 lib/systemd/system/allocprof@.service
644 share/bash-completion/completions/allocprof
644 share/fish/vendor_completions.d/allocprof.fish
644 share/man/man1/allocprof.1
644 share/man/man7/allocprof.7
644 share/man/man7/liballocprof.7
644 share/zsh/site-functions/_allocprof"
installed=$tmp/root/opt/allocprof/bin/allocprof
for file in bash-completion/completions/allocprof fish/vendor_completions.d/allocprof.fish zsh/site-functions/_allocprof; do
  has "$tmp/root/opt/allocprof/share/$file" 'fail-above' || fail "$file is not whole"
done
equal "version" "$("$installed" version)" "$("$allocprof" version)"
# On a terminal help opens the page.
MANPAGER="col -b" script -qec "$installed help diff" "$tmp/page.out" </dev/null >/dev/null
has "$tmp/page.out" '^EXIT STATUS' || fail "help does not open the page"
printf '#include <allocprof/probe.h>\nchar *symbol = AP_PERIOD_SYMBOL;\n' |
  ${CC:-cc} -I"$tmp/root/opt/allocprof/include" -x c -fsyntax-only - || fail "the header is not whole"

# `run` finds ../lib/liballocprof.so.0; to record is for root alone.
if [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ]; then
  "$installed" run -q -o "$tmp/run.folded" -- sh -c 'echo "$LD_PRELOAD"' >"$tmp/run.out" 2>"$tmp/run.err" || true
  equal "LD_PRELOAD" "$(cat "$tmp/run.out")" "$(realpath "$tmp/root/opt/allocprof/lib/liballocprof.so")"
  "$installed" run -q -o "$tmp/run.folded" -- true 2>"$tmp/run.err" || fail "status of true: $?"
fi

into uninstall
equal "files left" "$(find "$tmp/root" ! -type d)" ""
