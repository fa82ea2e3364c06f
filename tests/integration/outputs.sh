#!/usr/bin/env bash
# Outputs that fail at the end of a recording: each has its message and status, leaves no part of a
# file under its name, and the profile goes where there is room for it. Signals that end a recording
# do not lose it; a second one while it is written does, at once.
. "$(dirname "$0")/common.sh"
need_bpf
need unshare python3
cd "$tmp"
mkdir rescue
export TMPDIR=$tmp/rescue

program_env=(env "LD_PRELOAD=$O/liballocprof.so")
start mortal
held=0
hold() { # so that there is something to write
  held=$((held + 1))
  echo -n h >"$tmp/mortal.in"
  wait_until has "$tmp/mortal.out" "^holds $held\$"
}

# The end of an attach as it must be, with what is still in the rescue folder as its profile.
ends() { # STATUS NAME PATTERN
  local status=0 saved
  wait "$loader" || status=$?
  equal "status of $2" $status "$1"
  has "$2.err" "^allocprof: $3" || fail "$2 did not say: $3"
  saved=$(sed -n 's/^hint: the profile is in \([^;]*\);.*/\1/p' "$2.err")
  [ -n "$saved" ] || fail "$2: not a word of where the profile is"
  grep -q ";hold " <<<"$("$allocprof" report -q -f folded -o - "$saved")" || fail "$2: $saved is not it"
  rm -r "$(dirname "$saved")"
  equal "rest in the rescue folder" "$(ls rescue)" ""
}

# A full disk.
mkdir place
attach_full() {
  unshare --mount sh -c 'mount -t tmpfs -o size=64k none place && head -c 1M /dev/zero >place/fill 2>/dev/null
    "$@"; status=$?; ls place >left; exit $status' sh "$allocprof" attach "$@" 2>full.err &
  loader=$!
  started+=("$loader")
  wait_until has full.err '^attached|^allocprof:'
}
attach_full --duration 300ms --period 64K -o place/x.html -o place/x.pb.gz "$pid"
hold
ends 1 full "cannot write place/x.pb.gz"
has full.err "^detail: No space left on device" || fail "the reason is missing"
equal "left on the full disk" "$(cat left)" fill

# A folder that goes away, and one that others have filled in the place of the file.
attach gone -o place/x.html "$pid"
hold
rm -r place
kill -INT "$loader"
ends 1 gone "cannot write place/x.html"
attach folder -o x.html "$pid"
hold
mkdir x.html
kill -INT "$loader"
ends 1 folder "cannot write x.html"
rmdir x.html

# Standard output closed, and with nobody who reads it.
attach closed -f pprof -o - "$pid" >&-
hold
kill -INT "$loader"
ends 1 closed "cannot write to standard output"
attach unread -f pprof -o - "$pid" > >(true)
hold
kill -INT "$loader"
ends 1 unread "cannot write to standard output"

# Nothing is lost by the signals that end a recording.
for signal in TERM HUP; do
  attach signal -o "$signal.pb.gz" "$pid"
  hold
  kill -s "$signal" "$loader"
  wait "$loader" || fail "SIG$signal: status $?"
  [ -s "$signal.pb.gz" ] || fail "SIG$signal: no profile"
done

# Nor by the terminal's end, after which nothing can be said any more.
python3 - "$allocprof" attach -o hangup.pb.gz "$pid" <<'END' &
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"attached" not in seen:
    seen += os.read(terminal, 4096)
print("attached", file=open("hangup.out", "w"), flush=True)
while not os.path.exists("hangup.go"):
    time.sleep(0.05)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
loader=$!
started+=("$loader")
wait_until has hangup.out attached
hold
touch hangup.go
wait "$loader" || fail "without a terminal: status $?"
[ -s hangup.pb.gz ] || fail "without a terminal: no profile"

# A second Ctrl-C, while the first output waits for somebody to read it.
mkfifo pipe
attach twice -f folded -o pipe -o later.pb.gz "$pid"
hold
kill -INT "$loader"
wait_until has twice.err '^detached'
kill -INT "$loader"
status=0
wait "$loader" || status=$?
equal "status after the second" $status 130
has twice.err '^allocprof: ended before the profile was written' || fail "the second one says nothing"
equal "files" "$(find . -name 'later*')" ""
equal "rest in the rescue folder" "$(ls rescue)" ""
kill -0 "$pid" || fail "the target did not survive"
