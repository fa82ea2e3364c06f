#!/usr/bin/env bash
# What the shells complete: all options of every help, the words of their values, files, processes.
# In bash by its own machinery; fish answers, too, and so does zsh to somebody who types.
. "$(dirname "$0")/common.sh"

"$allocprof" completion bash >"$tmp/allocprof.bash"
# shellcheck disable=SC1091
. "$tmp/allocprof.bash"

# What is offered for the last of these words, on one line.
completed() { # WORD...
  COMP_WORDS=(allocprof "$@") COMP_CWORD=$#
  COMPREPLY=()
  _allocprof || true # compopt works in an interactive shell alone
  echo "${COMPREPLY[*]}"
}

equal "commands" "$(completed re)" "report"
equal "of help" "$(completed help di)" "diff"
equal "shells" "$(completed completion '')" "bash zsh fish"
equal "--show" "$(completed attach --show '')" "live allocated"
equal "--show=" "$(completed attach --show =)" "live allocated"
equal "--show=a" "$(completed attach --show = a)" "allocated"
equal "-f" "$(completed report -f sp)" "speedscope"
equal "--by" "$(completed diff --by o)" "objects"
equal "a number" "$(completed diff --top '')" ""
equal "process" "$(completed attach $$)" "$$"
cd "$tmp"
touch one.pb.gz other.txt
equal "files" "$(completed report on)" "one.pb.gz"
equal "both files" "$(completed diff one.pb.gz ot)" "other.txt"
equal "an output" "$(completed report -o oth)" "other.txt"

for command in $("$allocprof" version --json | sed 's/.*"commands":\[\([^]]*\)\].*/\1/' | tr -d '"' | tr , ' '); do
  "$allocprof" help "$command" | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p' | sort >"$tmp/help.out"
  completed "$command" -- | tr ' ' '\n' | sed 's/=$//; /^$/d' | sort | diff "$tmp/help.out" - ||
    fail "the options of $command"
  # Those of getopt: each is known, so that the help does not promise what is not there.
  while read -r option; do
    status=0
    "$allocprof" "$command" "$option" --help >/dev/null 2>"$tmp/option.err" || status=$?
    ! has "$tmp/option.err" 'unknown option' || fail "$command does not know $option"
  done <"$tmp/help.out"
done

"$allocprof" completion zsh >"$tmp/_allocprof"
"$allocprof" completion fish >"$tmp/allocprof.fish"
need zsh fish
zsh -n "$tmp/_allocprof" || fail "zsh's syntax"
export HOME=$tmp
# A terminal's zsh, each answer waited for: what it reads must match.
cat >"$tmp/typed.zsh" <<'END'
zmodload zsh/zpty
zpty typed zsh -f -i
types() { zpty -w -n typed "$1"; zpty -r typed answer "*$2*" }
zpty -w typed "PS1='rea''dy '; autoload -U compinit; compinit -u -D; source $1"
zpty -r typed answer "*ready *"
types $'allocprof rep\t' 'ort'
types $' --show a\t' 'llocated'
types $'--lif\t' 'etimes'
END
timeout 20 zsh -f "$tmp/typed.zsh" "$tmp/_allocprof" >/dev/null || fail "zsh completes nothing"
equal "fish" "$(fish -c "source $tmp/allocprof.fish; complete -C 'allocprof report --show a'" | cut -f 1)" "allocated"
equal "fish, options" "$(fish -c "source $tmp/allocprof.fish; complete -C 'allocprof diff --fail'" | cut -f 1)" "--fail-above"
