#!/usr/bin/env bash
# Makes the README's pictures, tests/data/*.png, from recordings of real programs: the page of each
# recording as the browser shows it. What is recorded is left in $O/pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
out=$(realpath "$O")/pictures
. tests/redis.sh

record() { # NAME PID OPTIONS...
  "$O/allocprof" attach -q --redact -o "$out/$1.html" -o "$out/$1.pb.gz" "${@:3}" "$2"
}

# 64 colours are enough for it, and make it a third of the size.
picture() { # NAME HEIGHT [STATE-OF-THE-PAGE]
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$out/chromium" \
    --window-size="1280,$2" --screenshot="$out/$1.png" "file://$out/$1.html#${3:-}" 2>"$out/chromium.log"
  pngquant --force --speed 1 --output "tests/data/$1.png" 64 "$out/$1.png"
  [ "$(stat -c %s "tests/data/$1.png")" -lt 100000 ] || fail "tests/data/$1.png has more than 100 kB"
  ls -l "tests/data/$1.png"
}

preloaded() { # COMMAND...
  setpriv --pdeathsig KILL env LD_PRELOAD="$O/liballocprof.so" "$@" &
  started=$!
  sleep 0.5
}

# A service that leaks.
preloaded "$O/tests/programs/leaking_service" 30
record leak $started --period 64K -d 8s
kill $started
picture leak 640

# An interpreter that allocates all the time and keeps little.
preloaded PYTHONMALLOC=malloc /usr/bin/python3 tests/programs/churn.py 30
record churn $started -d 8s
kill $started
picture churn 660 'show=allocated-bytes&q=lib:_json'

# What a server holds, and what has grown since then: two profiles of one recording. In between a
# list is deleted, and other requests come.
redis_start
redis_load set,lpush
"$O/allocprof" attach -q --redact --period 64K -d 12s -o "$out/redis-%t.pb.gz" "$server" &
recording=$!
sleep 6
kill -USR1 $recording
while ! compgen -G "$out/redis-*.pb.gz" >"$out/before"; do sleep 0.1; done
redis_load_end
(redis '' redis-cli -p "$port" del mylist >"$out/del.log")
redis_load hset,zadd
wait $recording
mapfile -t profiles < <(ls "$out"/redis-*.pb.gz)
"$O/allocprof" report -q "${profiles[0]}" -o "$out/redis.html"
picture redis 640
"$O/allocprof" diff -q "${profiles[@]}" -o "$out/grown.html"
picture grown 640
