#!/usr/bin/env bash
# The manual pages: no warning of groff; every option of a --help stands in the page and the other way
# round, and so do the exit statuses of error.h. Each command's getopt table agrees with its help.
. "$(dirname "$0")/common.sh"
need man

export LC_ALL=C.UTF-8 MANWIDTH=100 MAN_KEEP_FORMATTING=
for page in loader/allocprof.1 loader/allocprof.7 alloc/liballocprof.7; do
  man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>"$tmp/man.err" || fail "man $page"
  [ ! -s "$tmp/man.err" ] || fail "warnings in $page"
done
man -l loader/allocprof.1 | col -b >"$tmp/page.txt"

section() { # NAME: its lines
  awk -v name="$1" '/^[A-Z]/ { inside = $0 == name } inside' "$tmp/page.txt"
}
# "-o --output" of a line "  -o, --output FILE ...".
options() {
  sed -nE 's/^ +((-[a-zA-Z]), )?(--[a-z-]+)?( .*|\[.*)?$/\2 \3/p' | grep -- - | sed 's/^ //; s/ $//' | sort -u
}

"$allocprof" help >"$tmp/help.txt"
[ "$(wc -l <"$tmp/help.txt")" -le 24 ] || fail "the help does not fit a terminal of 24 lines"
mapfile -t commands < <(sed -nE 's/^  ([a-z-]+) +[^ ].*/\1/p' "$tmp/help.txt" | grep -v allocprof)
[ ${#commands[@]} -ge 6 ] || fail "commands: ${commands[*]}"
for command in "${commands[@]}"; do
  "$allocprof" "$command" --help >"$tmp/$command.txt" || fail "$command --help"
  "$allocprof" "$command" -h | cmp - "$tmp/$command.txt" || fail "$command -h"
  "$allocprof" help "$command" | cmp - "$tmp/$command.txt" || fail "help $command"
  has "$tmp/$command.txt" "^usage: allocprof $command" || fail "usage of $command"
  grep -qE "^ {7}$command\b" <<<"$(section COMMANDS)" || fail "$command is not under COMMANDS"
  grep -qE "^ {7}allocprof $command\b" "$tmp/page.txt" || fail "$command is not in the SYNOPSIS"
  [ "$(wc -L <"$tmp/$command.txt")" -le 80 ] || fail "the help of $command is wider than 80"
done
"$allocprof" re -h | cmp - "$tmp/report.txt" || fail "a prefix"
status=0
"$allocprof" d 2>"$tmp/prefix.err" || status=$?
equal "status of a prefix of several" $status 2
has "$tmp/prefix.err" '^detail: it begins several: diff, doctor$' || fail "a prefix of several is not explained"
for command in "${commands[@]}"; do cat "$tmp/$command.txt"; done | options >"$tmp/help.options"
section OPTIONS | grep -E '^ {7}-' | options >"$tmp/page.options"
[ -s "$tmp/help.options" ] || fail "no options found"
diff "$tmp/help.options" "$tmp/page.options" || fail "options of --help (<) and of the page (>) differ"

sed -nE 's/^\tAP_EXIT_[A-Z_]+ = ([0-9]+),.*/\1/p' loader/error.h | sort -n >"$tmp/header.statuses"
section "EXIT STATUS" | sed -nE 's/^ {7}([0-9]+)(\+N)?( .*|$)/\1/p' | sort -n >"$tmp/page.statuses"
[ -s "$tmp/header.statuses" ] || fail "no statuses found"
diff "$tmp/header.statuses" "$tmp/page.statuses" || fail "statuses of error.h (<) and of the page (>) differ"

# The default that both tell.
rate=$(sed -nE 's/^ +\(([0-9]+) without --period;.*/\1/p' "$tmp/attach.txt")
section OPTIONS | tr -s '[:space:]' ' ' >"$tmp/options.line"
has "$tmp/options.line" "Without --period the limit is ${rate:-untold}," || fail "the default of --max-rate: $rate"
