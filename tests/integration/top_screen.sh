#!/usr/bin/env bash
# top on a terminal: what stands on the screen of one is what the program holds, keys do what they
# say, any size is drawn, and the terminal comes back as it was, however it ends.
. "$(dirname "$0")/common.sh"
need_bpf
need tmux
cd "$tmp"
export TMUX_TMPDIR=$tmp
unset TMUX NO_COLOR

# A terminal with a shell's last words on it, on which top runs.
terminal() { # COLUMNS ROWS VARIABLES... -- TOP'S ARGUMENTS
  local size=(-x "$1" -y "$2") env=()
  shift 2
  for (( ; $# > 0; )); do
    [ "$1" != -- ] || break
    env+=("$1")
    shift
  done
  shift
  rm -f before after status
  cat >inside.sh <<END
echo 'before top'
stty -g >before
env ${env[*]@Q} $allocprof top $* --delay 100ms
echo \$? >status
stty -g >after
exec sleep 1000
END
  tmux -f /dev/null new-session -d "${size[@]}" bash inside.sh
  started+=("$(tmux display-message -p '#{pid}')")
}
keys() { tmux send-keys "$@"; }
screen() { tmux capture-pane -p "$@"; }
shows() { # PATTERN
  grep -qE -- "$1" <<<"$(screen)"
}
expect() { # PATTERN
  local deadline=$((SECONDS + 30))
  until shows "$1"; do
    [ $SECONDS -lt $deadline ] || fail "not on the screen: $1"$'\n'"$(screen)"
    sleep 0.05
  done
}
ends() { # TEXT [plain]: with status 0, the terminal as it was; a plain one forgets what it showed
  wait_until [ -s after ]
  equal "status of top" "$(cat status)" 0
  equal "settings of the terminal" "$(cat after)" "$(cat before)"
  equal "alternate screen, cursor" "$(tmux display-message -p '#{alternate_on} #{cursor_flag}')" "0 1"
  expect "$1"
  [ "${2:-}" = plain ] || expect '^before top'
  tmux kill-server
}
kib() { awk -v bytes="$1" 'BEGIN { printf "%.1f KiB", bytes / 1024 }'; }

start prober --threads 3 --attaches 9
terminal 100 30 TERM=tmux-256color LC_ALL=C.UTF-8 -- "$pid"
expect '  no samples yet'
expect "^prober \(pid $pid\)  00:0[0-9]  1 sample per 512"
echo >prober.in
live=$(kib "$(expected_sum live bytes)")
expect "^live $live \+/-[0-9]+%  rate .*  samples 300  lost 0  whole 100.0%  stacks 3"
expect '^ +LIVE +\+- +ALLOC/s +OBJECTS  FUNCTION *$'
expect "^ +$live +[0-9]+% +[0-9.]+ .*  +$(expected_sum live objects)  fire_alloc  probes.h$"
bold=$'\033''\[[0-9;]*1[0-9;]*m[^A-Z]*'
grep -qE "${bold}LIVE" <<<"$(screen -e)" || fail "LIVE does not sort"
keys 2
wait_until eval 'grep -qE "${bold}ALLOC/s" <<<"$(screen -e)"'
keys l
expect '  fire_alloc  probes.h:[0-9]+$'

# The tree, with the sums of its branches, one closed and opened again.
keys l t
expect 'CALLS *$'
left=$(kib "$(expected live bytes | awk '/^path;left/ { sum += $2 } END { print sum }')")
expect "^ +$left .*  (│ )*. left  prober.c"
keys t Enter
expect 'CALLERS AND CALLS *$'
expect '  fire_alloc, called by  probes.h$'
expect '  (├ )?fire  prober.c$'
# Of a function in between also what it calls, down to who allocates.
keys Down c
expect '  fire, called by  prober.c$'
keys Tab
expect '  fire, calls  prober.c$'
expect "^ +$live .*  fire_alloc  probes.h$"
keys Escape
expect 'FUNCTION *$'

keys / nothing Enter
expect 'nothing with that name'
keys Escape p
expect ' paused$'
keys p '?'
expect '^q +quit; the process keeps running'
keys x r
expect ' GROWTH  +ALLOC/s'
expect '  \+0 B  '

# Any size; nothing stands in a column that is not there.
for size in 80x24 40x10 20x5 12x3 250x60; do
  tmux resize-window -x "${size%x*}" -y "${size#*x}"
  case $size in
    12x3) expect 'too small' ;;
    20x5) expect '^ +LIVE' ;;
    40x10)
      expect '^ +LIVE +ALLOC/s  FUNCTION *$'
      ! shows OBJECTS || fail "OBJECTS at 40 columns"
      ;;
    *) expect '^ +LIVE +\+- +GROWTH +ALLOC/s +OBJECTS  FUNCTION *$' ;;
  esac
done

keys s
expect 'wrote allocprof-prober-[0-9TZ-]+.html, .pb.gz'
"$allocprof" report allocprof-prober-*.pb.gz >report.out
has report.out "^live $live .*of 2.3 MiB allocated in 300 samples" || fail "the profile that s has saved"
keys q
ends 'detached; prober keeps running'
wait_until semaphores_are "$pid" "0 0"

# A plain terminal: no colours, no lines of Unicode.
terminal 80 24 TERM=vt100 LC_ALL=C -- "$pid"
expect 'no samples yet'
echo >prober.in
keys t
expect '  \|-left '
keys G
expect '  `-right '
! grep -qE $'\033''\[3[0-8]' <<<"$(screen -e)" || fail "colours on a vt100"
# The last table stays until it has been seen.
kill -9 "$pid"
expect "^prober \(pid $pid\) .* was killed by SIGKILL"
expect '  `-right '
keys q
ends '^prober was killed by SIGKILL at [0-9:]+ UTC$' plain

# Ctrl-C; and a terminal that goes away takes top with it.
rm prober.in
start prober --attaches 9
terminal 80 24 TERM=tmux-256color NO_COLOR=1 -- "$pid"
expect 'no samples yet'
! grep -qE $'\033''\[3[0-8]' <<<"$(screen -e)" || fail "colours with NO_COLOR"
keys C-c
ends 'detached; prober keeps running'
terminal 80 24 TERM=tmux-256color -- --no-color "$pid"
expect 'no samples yet'
! grep -qE $'\033''\[3[0-8]' <<<"$(screen -e)" || fail "colours with --no-color"
wait_until semaphores_are "$pid" "1 1"
tmux kill-server
wait_until semaphores_are "$pid" "0 0"

for name in nonsense dumb; do
  terminal 80 24 TERM=$name -- "$pid"
  expect "^allocprof: cannot use this terminal"
  expect "^detail: TERM is '$name'"
  wait_until [ -s status ]
  equal "status on a terminal that cannot be used" "$(cat status)" 1
  tmux kill-server
done
