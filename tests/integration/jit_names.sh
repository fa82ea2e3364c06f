#!/usr/bin/env bash
# Code that is made at run time has the names that the runtime tells in a jitdump file.
# What lies in place of /tmp/perf-PID.map and is not the target's own regular file is refused.
. "$(dirname "$0")/common.sh"
need_bpf
need node

cat >"$tmp/work.js" <<'EOJ'
const { deflateSync } = require('zlib');
const bytes = Buffer.alloc(65536, 1);
function squeeze() {
  return deflateSync(bytes).length;
}
function rounds() {
  return squeeze() + squeeze();
}
for (let i = 0; i < 100; i++) rounds();
console.log('ready');
for (;;) rounds();
EOJ
# Compiled at once; the files are written where it stands.
(cd "$tmp" && LD_PRELOAD=$O/liballocprof.so exec node --perf-prof --no-logfile-per-isolate \
  --logfile=v8.log --always-sparkplug --no-opt work.js) >"$tmp/node.out" 2>"$tmp/node.err" &
pid=$!
started+=("$pid")
wait_until has "$tmp/node.out" '^ready'
"$allocprof" attach -q -d 1s --show allocated -o "$tmp/node.folded" "$pid"
kill -9 "$pid"
grep -q "JS:.rounds $tmp/work.js:6:16;JS:.squeeze $tmp/work.js:3:17;" "$tmp/node.folded" ||
  fail "node's functions have no names"

# A pipe, which nobody writes to, a file of another user; and one that is right.
start prober --attaches 3
map=/tmp/perf-$pid.map
round=0
for lies in pipe other own; do
  case $lies in
    pipe) mkfifo "$map" ;;
    other) echo "1000 10 name" >"$map" && chown 12345 "$map" ;;
    own) echo "1000 10 name" >"$map" ;;
  esac
  attach attach -o "$tmp/out.folded" "$pid"
  wait_until has "$tmp/prober.out" "^done $((++round))"
  detach || fail "$lies: attach ended with $?"
  rm -f "$map"
  refused=$(grep -c "^warning: $map of the process is not read" "$tmp/attach.err") || true
  equal "$lies: warnings" "$refused" "$([ $lies = own ] && echo 0 || echo 1)"
done
