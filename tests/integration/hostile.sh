#!/usr/bin/env bash
# A target that lies: its maps change while they are read, it has 4 GiB of zeros mapped as a library,
# and files whose headers claim everything; a function's name is a megabyte; its perf map is a pipe;
# it fires with numbers that mean nothing. That costs the loader bounded memory, and of the honest
# site nothing is lost.
. "$(dirname "$0")/common.sh"
need_bpf
need gcc python3

rss_max=$((256 << 10)) # KiB

# honest() of tests/programs/liar.c, with a longer name.
printf 's/\\bhonest\\b/%s/g\n' "$(head -c 1000000 /dev/zero | tr '\0' h)" >"$tmp/rename.sed"
sed -f "$tmp/rename.sed" tests/programs/liar.c >"$tmp/liar.c"
gcc -g -O1 -std=gnu11 -Iinclude -Itests/programs -D_GNU_SOURCE -fno-omit-frame-pointer \
  -fno-optimize-sibling-calls -o "$tmp/liar" "$tmp/liar.c" -lpthread
python3 tests/integration/lies.py "$tmp/liar" "$tmp"
truncate -s 4G "$tmp/zeros"

programs=$tmp
start liar "$tmp/zeros" "$tmp/sections" "$tmp/segments"
# ru_maxrss is what GNU time shows.
python3 - "$tmp/rss" "$allocprof" attach --show allocated --by objects --show-allocator -o "$tmp/out.folded" \
  -o "$tmp/out.pb.gz" -o "$tmp/out.html" "$pid" 2>"$tmp/attach.err" <<'EOT' &
import resource, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
loader = subprocess.Popen(sys.argv[2:], preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
signal.signal(signal.SIGTERM, lambda *unused: loader.send_signal(signal.SIGINT))
status = loader.wait()
with open(sys.argv[1], "w") as out:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=out)
sys.exit(status)
EOT
loader=$!
started+=("$loader")
wait_until has "$tmp/attach.err" '^attached|^allocprof:'
echo >"$tmp/liar.in"
wait_until has "$tmp/liar.out" '^done'
kill -TERM "$loader"
status=0
wait "$loader" || status=$?
echo >"$tmp/liar.in"
wait "$pid"
cut -c 1-200 "$tmp/attach.err"
equal "status" $status 0
rss=$(cat "$tmp/rss")
echo "the loader had $rss KiB at most"
[ "$rss" -lt $rss_max ] || fail "the loader had $rss KiB"
equal "honest" "$(awk '/;hhhhhh/ { sum += $NF } END { printf "%d", sum }' "$tmp/out.folded")" 100
"$allocprof" report -q -o "$tmp/again.txt" "$tmp/out.pb.gz"
