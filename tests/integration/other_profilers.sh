#!/usr/bin/env bash
# Other tools on the probes of a target that is recorded: ftrace's uprobes, perf and bpftrace. What is
# recorded is exact, the others miss nothing either, whoever comes or leaves first leaves the other
# one's semaphores raised, and the last one leaves them 0. (The kernel counts places, not those who are
# at them: the semaphores are 1 for all together.)
. "$(dirname "$0")/common.sh"
need_bpf
need readelf perf bpftrace

# What the prober fires then.
allocs=400 frees=360
prober_start() {
  start prober --threads 4 --sleepers 4
  mv "$tmp/prober.in" "$tmp/go"
}
record() { # NAME
  attach "$1" --show-allocator -o "$tmp/$1.folded" "$pid"
}
fire() {
  echo >"$tmp/go"
  wait_until has "$tmp/prober.out" '^done 1'
}
record_ends() { # NAME
  detach || fail "$1: attach ended with $?"
  diff <(from_path "$tmp/$1.folded") <(expected live bytes) || fail "$1: not what was fired"
  ! has "$tmp/$1.err" '^warning' || fail "$1: $(grep ^warning "$tmp/$1.err")"
}

# Each of the others has a function that brings it to $pid, one that says whether it is there, one that
# takes it away, and one that says whether it has seen all.

# Where an address is in the file.
place() { # ADDRESS
  local type offset address size
  while read -r type offset address _ size _; do
    if [ "$type" = LOAD ] && (($1 >= address && $1 < address + size)); then
      printf '0x%x' $(($1 - address + offset))
    fi
  done < <(readelf -lW "$programs/prober")
}
# Of both probes: NAME ADDRESS SEMAPHORE.
probes() {
  readelf -nW "$programs/prober" | awk '/Name: (alloc|free)$/ { name = $2 }
    name && /Location:/ { gsub(",", ""); print name, $2, $NF; name = "" }'
}
tracing=/sys/kernel/tracing
group=allocprof_test_$$
events_make() {
  local name at semaphore
  while read -r name at semaphore; do
    echo "p:$group/$name $programs/prober:$(place "$at")($(place "$semaphore"))" \
      >>$tracing/uprobe_events || return 1
  done < <(probes)
}
events_end() {
  echo 0 >$tracing/events/$group/enable
  echo "-:$group/alloc" >>$tracing/uprobe_events
  echo "-:$group/free" >>$tracing/uprobe_events
}

ftrace_begin() { echo 1 >$tracing/events/$group/enable; }
ftrace_is_there() { semaphores_are "$pid" "1 1"; }
ftrace_end() { echo 0 >$tracing/events/$group/enable; }
ftrace_hits() { # NAME
  awk -v name="$1" '$2 == name { print $3 }' $tracing/uprobe_profile
}
ftrace_saw_all() { [ "$(ftrace_hits alloc) $(ftrace_hits free)" = "$allocs $frees" ]; }

perf_begin() {
  perf record -q --no-buildid-cache -e "$group:alloc,$group:free" -o "$tmp/perf.data" -p "$pid" \
    >"$tmp/perf.out" 2>&1 &
  other=$!
  started+=("$other")
}
perf_is_there() { [ "$(find "/proc/$other/fd" -lname '*perf_event*' | wc -l)" -ge 2 ]; }
perf_end() { kill -INT "$other" && { wait "$other" || true; }; }
perf_saw_all() {
  [ "$(perf script -i "$tmp/perf.data" -F event |
    awk '/:alloc:/ { a++ } /:free:/ { f++ } END { print a, f }')" = "$allocs $frees" ]
}

# What is named first is attached last, and says that all are.
bpftrace_begin() {
  local probe=usdt:$programs/prober:otel_memory
  bpftrace -B none -p "$pid" -e "interval:ms:50 { printf(\"there\\n\"); }
    $probe:alloc { @alloc = count(); } $probe:free { @free = count(); }" \
    >"$tmp/bpftrace.out" 2>"$tmp/bpftrace.err" &
  other=$!
  started+=("$other")
}
bpftrace_is_there() { has "$tmp/bpftrace.out" '^there'; }
bpftrace_end() { kill -INT "$other" && { wait "$other" || true; }; }
bpftrace_saw_all() { has "$tmp/bpftrace.out" "^@alloc: $allocs\$" && has "$tmp/bpftrace.out" "^@free: $frees\$"; }

tools=(bpftrace)
[ -w $tracing/uprobe_events ] || mount -t tracefs none $tracing 2>/dev/null || true
if [ -w $tracing/uprobe_events ]; then
  trap 'cleanup; events_end 2>/dev/null || true' EXIT
  events_make || fail "ftrace takes no uprobes"
  tools+=(ftrace perf) # ftrace counts what perf sees, too
else
  echo "not tried: perf and ftrace, for lack of $tracing"
fi

for tool in "${tools[@]}"; do
  # It was there before, and is when we have gone.
  prober_start
  "$tool"_begin
  wait_until "$tool"_is_there
  record "after_$tool"
  fire
  record_ends "after_$tool"
  semaphores_are "$pid" "1 1" || fail "$tool alone: semaphores are $(semaphores "$pid")"
  "$tool"_end
  wait_until semaphores_are "$pid" "0 0"
  "$tool"_saw_all || fail "$tool has not seen all"
  kill -9 "$pid"

  # It comes and goes while we are there.
  rm -f "$tmp/$tool.out"
  prober_start
  record "before_$tool"
  "$tool"_begin
  wait_until "$tool"_is_there
  "$tool"_end
  semaphores_are "$pid" "1 1" || fail "without $tool: semaphores are $(semaphores "$pid")"
  fire
  record_ends "before_$tool"
  wait_until semaphores_are "$pid" "0 0"
  kill -9 "$pid"
done
