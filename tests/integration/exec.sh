#!/usr/bin/env bash
# A target that executes another program. What it held is gone: the recording goes on with the new
# program, where that can be looked into and has probes, or else ends as if the old one had exited.
. "$(dirname "$0")/common.sh"
need_bpf
need setpriv pgrep

executer=$programs/executer
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 777 "$tmp"

# Every block of 1000 bytes is sampled, of which every fourth is freed.
of_hold() { # live|allocated
  "$allocprof" report -q --show "$1" -o "$tmp/$1.folded" "$tmp/out.pb.gz"
  awk '/;hold / { sum += $NF } END { printf "%d", sum }' "$tmp/$1.folded"
}
say() {
  echo >"$tmp/executer.in"
}
hold() { # NUMBER
  say
  wait_until has "$tmp/executer.out" "^held $1"
}

# Goes on: by somebody who may still look into it after the rights are gone.
loader_env=(env SUDO_UID=65534 SUDO_GID=65534)
program_env=("${nobody[@]}" env "LD_PRELOAD=$O/liballocprof.so")
goes_on() { # NOTE OPTIONS...
  local note=$1
  shift
  start executer 1000 "$executer" 40
  attach on --period 1 "$@" -o "$tmp/out.pb.gz" "$pid"
  hold 1000
  say
  wait_until has "$tmp/on.err" "^note: $note"
  hold 40
  detach || fail "attach ended with $?"
  equal "live" "$(of_hold live)" 30000
  equal "allocated" "$(of_hold allocated)" 1040000
  ! has "$tmp/on.err" "^warning" || fail "warnings"
  kill "$pid"
}
goes_on "executer executed $executer; the [0-9.]+ KiB that it held are gone"
goes_on "process [0-9]+ executed $executer; what it held is gone" --follow-fork

# A command of `run` that executes another, which most wrappers do.
sampled() { # NUMBER-OF-THE-PROGRAM
  has "$tmp/executer.out" "^ready $1" && "$allocprof" list 2>/dev/null >"$tmp/list.out" &&
    has "$tmp/list.out" "^ *[0-9]+ root +executer +liballocprof.so +1 +yes"
}
"$allocprof" run --period 1 -o "$tmp/out.pb.gz" -- "$executer" 1000 "$executer" 40 \
  <>"$tmp/executer.in" >"$tmp/executer.out" 2>"$tmp/run.err" &
loader=$!
started+=("$loader")
wait_until sampled 1000
started+=("$(pgrep -P "$loader" executer)")
hold 1000
say
wait_until sampled 40
hold 40
say
wait "$loader" || fail "run ended with $?"
has "$tmp/run.err" "^note: executer executed .*; the 73[0-9.]+ KiB that it held are gone" || fail "run says nothing"
equal "live in run" "$(of_hold live)" 30000
equal "allocated in run" "$(of_hold allocated)" 1040000

# Over: the new program has no probes, or belongs to somebody else, as root's do for one without rights.
over() { # LACK COMMAND...
  local lack=$1
  shift
  start executer 1000 "$@"
  attach over --period 1 -o "$tmp/out.pb.gz" "$pid"
  hold 1000
  say
  wait "$loader" || fail "attach ended with $?"
  has "$tmp/over.err" "^executer executed [^ ]*, which $lack; live [0-9.]+ KiB$" ||
    fail "got '$(grep ^executer "$tmp/over.err")'"
  equal "live until then" "$(of_hold live)" 750000
  grep -qa "ended: executed .*, which $lack" <(gunzip -c "$tmp/out.pb.gz") || fail "the profile does not say it"
  kill "$pid"
}
program_env+=(EXECUTER_BARE=1)
over "has no probes" sleep 60
loader_env=(env)
program_env=(env "LD_PRELOAD=$O/liballocprof.so")
over "cannot be looked into: the right was given up" "$executer" 40
