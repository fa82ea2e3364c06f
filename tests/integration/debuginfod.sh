#!/usr/bin/env bash
# A program without symbols gets its names from the servers in DEBUGINFOD_URLS, and only from what
# has its build id. Nobody is asked unless the variable is set.
. "$(dirname "$0")/common.sh"
need_bpf
need python3 objcopy readelf

build_id() {
  readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
offered() { # FILE: as what has the build id of the program
  rm -rf "$tmp/served/buildid/$id" "$tmp/cache"
  mkdir -p "$tmp/served/buildid/$id"
  objcopy --only-keep-debug "$1" "$tmp/served/buildid/$id/debuginfo"
}
record() { # NAME [VARIABLE=VALUE...]
  local name=$1
  shift
  env -u DEBUGINFOD_URLS "$@" DEBUGINFOD_CACHE_PATH="$tmp/cache" no_proxy='*' \
    "$allocprof" attach -d 200ms --show allocated -o "$tmp/$name.folded" -o "$tmp/$name.pb.gz" "$pid" 2>"$tmp/$name.err" ||
    fail "$name: attach ended with $?"
}

id=$(build_id "$programs/alarmed")
[ -n "$id" ] || skip "this compiler gives programs no build id"
mkdir -p "$tmp/served"
(cd "$tmp/served" && exec python3 -u -m http.server --bind 127.0.0.1 0) >"$tmp/server.out" 2>&1 &
started+=($!)
wait_until has "$tmp/server.out" '^Serving HTTP'
url=$(sed -n 's/.*(\(http:.*\)\/) .*/\1/p' "$tmp/server.out")

mkdir "$tmp/bin"
objcopy --only-keep-debug "$programs/alarmed" "$tmp/alarmed.debug"
objcopy --strip-all --add-gnu-debuglink="$tmp/alarmed.debug" "$programs/alarmed" "$tmp/bin/alarmed"
env "LD_PRELOAD=$O/liballocprof.so" "$tmp/bin/alarmed" >"$tmp/alarmed.out" &
pid=$!
started+=("$pid")
wait_until has "$tmp/alarmed.out" '^ready'

offered "$programs/alarmed"
record without
grep -q ';alarmed+0x[0-9a-f]*;alarmed+0x.*;alarmed+0x[0-9a-f]* ' "$tmp/without.folded" ||
  fail "it has names without asking"
has "$tmp/without.err" '^note: [0-9]+% of the frames have no names, most of these in .*/alarmed: .*DEBUGINFOD_URLS' ||
  fail "it is not said how it would have names"
! has "$tmp/server.out" GET || fail "asked, though nobody said so"
record with DEBUGINFOD_URLS="$url"
grep -q ';main;read_clock;.*;allocate ' "$tmp/with.folded" || fail "no names"
! has "$tmp/with.err" 'have no names' || fail "names are missed that are there"
has "$tmp/with.err" '^note: the servers in DEBUGINFOD_URLS are asked' || fail "asked without a word"
offered "$programs/prober"
record other DEBUGINFOD_URLS="$url"
grep -q ';alarmed+0x.*;alarmed+0x[0-9a-f]* ' "$tmp/other.folded" ||
  fail "names from another program's file"

# A profile without names gets them later, once the debug file is there.
later() { "$allocprof" report -q --show allocated -o "$tmp/later.folded" "$tmp/without.pb.gz"; }
later
cmp "$tmp/later.folded" "$tmp/without.folded" || fail "a profile without names is read as another one"
cp "$tmp/alarmed.debug" "$tmp/bin/"
later
grep -q ';main;read_clock;.*;allocate ' "$tmp/later.folded" || fail "no names later"
