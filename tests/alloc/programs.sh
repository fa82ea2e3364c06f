#!/usr/bin/env bash
# Real programs do real work, plain and under the preload: the same output, and exit status 0.
set -uo pipefail
cd "$(dirname "$0")/../.."
O=$(realpath "${O:-build}")
library=$O/liballocprof.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0 ran=0

missing() { # PROGRAM: whether it is; under CI=true that is a failure
  command -v "$1" >/dev/null && return 1
  echo "skip: no $1"
  [ "${CI:-}" = true ] && failures=$((failures + 1))
  return 0
}

# Runs a function, which starts the program with "${preload[@]}" before it, both ways.
compare() { # NAME FUNCTION
  local way status start=$SECONDS
  for way in plain ours; do
    preload=(env)
    [ $way = ours ] && preload=(env LD_PRELOAD="$library")
    rm -rf "$tmp/work" && mkdir "$tmp/work"
    (set -e; cd "$tmp/work"; "$2") >"$tmp/$way.out" 2>"$tmp/$way.err"
    status=$?
    if [ $status != 0 ]; then
      echo "FAIL: $1: $way: status $status"
      tail -n 5 "$tmp/$way.err"
      failures=$((failures + 1))
      return
    fi
  done
  ran=$((ran + 1))
  if ! cmp "$tmp/plain.out" "$tmp/ours.out" || [ ! -s "$tmp/ours.out" ]; then
    echo "FAIL: $1: not the same output"
    diff "$tmp/plain.out" "$tmp/ours.out" | head -n 5
    failures=$((failures + 1))
  else
    echo "ok: $1, $((SECONDS - start)) s"
  fi
}

run_python() {
  "${preload[@]}" PYTHONMALLOC=malloc PYTHONHASHSEED=1 python3 - <<'PYTHON'
import collections, ctypes, hashlib, json, re, sqlite3, subprocess, sys, threading, zlib

# The allocator that was asked for is the one that serves.
words = [f"word{i * 7919 % 5000}" for i in range(60000)]
print(collections.Counter(words).most_common(3))
document = {w: {"n": i, "list": list(range(i % 20)), "text": w * (i % 30)} for i, w in enumerate(words[:6000])}
text = json.dumps(document, sort_keys=True)
assert json.loads(text) == document
print(hashlib.sha256(text.encode()).hexdigest())
print(len(zlib.decompress(zlib.compress(text.encode()))))
base = sqlite3.connect(":memory:")
base.execute("create table t(k text, v int)")
base.executemany("insert into t values(?, ?)", ((w, i) for i, w in enumerate(words)))
base.execute("create index i on t(k)")
print(base.execute("select k, count(*), sum(v) from t group by k order by 3 desc limit 3").fetchall())
results = [None] * 6
def work(n):
    parts = [re.sub("[aeiou]", str(n), w) for w in words[n::6]]
    results[n] = hashlib.md5("".join(sorted(parts)).encode()).hexdigest()
for _ in range(3):
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print(results)
print(subprocess.run([sys.executable, "-c", "print(sum(range(10**5)))"], capture_output=True).stdout)
class Node: pass
for _ in range(20000):  # rubbish in circles
    a, b = Node(), Node()
    a.other, b.other = b, a
print(ctypes.create_string_buffer(1 << 20).raw.count(0))
PYTHON
}

run_node() {
  "${preload[@]}" node -e '
const zlib = require("zlib"), crypto = require("crypto"), { Worker } = require("worker_threads");
const data = {};
for (let i = 0; i < 30000; i++) data["k" + (i * 7919 % 30011)] = { i, s: "x".repeat(i % 50), a: [i, i + 1] };
const text = JSON.stringify(Object.keys(data).sort().map((k) => [k, data[k]]));
console.log(crypto.createHash("sha256").update(text).digest("hex"));
console.log(zlib.gunzipSync(zlib.gzipSync(text)).length);
const buffers = [];
for (let i = 0; i < 3000; i++) { buffers.push(Buffer.alloc(i * 37 % 20000, i)); if (i % 3 == 0) buffers.shift(); }
console.log(buffers.reduce((sum, b) => sum + b.length, 0));
let left = 3;
for (let n = 0; n < 3; n++)
  new Worker("const {parentPort} = require(\"worker_threads\"); let a = []; for (let i = 0; i < 20000; i++) a.push(Buffer.from(\"b\" + i)); parentPort.postMessage(a.length)", { eval: true })
    .on("message", (m) => { if (--left == 0) console.log("workers", m); });
'
}

run_gcc() {
  for n in 1 2; do
    for i in $(seq 120); do
      echo "struct s$i { int a[$i]; double b; }; int f$i(struct s$i *p, int n)"
      echo "{ int s = 0; for (int k = 0; k < n; k++) s += p[k].a[k % $i] * $n; return s; }"
    done >"unit$n.c"
  done
  "${preload[@]}" gcc -O2 -c unit1.c unit2.c
  "${preload[@]}" gcc -O0 -g -c unit1.c -o debug.o
  objcopy --strip-debug debug.o
  sha256sum unit1.o unit2.o debug.o
}

