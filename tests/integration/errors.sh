#!/usr/bin/env bash
# Every error is one line, with a hint, and has its own exit status; nothing of libbpf's shows
# without -v.
. "$(dirname "$0")/common.sh"
need_bpf
need setpriv unshare

fails() { # STATUS PATTERN COMMAND...
  local expected=$1 pattern=$2 status=0
  shift 2
  "$@" >"$tmp/out" 2>"$tmp/command.err" || status=$?
  equal "status of '$*'" $status "$expected"
  has "$tmp/command.err" "^allocprof: $pattern" || fail "'$*' did not say: $pattern"
  equal "lines of 'allocprof:' from '$*'" "$(grep -c '^allocprof:' "$tmp/command.err")" 1
  has "$tmp/command.err" "^hint: " || fail "no hint from '$*'"
  ! has "$tmp/command.err" "libbpf" || fail "libbpf's text from '$*'"
  [ ! -s "$tmp/out" ] || fail "standard output from '$*'"
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

cd "$tmp"
# Copies that another user can reach.
chmod 755 "$tmp"
cp "$allocprof" "$programs/prober" "$tmp"

sleep 1000 &
other=$!
started+=("$other")
start prober --threads 1

# Usage.
fails 2 "no command 'frobnicate'" "$allocprof" frobnicate
fails 2 "attach needs the number" "$allocprof" attach
fails 2 "attach takes one process" "$allocprof" attach 1 2
fails 2 "attach takes a number or --name" "$allocprof" attach --name prober 1
fails 2 "not a process number: 'redis'" "$allocprof" attach redis
fails 2 "not a process number: '0'" "$allocprof" attach 0
fails 2 "unknown option: --frobnicate" "$allocprof" attach --frobnicate 1
fails 2 "unknown option: -z" "$allocprof" attach -q -vz 1
fails 2 "unknown option: -z" "$allocprof" attach 1 -z
fails 2 "--quiet takes no value" "$allocprof" attach --quiet=yes 1
fails 2 "--duration needs a value" "$allocprof" attach --duration
fails 2 "bad value for --duration: '5 parsecs'" "$allocprof" attach --duration '5 parsecs' 1
fails 2 "bad value for --period: '0'" "$allocprof" attach --period 0 1
fails 2 "bad value for --every: 'often'" "$allocprof" attach --every often 1
fails 2 "bad value for --keep: '0'" "$allocprof" attach --keep 0 1
fails 2 "unknown pattern in 'a-%q.html': '%q'" "$allocprof" attach -o a-%q.html 1
fails 2 "bad value for --max-stacks" "$allocprof" attach --max-stacks 0 1
fails 2 "bad value for --show" "$allocprof" attach --show dead 1
fails 2 "bad value for --by" "$allocprof" attach --by weight 1
fails 2 "the name of the output does not say its format" "$allocprof" attach -o file.xyz 1
fails 2 "run needs a command" "$allocprof" run --
fails 2 "version takes no arguments" "$allocprof" version 1
fails 2 "completion needs bash, zsh or fish" "$allocprof" completion tcsh
fails 2 "top shows one process" "$allocprof" top --follow-fork 1
fails 2 "top takes no --strict" "$allocprof" top --strict 1
fails 2 "top has its table on standard output" "$allocprof" top -o - -f text 1
fails 2 "bad value for --delay" "$allocprof" top --delay 1ms 1
fails 2 "bad value for --sort" "$allocprof" top --sort weight 1

# What cannot be printed has failed, also when nothing else could.
for arguments in --help --version "help attach" "completion zsh"; do
  status=0
  # shellcheck disable=SC2086 # several
  "$allocprof" $arguments >/dev/full 2>"$tmp/command.err" || status=$?
  equal "status of '$arguments' on a full disk" $status 1
  has "$tmp/command.err" "^allocprof: cannot write to standard output" || fail "'$arguments' on a full disk"
  has "$tmp/command.err" "^hint: .*df -h" || fail "no hint that the disk is full"
done

# Outputs that cannot be written are known before the recording.
fails 1 "cannot write /nonexistent/a.html" "$allocprof" attach -o /nonexistent/a.html "$pid"
fails 1 "cannot write ./" nobody "$tmp/allocprof" attach "$pid"

# No such process.
fails 4 "no process 2147483647" "$allocprof" attach 2147483647
fails 4 "no process named nonesuch" "$allocprof" attach --name nonesuch
twin=ap_twin_$$
cp "$(command -v sleep)" "$twin"
for _ in 1 2; do
  "./$twin" 1000 &
  started+=("$!")
done
wait_until eval '[ "$(pgrep -cx "$twin")" = 2 ]'
fails 4 "2 processes are named $twin: [0-9]+ [0-9]+$" "$allocprof" attach --name "$twin"
kill "$!"
wait "$!" || true
fails 5 "process [0-9]+ \($twin\) does not use" "$allocprof" attach --name "$twin"
sh -c 'sleep 0 & echo $! >zombie; exec sleep 1000' &
started+=("$!")
wait_until [ -s zombie ]
zombie=$(cat zombie)
is_zombie() { grep -q '^State:.Z' "/proc/$zombie/status"; }
wait_until is_zombie
fails 4 "no process $zombie" "$allocprof" attach "$zombie"
has "$tmp/command.err" "^detail: it has exited" || fail "a zombie is not explained"
# kthreadd, where the kernel's threads are to be seen.
if [ "$(ps -o comm= -p 2)" = kthreadd ]; then
  fails 5 'process 2 \(kthreadd\) is a thread of the kernel' "$allocprof" attach 2
fi
thread=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 ! -name "$pid" -printf '%f\n' -quit)
fails 4 "no process $thread" "$allocprof" attach "$thread"
has "$tmp/command.err" "is a thread of process $pid" || fail "a thread is not explained"

