#!/usr/bin/env bash
# Once attached, the loader has no right left but CAP_BPF, whether root or sudo has started it, and
# what it writes belongs to who typed sudo. Another user who has CAP_BPF, CAP_PERFMON and
# CAP_SYS_PTRACE and nothing else records processes of his own and of root's.
. "$(dirname "$0")/common.sh"
need_bpf
need setpriv setcap

has_lines() { # TEXT...: in the loader's status
  local line
  for line in "$@"; do
    grep -qE "^$line\$" "/proc/$loader/status" || return 1
  done
}
# Bit 39 is CAP_BPF.
check_dropped() { # UID
  wait_until has_lines "Uid:	$1	$1	$1	$1" "CapEff:	0000008000000000" \
    "CapPrm:	0000008000000000" "CapInh:	0+" "CapAmb:	0+" "NoNewPrivs:	1"
}
ends_well() { # NAME OUTPUT OWNER
  wait_until has "$tmp/prober.out" "^done"
  detach || fail "$1: attach ended with $?"
  equal "$1: owner of the output" "$(stat -c %u "$2")" "$3"
  diff <(from_path "$2") <(expected live bytes) || fail "$1: not what was fired"
  ! has "$tmp/$1.err" "^warning" || fail "$1: warnings"
  kill -9 "$pid"
}
chmod 755 "$tmp"
mkdir "$tmp/roots" "$tmp/nobodys"
chown 65534:65534 "$tmp/nobodys"
# Copies that another user can reach.
cp "$allocprof" "$programs/prober" "$tmp"
allocprof=$tmp/allocprof
programs=$tmp

start prober --threads 2
attach root --show-allocator -o "$tmp/roots/root.folded" "$pid"
check_dropped 0
ends_well root "$tmp/roots/root.folded" 0

loader_env=(env SUDO_UID=65534 SUDO_GID=65534)
start prober --threads 2
attach sudo --show-allocator -o "$tmp/nobodys/sudo.folded" "$pid"
check_dropped 65534
ends_well sudo "$tmp/nobodys/sudo.folded" 65534
# Where only root can write, root does.
start prober --threads 2
attach only_root --show-allocator -o "$tmp/roots/only.folded" "$pid"
check_dropped 0
ends_well only_root "$tmp/roots/only.folded" 0

rights=-all,+bpf,+perfmon,+sys_ptrace
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
loader_env=("${nobody[@]}" --inh-caps "$rights" --ambient-caps "$rights" --bounding-set "$rights")
for owner in own root file; do
  program_env=(env)
  if [ $owner = file ]; then
    # As `doctor` says it: capabilities of the file, for a user who has none.
    setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep "$allocprof" || break
    loader_env=("${nobody[@]}")
  fi
  [ $owner != own ] || program_env=("${nobody[@]}")
  start prober --threads 2
  three=("three_$owner" -v --period 64K --show-allocator -o "$tmp/nobodys/$owner.folded" "$pid")
  attach "${three[@]}"
  if has "$tmp/three_$owner.err" "^detail: this kernel counts maps as locked memory"; then
    # Before 5.11, and who has not CAP_SYS_RESOURCE cannot raise the limit: we do.
    ulimit -l unlimited
    attach "${three[@]}"
  fi
  if has "$tmp/three_$owner.err" "^allocprof: the kernel refuses to attach"; then
    # Without uprobe_multi, and perf's uprobes ask for more.
    has "$tmp/three_$owner.err" "^detail: this kernel asks for CAP_SYS_ADMIN" || fail "no reason"
    echo "three capabilities: not enough here"
    exit 0
  fi
  has "$tmp/three_$owner.err" "^attached" || fail "three_$owner: not attached"
  if [ $owner = own ]; then check_dropped 65534; fi
  ends_well three_$owner "$tmp/nobodys/$owner.folded" 65534
done
echo "three capabilities: enough"