run_clang() {
  printf '#include <map>\n#include <string>\nstd::map<std::string, int> m;\nint f0(int *p);\n' >unit.cc
  for i in $(seq 200); do
    echo "int f$i(int *p) { return p[$i] * $i + f$((i - 1))(p); }"
  done >>unit.cc
  "${preload[@]}" clang -O2 -c unit.cc -o unit.o
  sha256sum unit.o
}

run_git() {
  export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
  "${preload[@]}" git -c init.defaultBranch=main init -q repository
  cd repository
  for i in $(seq 30); do
    for k in 1 2 3 4 5; do seq $((i * k)) >"file$k"; done
    "${preload[@]}" git add -A
    "${preload[@]}" git commit -q -m "number $i"
  done
  "${preload[@]}" git -c pack.threads=2 repack -q -a -d
  "${preload[@]}" git log -p --stat | sha256sum
  "${preload[@]}" git blame file5 | sha256sum
  "${preload[@]}" git fsck --strict
  "${preload[@]}" git clone -q . ../clone
  "${preload[@]}" git -C ../clone rev-parse HEAD
}

run_perl() {
  "${preload[@]}" perl -e '
    my %h; for my $i (1 .. 100000) { push @{$h{"k" . $i % 777}}, "v" x ($i % 40); }
    my $s = 0; for my $k (sort keys %h) { $s += length join ",", map { s/v/ab/gr } @{$h{$k}}; }
    print "$s\n"; my $t = "x" x 1e7; $t =~ s/x/yy/g; print length $t, "\n";
    my $pid = fork; if (!$pid) { my @a = map { [1 .. 10] } 1 .. 1e4; exit 0 } waitpid $pid, 0; print "$?\n";'
}

run_sort() {
  seq 60000 | awk '{ print $1 * 7919 % 100003, "line", $1 }' >lines
  "${preload[@]}" sort --parallel=4 -S 1M -n lines | sha256sum
  "${preload[@]}" xz -1 -T2 -c lines | "${preload[@]}" xz -dc | sha256sum
  "${preload[@]}" tar cf - lines | "${preload[@]}" tar tvf - | awk '{ print $3, $6 }'
}

run_threads() {
  "${preload[@]}" "$O/tests/programs/alloc_threads"
}

# Answers are compared, and the server must live to say that it saves and ends.
run_redis() {
  local i
  "${preload[@]}" "$redis" --port 0 --unixsocket "$PWD/socket" --save '' --dir "$PWD" \
    --activedefrag no --io-threads 2 >server.log 2>&1 &
  for ((i = 0; i < 200; i++)); do
    [ "$("$cli" -s socket ping 2>/dev/null)" = PONG ] && break
    sleep 0.05
  done
  "$benchmark" -s socket -q -n 5000 -c 20 -r 5000 -d 200 -P 8 \
    -t set,get,incr,lpush,lpop,sadd,hset,zadd,mset,lrange_100 >/dev/null 2>&1
  "$cli" -s socket flushall
  seq 20000 | awk '{ print "set key" $1, $1 * 7; print "rpush list" $1 % 100, $1;
    print "zadd z", $1 % 977, $1; print "append text", "abc" }' | "$cli" -s socket >/dev/null
  "$cli" -s socket dbsize
  "$cli" -s socket debug digest 2>/dev/null || true
  "$cli" -s socket lrange list7 0 20
  "$cli" -s socket zrange z 100 120
  "$cli" -s socket eval 'local t = {} for i = 1, 20000 do t[i] = tostring(i) end return #table.concat(t)' 0
  "$cli" -s socket strlen text
  "$cli" -s socket bgrewriteaof
  "$cli" -s socket save
  "$cli" -s socket shutdown nosave || true
  wait $!
}

root=$PWD/build/root/usr/bin # where .ci/deps unpacks
redis=$root/redis-server cli=$root/redis-cli benchmark=$root/redis-benchmark
for name in redis-server redis-cli redis-benchmark; do
  [ -x "$root/$name" ] || redis=
done
# Installed rather than unpacked.
if [ -z "$redis" ] && command -v redis-server redis-cli redis-benchmark >/dev/null; then
  redis=redis-server cli=redis-cli benchmark=redis-benchmark
fi
if [ -z "$redis" ]; then
  missing redis-server || true
else
  libraries=$(find "$root/../lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  compare redis-server run_redis
  unset LD_LIBRARY_PATH
fi
missing python3 || compare python3 run_python
missing node || compare node run_node
missing gcc || compare gcc run_gcc
missing clang || compare clang run_clang
missing git || compare git run_git
missing perl || compare perl run_perl
missing xz || compare 'sort, xz, tar' run_sort
compare 'C++ threads' run_threads

[ $failures = 0 ] && [ $ran -gt 0 ]
