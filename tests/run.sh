#!/usr/bin/env bash
# Runs the tests of the named suites (unit, alloc, integration) and ends with one line of counts.
# A test passes with exit status 0 and skips with 77, saying why; under CI=true a skip fails. One
# that leaves a process, a file or a pinned BPF object behind fails, too. (What is not pinned goes
# with the process that holds it.) ONLY=PATTERN runs those whose name matches it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
limit=${TEST_TIMEOUT:-180}
passed=0 failed=0 skipped=0
logs=$O/test-logs
mkdir -p "$logs" "$O/cache"
XDG_CACHE_HOME=$(realpath "$O/cache") # of the loader's unwind tables
export XDG_CACHE_HOME

# Every process that a test starts inherits this, whoever adopts it.
mark=ALLOCPROF_TEST=$$-$SRANDOM

# The processes of a test, as "PID NAME"; they have a moment to end, as some have been killed.
processes_left() {
  local try pids pid
  for ((try = 0; try < 30; try++)); do
    pids=$(grep -lsazxF "$mark" /proc/[0-9]*/environ | cut -d / -f 3)
    [ -n "$pids" ] || return 0
    sleep 0.1
  done
  for pid in $pids; do
    echo "process $pid $(cat "/proc/$pid/comm" 2>/dev/null)"
    kill -9 "$pid" 2>/dev/null
  done
}

left_behind() { # FOLDER
  processes_left
  find "$1" /sys/fs/bpf -mindepth 1 -maxdepth 1 \( -path "$1/*" -o -name 'allocprof*' \) 2>/dev/null
}

run() { # NAME COMMAND...
  local name=$1 log status start left
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  log=$logs/${name//\//_}.log
  start=$SECONDS
  tmp=$(mktemp -d)
  chmod 755 "$tmp" # some tests become another user
  # In the background, so that a signal to us is taken at once.
  env "$mark" TMPDIR="$tmp" timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null &
  wait $!
  status=$?
  left=$(left_behind "$tmp")
  rm -rf "$tmp"
  if [ -n "$left" ]; then
    printf 'test: left behind:\n%s\n' "$left" >>"$log"
    [ $status != 0 ] && [ $status != 77 ] || status=left
  fi
  if [ $status = 0 ]; then
    passed=$((passed + 1))
    printf '  ok    %-44s %3d s\n' "$name" $((SECONDS - start))
  elif [ $status = 77 ] && [ "${CI:-}" != true ]; then
    skipped=$((skipped + 1))
    printf '  skip  %-44s %s\n' "$name" "$(tail -n 1 "$log")"
  else
    failed=$((failed + 1))
    [ $status = 124 ] && echo "test: still running after $limit s" >>"$log"
    printf '  FAIL  %-44s status %s, %s\n' "$name" $status "$log"
    tail -n 25 "$log" | sed 's/^/        /'
  fi
}

tmp=''
trap 'processes_left >/dev/null; rm -rf "$tmp"; exit 130' INT TERM HUP
for suite in "$@"; do
  case $suite in
    unit | alloc)
      for test in "$O"/tests/"$suite"/test_*; do
        [ -x "$test" ] && [ ! -d "$test" ] && [ -e "tests/$suite/$(basename "$test").c" ] &&
          run "$suite/$(basename "$test")" "$test"
      done
      [ "$suite" = unit ] || for test in tests/alloc/*.sh; do
        [ -f "$test" ] && run "alloc/$(basename "$test" .sh)" bash "$test"
      done
      ;;
    integration)
      for test in tests/integration/*.sh; do
        [ "$(basename "$test")" = common.sh ] && continue
        [ -f "$test" ] && run "integration/$(basename "$test" .sh)" bash "$test"
      done
      ;;
    *)
      echo "run.sh: no suite $suite" >&2
      exit 2
      ;;
  esac
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
