#!/usr/bin/env bash
# Runs the tests of the named suites (unit, alloc, integration) and ends with one line of counts.
# Tests of whole programs run beside the others, each kind one after the other.
# A test passes with exit status 0 and skips with 77, saying why; under CI=true a skip fails. One
# that leaves a process, a file or a pinned BPF object behind fails, too. (What is not pinned goes
# with the process that holds it.) ONLY=PATTERN runs those whose name matches it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
limit=${TEST_TIMEOUT:-400} # a hang: the browser has needed more than 180 s
logs=$O/test-logs
mkdir -p "$logs" "$O/cache"
XDG_CACHE_HOME=$(realpath "$O/cache") # of the loader's unwind tables
export XDG_CACHE_HOME
scratch=$(mktemp -d)
chmod 755 "$scratch" # some tests become another user
# Every process that a test starts inherits this and the name of its suite, whoever adopts it.
mark=ALLOCPROF_TEST=$$-$SRANDOM-

marked() { # SUITE: the pids; "" for all
  grep -lsaz "^$mark$1" /proc/[0-9]*/environ | cut -d / -f 3
}

# The processes of a suite, as "PID NAME"; they have a moment to end, as some have been killed.
processes_left() { # SUITE
  local try pids pid
  for ((try = 0; try < 30; try++)); do
    pids=$(marked "$1")
    [ -n "$pids" ] || return 0
    sleep 0.1
  done
  for pid in $pids; do
    echo "process $pid $(cat "/proc/$pid/comm" 2>/dev/null)"
    kill -9 "$pid" 2>/dev/null
  done
}

left_behind() { # SUITE FOLDER
  processes_left "$1"
  find "$2" /sys/fs/bpf -mindepth 1 -maxdepth 1 \( -path "$2/*" -o -name 'allocprof*' \) 2>/dev/null
}

run() { # SUITE NAME COMMAND...
  local suite=$1 name=$1/$2 log status start tmp left
  shift 2
  [[ $name =~ ${ONLY:-.} ]] || return 0
  log=$logs/${name//\//_}.log
  start=$SECONDS
  tmp=$scratch/$suite
  mkdir "$tmp"
  env "$mark$suite" TMPDIR="$tmp" timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null
  status=$?
  left=$(left_behind "$suite" "$tmp")
  rm -rf "$tmp"
  if [ -n "$left" ]; then
    printf 'test: left behind:\n%s\n' "$left" >>"$log"
    [ $status != 0 ] && [ $status != 77 ] || status=left
  fi
  if [ $status = 0 ]; then
    echo passed >>"$scratch/results"
    printf '  ok    %-44s %3d s\n' "$name" $((SECONDS - start))
  elif [ $status = 77 ] && [ "${CI:-}" != true ]; then
    echo skipped >>"$scratch/results"
    printf '  skip  %-44s %s\n' "$name" "$(tail -n 1 "$log")"
  else
    echo failed >>"$scratch/results"
    [ $status = 124 ] && echo "test: still running after $limit s" >>"$log"
    # In one piece: the other suites print, too.
    printf '  FAIL  %-44s status %s, %s\n%s\n' "$name" $status "$log" "$(tail -n 25 "$log" | sed 's/^/        /')"
  fi
}

suite_run() { # SUITE
  local test name
  case $1 in
    unit | alloc)
      for test in "$O/tests/$1"/test_*; do
        name=$(basename "$test")
        if [ -x "$test" ] && [ -f "tests/$1/$name.c" ]; then run "$1" "$name" "$test"; fi
      done
      ;;&
    alloc | integration)
      for test in "tests/$1"/*.sh; do
        name=$(basename "$test" .sh)
        if [ -f "$test" ] && [ "$name" != common ]; then run "$1" "$name" bash "$test"; fi
      done
      ;;
  esac
}

count() { # RESULT
  grep -c "^$1" "$scratch/results" 2>/dev/null
}

for suite in "$@"; do
  case $suite in
    unit | alloc | integration) ;;
    *)
      echo "run.sh: no suite $suite" >&2
      exit 2
      ;;
  esac
done
jobs=()
end() {
  [ ${#jobs[@]} = 0 ] || kill "${jobs[@]}" 2>/dev/null
  marked '' | xargs -r kill -9 2>/dev/null
  rm -rf "$scratch"
}
trap end EXIT
trap 'exit 130' INT TERM HUP
: >"$scratch/results"
for suite in "$@"; do
  [ "$suite" != integration ] || continue
  suite_run "$suite"
done &
jobs+=($!)
if [[ " $* " = *" integration "* ]]; then
  suite_run integration &
  jobs+=($!)
fi
wait
echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped"
[ "$(count failed)" = 0 ] && [ -s "$scratch/results" ]
