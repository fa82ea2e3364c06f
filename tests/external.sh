#!/usr/bin/env bash
# Runs every program in a folder plain and under the preload, each with a time limit, and compares.
#
#	tests/external.sh DIR [TIMEOUT]
#
# A program is a file that can be executed, not a folder or a library (*.so*). It is started in
# DIR, with no input. A file NAME.args beside it holds its arguments. One line a program:
#
#	same     the same exit status and standard output both times
#	differ   the same exit status, and another output (which may tell times or addresses)
#	FAIL     plain it ends with 0, under the preload it does not, or not in time
#	better   the other way round
#	broken   fails both times, so it tells nothing; the two statuses follow
#
# Ends with the counts, and with status 1 if there was a FAIL.
set -uo pipefail
dir=${1:?usage: external.sh DIR [TIMEOUT]}
limit=${2:-60}
O=${O:-$(dirname "$0")/../build}
library=$(realpath "${LIBRARY:-$O/liballocprof.so}") || exit 2
[ -d "$dir" ] || { echo "external.sh: no folder $dir" >&2; exit 2; }
[ -e "$library" ] || { echo "external.sh: no $library: make first" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
declare -A counts=([same]=0 [differ]=0 [FAIL]=0 [better]=0 [broken]=0)
cd "$dir" || exit 2

run() { # OUTPUT COMMAND...
  local output=$1
  shift
  timeout -k 5 "$limit" "$@" >"$tmp/$output" 2>"$tmp/$output.err" </dev/null
}

for program in ./*; do
  case $program in *.so | *.so.* | *.args) continue ;; esac
  if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
  arguments=()
  [ -f "$program.args" ] && read -ra arguments <"$program.args"
  run plain "$program" ${arguments[@]+"${arguments[@]}"}
  plain=$?
  run ours env LD_PRELOAD="$library" "$program" ${arguments[@]+"${arguments[@]}"}
  ours=$?
  if [ $plain = 0 ] && [ $ours != 0 ]; then
    result=FAIL
  elif [ $plain != 0 ] && [ $ours = 0 ]; then
    result=better
  elif [ $plain != 0 ]; then
    result=broken
  elif cmp -s "$tmp/plain" "$tmp/ours"; then
    result=same
  else
    result=differ
  fi
  counts[$result]=$((counts[$result] + 1))
  printf '%-7s %s' $result "${program#./}"
  [ $plain = 0 ] && [ $ours = 0 ] || printf ' (status %s, %s)' $plain $ours
  echo
  [ $result = FAIL ] && tail -n 3 "$tmp/ours.err" | sed 's/^/        /'
done

for result in same differ FAIL better broken; do
  printf '%s %s  ' "${counts[$result]}" $result
done
echo
[ "${counts[FAIL]}" = 0 ]
