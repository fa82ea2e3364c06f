#!/usr/bin/env bash
# Real programs, most of them built without frame pointers: nearly all of their stacks reach the
# start of the thread. Those that are not installed are named and left out.
. "$(dirname "$0")/common.sh"
need_bpf
need python3
library=$O/liballocprof.so
redis=build/root/usr

tested=0
# Attaches for two seconds to a running process, and prints the share of whole stacks.
whole() { # NAME PID [PERIOD]
  local share
  "$allocprof" attach --period "${3:-16K}" --duration 2 --show allocated -o "$tmp/$1.folded" "$2" \
    2>"$tmp/$1.err" || fail "$1: attach ended with $?"
  share=$(awk '{ all += $NF } /^.truncated/ { cut += $NF } END { printf "%.3f", 100 - 100 * cut / all }' \
    "$tmp/$1.folded")
  echo "$1: $share% whole; $(grep -o '[0-9]* samples, [0-9]* stacks' "$tmp/$1.err")"
  awk -v share="$share" 'BEGIN { exit !(share >= 99.5) }' ||
    { grep '^.truncated' "$tmp/$1.folded" | head -n 5; fail "$1: too few whole stacks"; }
  tested=$((tested + 1))
}

launch() { # NAME COMMAND...: its pid in $pid
  local name=$1
  shift
  LD_PRELOAD=$library "$@" >"$tmp/$name.out" 2>&1 &
  pid=$!
  started+=("$pid")
}

mapped() { # PID: the allocator is there
  grep -q "liballocprof" "/proc/$1/maps" 2>/dev/null
}

if [ -x $redis/bin/redis-server ]; then
  export LD_LIBRARY_PATH=$redis/lib/x86_64-linux-gnu
  launch redis $redis/bin/redis-server --port 0 --unixsocket "$tmp/redis.sock" --save ''
  wait_until test -S "$tmp/redis.sock"
  server=$pid
  $redis/bin/redis-benchmark -s "$tmp/redis.sock" -t set,lpush,hset,zadd -l -r 10000 -d 300 >/dev/null 2>&1 &
  started+=($!)
  whole redis-server "$server"
  kill $! "$server"
  unset LD_LIBRARY_PATH
else
  echo "no redis-server"
fi

cat >"$tmp/threads.py" <<'EOP'
import json, os, re, sqlite3, threading, zlib
def work():
    table = sqlite3.connect(":memory:")
    table.execute("create table t(a, b)")
    while True:
        table.executemany("insert into t values (?, ?)", [(i, "x" * i) for i in range(200)])
        table.execute("select b, count(*) from t group by b order by a desc").fetchall()
        table.execute("delete from t")
        json.loads(json.dumps({str(i): [i] * 50 for i in range(200)}))
        zlib.decompress(zlib.compress(b"abc" * 10000))
        re.findall(r"(\w+)\s", "hello world " * 1000)
for _ in range(6):
    threading.Thread(target=work).start()
EOP
launch python3 "$(python3 -c 'import sys; print(sys.executable)')" "$tmp/threads.py"
wait_until mapped "$pid"
whole python3 "$pid"
kill -9 "$pid"

if command -v node >/dev/null; then
  cat >"$tmp/work.js" <<'EOJ'
const zlib = require('zlib'), fs = require('fs');
class Maker { make(i) { return JSON.parse(JSON.stringify({i, text: Buffer.alloc(100 + i % 5000).toString('base64')})); } }
const maker = new Maker();
let count = 0;
function turn() {
  const begin = Date.now();
  while (Date.now() - begin < 50) {
    maker.make(++count);
    new Array(500).fill(count).map(x => Buffer.from('x' + x));
    zlib.deflateSync(Buffer.alloc(3000));
  }
  setTimeout(turn, 1);
}
turn();
setInterval(() => fs.readFile('/etc/passwd', () => {}), 10);
console.log('ready');
EOJ
  launch node env -C "$tmp" node --perf-basic-prof "$tmp/work.js" # it writes a log where it stands
  wait_until has "$tmp/node.out" "^ready"
  whole node "$pid" 64K
  kill -9 "$pid"
  rm -f "/tmp/perf-$pid.map"
  grep -q "turn $tmp/work.js" "$tmp/node.folded" || fail "node: its functions have no names"
fi

if cc1=$(gcc -print-prog-name=cc1plus) && [ -x "$cc1" ]; then
  printf '#include <map>\n#include <regex>\n#include <string>\n#include <functional>\n' >"$tmp/large.cc"
  for ((i = 0; i < 400; i++)); do
    echo "std::map<std::string, std::function<int(int[$((i + 1))])>> m$i() { std::regex r(\"a$i\"); return {{\"x\", nullptr}}; }"
  done >>"$tmp/large.cc"
  launch cc1plus "$cc1" -quiet -O2 -imultiarch "$(gcc -print-multiarch)" -D_GNU_SOURCE "$tmp/large.cc" -o /dev/null
  wait_until mapped "$pid"
  whole cc1plus "$pid"
  kill -9 "$pid"
fi

if command -v rustc >/dev/null; then
  cat >"$tmp/work.rs" <<'EOR'
use std::collections::HashMap;
fn work(seed: u64) {
    loop {
        let mut map: HashMap<String, Vec<u64>> = HashMap::new();
        for i in 0..2000u64 { map.entry(format!("k{}", i % 500 + seed)).or_default().push(i); }
        let mut all: Vec<_> = map.into_iter().collect();
        all.sort();
    }
}
fn main() {
    let threads: Vec<_> = (0..4).map(|i| std::thread::spawn(move || work(i))).collect();
    for thread in threads { thread.join().unwrap(); }
}
EOR
  if rustc -O -o "$tmp/work" "$tmp/work.rs" 2>"$tmp/rustc.out"; then
    launch rust "$tmp/work"
    wait_until mapped "$pid"
    whole rust "$pid" 64K
    kill -9 "$pid"
  fi
fi

if command -v postgres initdb >/dev/null; then
  user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod 755 "$tmp"
  mkdir "$tmp/pg"
  chown 65534:65534 "$tmp/pg"
  if "${user[@]}" initdb -D "$tmp/pg/data" -A trust -U test >"$tmp/initdb.out" 2>&1; then
    launch postgres "${user[@]}" postgres -D "$tmp/pg/data" -k "$tmp/pg" -c listen_addresses=
    postmaster=$pid
    wait_until test -S "$tmp/pg/.s.PGSQL.5432"
    yes "select g, md5(g::text), array_agg(g) from generate_series(1, 20000) g group by g order by 2;" |
      psql -q -U test -h "$tmp/pg" -d postgres >/dev/null 2>&1 &
    started+=($!)
    wait_until pgrep -P "$postmaster" -f 'postgres: test' >/dev/null
    whole postgres "$(pgrep -P "$postmaster" -f 'postgres: test' | head -n 1)"
    kill "$!" 2>/dev/null || true
    kill -INT "$postmaster"
    wait "$postmaster" || true
  fi
fi
echo "$tested programs"
