# shellcheck shell=bash
# Sourced by what runs a redis-server: one on a free port of the loopback interface, which keeps
# nothing on disk, and a load on it. Expects O, and out, a folder of its own that is made anew, in which
# the loader's cache is, too; sets server, port, load. Leaves no process, also when interrupted.
# shellcheck disable=SC2154 # what it expects
root=build/root # where .ci/deps unpacks redis
server='' load=''

fail() { # MESSAGE [LOG]
  echo "$(basename "$0" .sh): $1" >&2
  [ $# = 1 ] || tail -n 5 "$2" >&2
  exit 1
}

redis_end() {
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  wait 2>/dev/null || true
}
trap redis_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

[ "$(id -u)" = 0 ] || fail "needs root, as attaching does"
rm -rf "$out"
mkdir -p "$out"
XDG_CACHE_HOME=$(realpath "$out")
export XDG_CACHE_HOME

# In the background, and gone when this script is, whatever ends it.
redis() { # PRELOAD PROGRAM ARGUMENTS...
  exec setpriv --pdeathsig KILL env LD_PRELOAD="$1" \
    LD_LIBRARY_PATH=$root/usr/lib/"$(uname -m)"-linux-gnu "$root/usr/bin/$2" "${@:3}"
}

# Whether somebody listens there.
listens() { # PORT
  (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Whether the server listens, within a minute; not when it has ended.
starts() {
  local deadline=$((SECONDS + 60))
  while [ $SECONDS -lt $deadline ] && kill -0 "$server" 2>/dev/null; do
    if listens "$port"; then return 0; fi
    sleep 0.1
  done
  return 1
}

redis_start() {
  [ -x $root/usr/bin/redis-server ] || fail "no redis-server under $root: make demo unpacks one"
  # A port may be taken between the look and the start: then the server ends, and another is tried.
  for ((try = 0; try < 5; try++)); do
    port=$((20000 + RANDOM % 20000))
    ! listens $port || continue
    redis "$O/liballocprof.so" redis-server --bind 127.0.0.1 --port $port --save '' --appendonly no \
      --dir "$out" >"$out/server.log" 2>&1 &
    server=$!
    if starts || kill -0 "$server" 2>/dev/null; then break; fi
  done
  listens "$port" || fail "redis-server does not start" "$out/server.log"
}

# One kind of request after the other, over and over, until it is ended.
redis_load() { # REQUESTS
  redis '' redis-benchmark -h 127.0.0.1 -p "$port" -q -l -n 20000 -r 200000 -d 200 \
    -t "$1" >"$out/load.log" 2>&1 &
  load=$!
  sleep 1
  kill -0 "$load" 2>/dev/null || fail "redis-benchmark does not run" "$out/load.log"
}
redis_load_end() {
  kill "$load"
  wait "$load" || true
  load=''
}
