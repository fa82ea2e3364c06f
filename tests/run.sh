#!/usr/bin/env bash
# Runs the tests of the named suites (unit, alloc, integration) and ends with one line of counts.
# A test passes with exit status 0 and skips with 77, saying why; under CI=true a skip fails.
# ONLY=PATTERN runs those whose name matches it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
limit=${TEST_TIMEOUT:-180}
passed=0 failed=0 skipped=0
logs=$O/test-logs
mkdir -p "$logs"

run() { # NAME COMMAND...
  local name=$1 log status start
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  log=$logs/${name//\//_}.log
  start=$SECONDS
  timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null
  status=$?
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
