#!/usr/bin/env bash
# Processes that live for some milliseconds: their stacks are whole from the first sample on, though
# the files that they have from their parent are not in their page tables yet. And who only maps the
# same library is not recorded with them.
. "$(dirname "$0")/common.sh"
need_bpf
need python3

cat >"$tmp/server.py" <<'END'
import os, sys
def handle():
    return [bytearray(100000) for _ in range(20)]
def serve(requests):
    for _ in range(requests):
        child = os.fork()
        if not child:
            handle()
            os._exit(0)
        os.waitpid(child, 0)
print("ready", flush=True)
for line in sys.stdin:
    serve(int(line))
    print("served", flush=True)
END
serve() { # NAME
  mkfifo "$tmp/$1.in"
  PYTHONMALLOC=malloc LD_PRELOAD=$O/liballocprof.so python3 "$tmp/server.py" <>"$tmp/$1.in" >"$tmp/$1.out" &
  pid=$!
  started+=("$pid")
  wait_until has "$tmp/$1.out" '^ready'
}
serve bystander
serve server
attach tree --follow-fork --period 16K -o "$tmp/out.pb.gz" "$pid"
echo 30 >"$tmp/server.in"
echo 30 >"$tmp/bystander.in"
wait_until has "$tmp/server.out" '^served'
wait_until has "$tmp/bystander.out" '^served'
detach || fail "attach ended with $?"
! has "$tmp/tree.err" '^warning' || fail "warnings: $(grep ^warning "$tmp/tree.err")"

# 30 times 20 blocks of 100 kB, each of which is a sample with p = 1 - exp(-6.1): the standard
# deviation is 0.12 MB, and the bystander's would be as much again.
"$allocprof" report --json "$tmp/out.pb.gz" >"$tmp/out.json"
"$allocprof" report -q --show allocated -o "$tmp/out.folded" "$tmp/out.pb.gz"
awk '/;PyByteArray_Resize / { sum += $NF } END { exit !(sum > 60e6 - 1e6 && sum < 60e6 + 1e6) }' "$tmp/out.folded" ||
  fail "allocated: $(awk '/;PyByteArray_Resize / { sum += $NF } END { print sum }' "$tmp/out.folded")"
python3 - "$tmp/out.json" <<'END' || fail "stacks are cut"
import json, sys
profile = json.load(open(sys.argv[1]))["profile"]
print("%d of %d stacks are whole" % (profile["whole_stacks"], profile["samples"]))
sys.exit(profile["whole_stacks"] < 0.99 * profile["samples"])
END

# Two generations at once, of which the loader may see the younger one first: its frames are numbers
# of mappings that it has from its parent. 200 times 20 blocks: the standard deviation is 0.31 MB.
"$allocprof" run -q --follow-fork --period 16K --show allocated -o "$tmp/generations.folded" \
  "$programs/generations" 100 20 || fail "run ended with $?"
awk '/;main;work / { sum += $NF } END { exit !(sum > 400e6 - 2e6 && sum < 400e6 + 2e6) }' \
  "$tmp/generations.folded" || fail "two generations: $(cat "$tmp/generations.folded")"
