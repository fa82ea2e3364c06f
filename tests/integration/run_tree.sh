#!/usr/bin/env bash
# `run --tree` of programs that others execute: the tables of each are there before any of its code
# runs, as it is held meanwhile. To be held takes nothing from a program: it may trace and be traced,
# its signals are its own, setuid works, and a loader that is killed leaves nothing held.
. "$(dirname "$0")/common.sh"
need_bpf
need clang gcc strace
cd "$tmp"
export XDG_CACHE_HOME=$tmp/cache
mkdir cache

# By fork and exec, by vfork, and by what is executed in turn. Before they were held it was a third
# to all of what each allocates.
printf '#include <%s.h>\n' stdio stdlib string >main.c
"$allocprof" run -q --tree --period 16K --show allocated -o tree.folded -- \
  sh -c 'clang --version; gcc -c main.c; env clang --version; :' >out
awk -F ';' '{ value = $NF; sub(/.* /, "", value); all[$1] += value }
  /code not known yet/ { unknown[$1] += value }
  END {
    for (name in all) {
      if (all[name] < 2 ^ 18) continue
      printf "%s: %.0f KiB of %.0f KiB in code not known yet\n", name, unknown[name] / 1024, all[name] / 1024
      large++
      worse += unknown[name] > all[name] / 50
    }
    exit !(large >= 2 && !worse)
  }' tree.folded || fail "code that was not known yet"

# A program that traces its child from before its exec.
status=0
"$allocprof" run -q --tree -o tree.folded -- sh -c 'strace -f -o strace.out sh -c "/bin/true; exit 5"; exit $?' \
  2>traced.err || status=$?
equal "status of strace" $status 5
has strace.out 'execve\("/bin/true"' || fail "strace has seen no exec"
has strace.out "exited with 5" || fail "strace has seen no end"

# A loop of them, in which some are killed as they begin: their parent is told.
cat >killer.sh <<'END'
for i in 1 2 3; do
  clang --version >/dev/null &
  kill -KILL $!
  wait $!
  [ $? = 137 ] || exit 1
  clang --version >/dev/null &
  kill -STOP $!
  kill -CONT $!
  wait $! || exit 2
done
exit 6
END
status=0
"$allocprof" run -q --tree -o tree.folded -- sh killer.sh 2>/dev/null || status=$?
equal "status of a shell that kills" $status 6

# Not traced when code of its own runs, and with the rights of its owner.
cp "$(command -v id)" id
chmod 4755 id
chmod 755 .
SUDO_UID=65534 SUDO_GID=65534 "$allocprof" run -q --tree -- sh -c './id -u; grep TracerPid /proc/self/status' \
  >id.out 2>/dev/null
equal "user of a setuid program, and who traces the next" "$(tr -d '\t\n' <id.out)" "0TracerPid:0"

# Who is held when the loader is killed goes on untraced, and nobody of us is left.
held_start() { # PROGRAM
  local end=$((SECONDS + 10)) pid
  rm -rf cache/*
  "$allocprof" run -q --tree -o killed.folded -- sh -c 'clang --version; :' >killed.out 2>killed.err &
  loader=$!
  started+=("$loader")
  while [ $SECONDS -lt $end ] && kill -0 "$loader" 2>/dev/null && [ ! -s killed.out ]; do
    for pid in $(pgrep -P "$loader"; pgrep -x clang); do
      [ "$(readlink "/proc/$pid/exe")" != "$(realpath "$(command -v clang)")" ] ||
        ! grep -q '^State:.t' "/proc/$pid/status" 2>/dev/null || { held=$pid; return 0; }
    done
  done
  kill -KILL "$loader" 2>/dev/null
  return 1
}
TEST_POLL=0 wait_until held_start
started+=("$(pgrep -P "$loader" sh)" "$held")
holder=$(pgrep -P "$loader" allocprof)
has "/proc/$held/status" "^TracerPid:.$holder\$" || fail "somebody else traces it"
kill -9 "$loader"
wait_until has killed.out "clang version"
wait_until gone "$holder"

# Nothing is held by an attach, and what that costs is told. To make the table of cc1 takes longer than
# it runs, and nobody has set the period of the first one: of its 16 to 20 MB, at a sample for 512 KiB, there
# is none once in 10^13 times.
rm -rf cache/*
mkfifo go
LD_PRELOAD=$O/liballocprof.so sh -c 'read -r line; gcc -c main.c; :' <>go &
pid=$!
started+=("$pid")
attach attached --tree --period 16K --show allocated -o attached.folded "$pid"
echo >go
wait "$loader" || fail "attach ended with $?"
has attached.err '^note: [0-9]+% of what was allocated is under \[truncated: code not known yet\]' ||
  fail "no word of code that was not known yet"
