#!/usr/bin/env bash
# `doctor`: every check is a line, what fails has a hint, and the exit status says whether something
# has; for root and without rights, for processes with and without probes, as text and as JSON.
. "$(dirname "$0")/common.sh"
need_bpf
need setpriv unshare python3 gcc

chmod 755 "$tmp"
cp "$allocprof" "$tmp/allocprof"
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
doctor() { # NAME STATUS COMMAND...
  local name=$1 expected=$2 status=0
  shift 2
  "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" || status=$?
  equal "status of '$*'" $status "$expected"
  ! grep -vE '^(ok  |warn|FAIL)  [a-zA-Z(]|^      hint: [^ ]' "$tmp/$name.out" ||
    fail "lines of '$*'"
  [ "$(grep -c '^FAIL' "$tmp/$name.out")" -le "$(grep -c '^      hint' "$tmp/$name.out")" ] ||
    fail "a failure without a hint"
}
says() { # NAME VERDICT CHECK TEXT
  has "$tmp/$1.out" "^$2 +$3 +$4" || fail "$1 does not say: $2 $3 $4"
}

start prober
doctor fine 0 "$allocprof" doctor "$pid"
says fine ok "BPF programs" "accepted by the kernel"
says fine ok probes "$programs/prober"
says fine ok "sampling period" "can be set"
says fine "(ok|warn)" uprobe_multi ""
ALLOCPROF_FORCE=perf-uprobe,no-bpf-loop doctor forced 0 "$allocprof" doctor
says forced "(ok|warn)" uprobe_multi "no"
says forced ok bpf_loop "no"

doctor rights 1 nobody "$tmp/allocprof" doctor "$pid"
says rights FAIL capabilities "missing CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE"
says rights FAIL process "no permission to look into"
no_btf() { unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$@"; }
doctor no_btf 1 no_btf "$allocprof" doctor
says no_btf FAIL BTF "/sys/kernel/btf/vmlinux: No such file"
doctor gone 1 "$allocprof" doctor 2147483647
says gone FAIL process "no process 2147483647"

# A program that no library can be preloaded into, and one whose file is not there any more.
printf '#include <unistd.h>\nint main(void) { return pause(); }\n' >"$tmp/static.c"
gcc -static -o "$tmp/static" "$tmp/static.c"
"$tmp/static" &
started+=("$!")
doctor static 1 "$allocprof" doctor "$!"
says static FAIL probes "process [0-9]+ .static. does not use an allocator"
says static FAIL LD_PRELOAD "the program is static"
cp "$programs/prober" "$tmp/deleted"
"$tmp/deleted" <>"$tmp/prober.in" >"$tmp/deleted.out" &
deleted=$!
started+=("$deleted")
wait_until has "$tmp/deleted.out" "^ready"
rm "$tmp/deleted"
doctor deleted 0 "$allocprof" doctor "$deleted"
says deleted warn files "[0-9]+ mapped, 1 replaced or deleted since, as $tmp/deleted"

# One that has a malloc of its own, which no library replaces.
cat >"$tmp/shadow.c" <<'END'
#include <string.h>
#include <unistd.h>
static char heap[1 << 20];
static size_t used;
void *malloc(size_t size) { return heap + (used += (size + 31) & ~15UL) - ((size + 15) & ~15UL); }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *old, size_t size) { void *block = malloc(size); return old ? memcpy(block, old, size) : block; }
void free(void *block) {}
int main(void) { return pause(); }
END
gcc -fno-builtin -o "$tmp/shadow" "$tmp/shadow.c"
LD_PRELOAD=$O/liballocprof.so "$tmp/shadow" &
shadow=$!
started+=("$shadow")
wait_until grep -qs liballocprof "/proc/$shadow/maps"
doctor shadow 0 "$allocprof" doctor "$shadow"
says shadow warn malloc "the program has its own"
says fine ok malloc "not overridden by the program"
"$allocprof" attach -q -d 100ms -o "$tmp/shadow.pb.gz" "$shadow" 2>"$tmp/shadow.err" || equal "status" $? 6
has "$tmp/shadow.err" "^warning: shadow has a malloc of its own" || fail "attach does not warn of another malloc"
"$allocprof" run -q "$tmp/shadow" 2>"$tmp/shadow_run.err" &
loader=$!
started+=("$loader")
wait_until has "$tmp/shadow_run.err" "^warning: shadow has a malloc of its own"
kill -TERM "$loader"
wait "$loader" || true

# In a chroot all files are where they were.
mkdir "$tmp/root"
ldd "$programs/prober" | grep -o '/[^ ]*' | xargs -I FILE cp -L --parents FILE "$tmp/root"
cp "$programs/prober" "$tmp/root/caged"
chroot "$tmp/root" /caged <>"$tmp/prober.in" >"$tmp/chroot.out" &
started+=("$!")
wait_until has "$tmp/chroot.out" "^ready"
doctor chroot 0 "$allocprof" doctor "$!"
says chroot ok files "[0-9]+ mapped$"

"$allocprof" doctor --json --name prober | python3 -c '
import json, sys
got = json.load(sys.stdin)
assert got["schema"] == 1 and got["verdict"] in ("ok", "warn"), got
names = [check["name"] for check in got["checks"]]
assert "kernel" in names and "probes" in names, names
assert all(check["verdict"] in ("ok", "warn", "FAIL") for check in got["checks"])
' || fail "--json"
status=0
"$allocprof" doctor --name nosuchname 2>"$tmp/name.err" || status=$?
equal "status of a name that nobody has" $status 4
