#!/usr/bin/env bash
# ROUNDS recordings end by SIGKILL at a random moment: of the loader, of its target, or of both. Then
# no semaphore of a survivor is raised, no BPF object is left, what stands under an output's name is
# whole, nothing stands beside it, the target's memory is intact, and a loader that has lost its target
# says so or has written its profile. `make accidents ROUNDS=1000` runs many.
. "$(dirname "$0")/common.sh"
need_bpf
need bpftool readelf gzip

rounds=${ROUNDS:-8}
export XDG_CACHE_HOME=$tmp/cache
mkdir -m 700 "$tmp/cache" "$tmp/out"

ids() { # prog|map|link
  # Without arrays that other maps hold: those are gone when their programs are.
  bpftool "$1" show | sed -n '/name unwind_/d; s/^\([0-9]*\): .*/\1/p' | sort
}
# Those that were there before us are somebody else's, as are those that a process holds, itself or
# by a program.
held() { # prog|map|link
  { grep -hs "^$1_id:" /proc/[0-9]*/fdinfo/* || true; } | awk '{ print $2 }'
  [ "$1" != map ] || bpftool prog show | sed -n 's/.*map_ids //p' | tr ',' '\n'
}
orphans() {
  local kind
  for kind in prog map link; do
    comm -23 <(comm -23 <(ids $kind) "$tmp/$kind.before") <(held $kind | sort -u) |
      sed "s/^/$kind /"
  done
}
# What others open and close meanwhile is not there twice.
no_orphans() {
  local left
  left=$(comm -12 <(orphans | sort) <(echo "$1"))
  [ -z "$left" ] || { sleep 0.1 && false; }
}
for kind in prog map link; do ids $kind >"$tmp/$kind.before"; done

target_start() {
  start intact 2
  questions=0
}
is_intact() {
  echo -n '?' >"$tmp/intact.in"
  questions=$((questions + 1))
  wait_until has "$tmp/intact.out" "^intact $questions\$|^damaged"
  ! has "$tmp/intact.out" ^damaged || fail "$(grep ^damaged "$tmp/intact.out")"
}
record() { # TIME
  "$allocprof" attach --period 4096 -d "$1" -o "$tmp/out/a.html" -o "$tmp/out/a.pb.gz" \
    -o "$tmp/out/a.folded" "$pid" 2>"$tmp/loader.err" &
  loader=$!
}
phase() {
  case $(tail -n 1 "$tmp/loader.err") in
    '') echo loading ;;
    attached* | note:*) echo recording ;;
    *exited* | detached* | live*) echo writing ;;
    *) echo ended ;;
  esac
}
outputs_whole() {
  local file
  for file in "$tmp"/out/*; do
    case $file in
      */\*) ;; # none
      *.html) [ "$(tail -c 8 "$file")" = "</html>" ] || fail "$file is cut" ;;
      *.pb.gz)
        gzip -t "$file" || fail "$file is cut"
        "$allocprof" report -q -o "$tmp/read.txt" "$file" || fail "$file cannot be read"
        ;;
      *.folded) [ -z "$(tail -c 1 "$file")" ] || fail "$file is cut" ;; # a newline, or nothing live
      *) fail "left beside the outputs: $file" ;;
    esac
  done
}

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
target_start

# Nobody disturbs this one. The program frees all that it holds many times in the tenth of a second
# that it takes to get the probes out: it still holds more than 1 MiB, 1.5 MB in small blocks.
record 300ms
wait "$loader" || fail "a recording that nobody disturbs ended with $?"
"$allocprof" report -q --show allocated -o "$tmp/allocated.folded" "$tmp/out/a.pb.gz"
if [ "$(folded_sum "$tmp/allocated.folded")" -gt 20000000 ]; then
  [ "$(folded_sum "$tmp/out/a.folded")" -gt 1000000 ] || fail "what was freed after the end is missing"
fi

# Half of the moments are of the whole life of a loader, which is its start most of the time, and half
# of what comes after the attach.
begin=${EPOCHREALTIME/./}
record 40ms
wait_until has "$tmp/loader.err" '^attached'
attached=${EPOCHREALTIME/./}
wait "$loader" || fail "a short recording ended with $?"
span=$((${EPOCHREALTIME/./} - begin))
span_attached=$((${EPOCHREALTIME/./} - attached))
declare -A counts

for ((round = 1; round <= rounds; round++)); do
  victims=(loader target both)
  victim=${victims[round % 3]}
  rm -f "$tmp"/out/*
  # Half the time the unwind tables are built anew.
  ((RANDOM % 2)) || rm -rf "$tmp/cache/allocprof"
  gone "$pid" && target_start
  record 40ms
  if ((RANDOM % 2)); then
    wait_until has "$tmp/loader.err" '^attached|^allocprof:'
    moment=$((SRANDOM % span_attached))
  else
    moment=$((SRANDOM % span))
  fi
  sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
  at=$(phase)
  # Half of the loaders are told to end before: the kernel takes the probes out then.
  if [ "$victim" = loader ] && [ "$at" = recording ] && ((RANDOM % 2)); then
    kill -INT "$loader"
    sleep "0.0$(printf %02d $((RANDOM % 30)))"
    at=detaching
  fi
  [ "$victim" = loader ] || kill -9 "$pid"
  [ "$victim" = target ] || kill -9 "$loader" 2>/dev/null || true
  status=0
  wait "$loader" || status=$?
  counts[$victim, $at]=$((${counts[$victim, $at]:-0} + 1))
  case $victim,$status in
    loader,137 | both,137) ;;
    loader,130) [ "$at" = detaching ] || fail "round $round: ended as if interrupted" ;;
    *,0) [ "$(find "$tmp/out" -type f | wc -l)" = 3 ] || fail "round $round: outputs are missing" ;;
    # Gone before the attach, or before its first sample.
    target,4 | target,6) has "$tmp/loader.err" '^allocprof: ' || fail "round $round: not a word" ;;
    *) fail "round $round: $victim killed while $at: the loader ended with $status" ;;
  esac
  outputs_whole
  [ -z "$(find "$tmp/cache" -type f ! -name '*.unwind' ! -name '*.names')" ] ||
    fail "round $round: a cached file half made"
  if [ "$victim" = loader ]; then
    deadline=$((SECONDS + 30))
    until library_semaphores_are "$pid" "0 0"; do
      [ $SECONDS -lt $deadline ] ||
        fail "round $round: loader killed while $at: semaphores are $(library_semaphores "$pid")"
      sleep 0.05
    done
    is_intact
  else
    wait "$pid" 2>/dev/null || true
  fi
  wait_until no_orphans "$(orphans | sort)"
done
for key in "${!counts[@]}"; do echo "$key: ${counts[$key]}"; done | sort