# Not an allocprof process.
fails 5 "process $other \(sleep\) does not use an allocator" "$allocprof" attach $other

# Nor can it be made one by what the hint would say, when it is static or setuid.
if command -v gcc >/dev/null; then
  echo 'int pause(void); int main(void) { return pause(); }' >pauser.c
  gcc -o plain pauser.c
  for kind in static setuid; do
    if [ $kind = static ]; then gcc -static -o $kind pauser.c; else install -m 4755 plain $kind; fi
    "./$kind" &
    started+=("$!")
    wait_until grep -qs "/$kind$" "/proc/$!/maps"
    fails 5 "process $! \($kind\) does not use an allocator" "$allocprof" attach $!
    has "$tmp/command.err" "^hint: its program is $kind.*, which ignores LD_PRELOAD" || fail "$kind is not explained"
  done
fi

# No permission: on another user's process, and on one's own without the right to use BPF.
fails 3 "no permission to look into process $pid" nobody "$tmp/allocprof" attach -o /tmp/a.html "$pid"
setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/prober" <>"$tmp/prober.in" >"$tmp/own.out" &
own=$!
started+=("$own")
wait_until has "$tmp/own.out" '^ready'
fails 3 "no permission to profile: missing CAP_BPF" nobody "$tmp/allocprof" attach -o /tmp/a.html "$own"
fails 3 "no permission to profile: missing CAP_SYS_PTRACE" \
  setpriv --bounding-set -all,+bpf,+perfmon "$allocprof" attach "$pid"
has "$tmp/command.err" "^hint: .*--pid=host --cap-add=BPF" || fail "root in a container is not told what to add"

# No BTF.
no_btf() { unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$@"; }
fails 9 "this kernel does not describe its types \(BTF\)" no_btf "$allocprof" attach "$pid"

# Nothing sampled; no output is left then. Options may stand behind the process.
fails 6 "no samples in" "$allocprof" attach "$pid" --quiet --duration 100ms -o none.html
has "$tmp/command.err" "^hint: .*its children, too \(--tree\)" || fail "no hint of its children"
[ ! -e none.html ] || fail "an output without samples"

# A full disk: the other outputs are written all the same.
attach full -f folded -o /dev/full -o full.pb.gz "$pid"
wait_until has "$tmp/prober.out" "^done"
status=0
detach || status=$?
equal "status of a full disk" $status 1
has "$tmp/full.err" "^allocprof: cannot write /dev/full" || fail "a full disk is not mentioned"
[ -s full.pb.gz ] || fail "the other output is missing"
rm full.pb.gz

kill -0 "$pid" || fail "the target did not survive"
equal "files left" "$(find "$tmp" -name '*html*' -o -name '*pb.gz*' -o -name '*folded*')" ""
