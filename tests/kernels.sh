#!/usr/bin/env bash
# Boots other kernels of Debian's under qemu and runs tests of whole programs in each: one line a
# kernel, fails when one of them has. Arguments are versions, as "6.1" or "7": the newest of Debian
# 11 to 13, backports included, that begins so. ACCEL=kvm is fast where it works; software emulation
# works everywhere.
#
# Kernels come through an apt of their own under $O/kernels, which has the system's keys and nothing
# else of it. The guest is an initramfs that holds the build, the tests and the commands that they
# need, in the same places as here; what it has to say comes back over its second serial port.
# TESTS=PATTERN chooses tests, LIMIT=SECONDS is how long a kernel may take, CPUS=N has it. On a machine
# that is busy otherwise one is faster than two. ROUNDS=N is of the stress `preempted`; by default it
# takes a million samples.
set -euo pipefail
cd "$(dirname "$0")/.."
O=${O:-build}
mkdir -p "$O/kernels"
O=$(realpath "$O")
place=$O/kernels
limit=${LIMIT:-900}
# Not bpf_frames: what it looks at is the same everywhere, and takes minutes of emulated time.
default=(attach_exact attach_threads deep_stack kill_loader known_live leader_exited perf_uprobe
  preempted privileges tiny_maps tree two_processes)
tests=${TESTS:-"unit/test_session|integration/($(IFS='|' && echo "${default[*]}"))\$"}
commands=(awk base64 basename bash bpftool cat chmod chown cmp cp cut date dd diff dirname env find
  grep head id kill ln ls mkdir mkfifo mktemp mount mv nproc od readelf readlink realpath rm sed seq
  setcap setpriv sleep sort stat tail tee timeout touch tr true uname uniq unshare wc xargs)

# ---- Kernels ----

apt_options=(-o "Dir::State::lists=$place/apt/lists" -o "Dir::State::status=$place/apt/status"
  -o "Dir::Cache=$place/apt/cache" -o "Dir::Etc::sourcelist=$place/apt/sources.list"
  -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o APT::Architecture=amd64
  -o APT::Architectures::=amd64 -o APT::Sandbox::User=root)

apt_prepare() {
  local suite
  mkdir -p "$place/apt/lists/partial" "$place/apt/cache/archives/partial"
  touch "$place/apt/status"
  for suite in bullseye bookworm trixie trixie-backports; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
      "http://deb.debian.org/debian $suite main"
  done >"$place/apt/sources.list"
  # What is a day old will do.
  [ -z "$(find "$place/apt/updated" -mmin -1440 2>/dev/null)" ] || return 0
  apt-get -qq "${apt_options[@]}" update >"$place/apt/update.log" 2>&1 ||
    { cat "$place/apt/update.log" >&2; return 1; }
  touch "$place/apt/updated"
}

# The newest kernels are in linux-binary-*, and linux-image-* of the same version has none.
kernel_package() { # VERSION: the newest package that holds such a kernel
  apt-cache "${apt_options[@]}" pkgnames |
    sed -nE -e 's/^linux-image-(.*-cloud-amd64)$/\1 0 &/p' \
      -e 's/^linux-binary-unsigned-(.*-cloud-amd64)$/\1 1 &/p' |
    grep -E "^${1//./\\.}[.+-]" | sort -V | tail -n 1 | cut -d ' ' -f 3
}

kernel_fetch() { # VERSION: the path of its vmlinuz
  local package kernel
  package=$(kernel_package "$1")
  [ -n "$package" ] || { echo "kernels: Debian has no $1" >&2; return 1; }
  kernel=$place/$package
  if [ ! -s "$kernel" ]; then
    rm -rf "$place/deb"
    mkdir "$place/deb"
    (cd "$place/deb" && apt-get -qq "${apt_options[@]}" download "$package") >&2
    dpkg-deb --fsys-tarfile "$place"/deb/*.deb | tar -x -C "$place/deb" --wildcards '*/vmlinuz*'
    find "$place/deb" -name 'vmlinuz*' -exec mv {} "$kernel.part" \;
    mv "$kernel.part" "$kernel"
    rm -rf "$place/deb"
  fi
  echo "$kernel"
}

# ---- The guest ----

guest=$place/guest

libraries_of() { # FILE
  ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' || true
}

guest_add() { # FILE...: where they are here
  local file
  for file in "$@"; do
    [ ! -e "$guest$file" ] || continue
    mkdir -p "$guest$(dirname "$file")"
    cp -L "$file" "$guest$file"
  done
}

guest_make() {
  local name path libraries
  rm -rf "$guest"
  mkdir -p "$guest"/{dev,proc,sys,tmp,etc,root,usr/{bin,sbin,lib,lib64}}
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$guest/$name"; done
  printf 'root:x:0:0::/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$guest/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$guest/etc/group"
  for name in "${commands[@]}"; do
    path=$(PATH=$PATH:/usr/sbin type -P "$name") || { echo "kernels: no $name" >&2; return 1; }
    guest_add "$(realpath "$(dirname "$path")")/$name"
    mapfile -t libraries < <(libraries_of "$path")
    guest_add "${libraries[@]}"
  done
  ln -sf bash "$guest/usr/bin/sh"
  mkdir -p "$guest"/allocprof/{build/{bpf,tests/unit},tests/unit}
  cp -r tests/integration tests/run.sh tests/corpus "$guest/allocprof/tests"
  cp tests/unit/test_session.c "$guest/allocprof/tests/unit"
  cp "$O/allocprof" "$O/liballocprof.so" "$guest/allocprof/build"
  cp "$O"/bpf/*.bpf.o "$guest/allocprof/build/bpf"
  cp "$O/tests/unit/test_session" "$guest/allocprof/build/tests/unit"
  cp -r "$O/tests/programs" "$guest/allocprof/build/tests"
  for path in "$O/allocprof" "$O/tests/unit/test_session" "$O"/tests/programs/*; do
    mapfile -t libraries < <(libraries_of "$path")
    guest_add "${libraries[@]}"
  done
  cat >"$guest/init" <<'INIT'
#!/bin/bash
export PATH=/usr/bin:/usr/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
ln -s /proc/self/fd /dev/fd
mount -t bpf bpf /sys/fs/bpf
# A file system that carries uprobes; that of the initramfs need not.
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
cp -r /allocprof /tmp/allocprof
chmod 755 /tmp/allocprof
cd /tmp/allocprof
argument() { # NAME
  tr ' ' '\n' </proc/cmdline | sed -n "s/^$1=//p"
}
export TEST_TIMEOUT=600 TEST_PATIENCE=240 TEST_POLL=0.5 PROBER_NAP_MS=20
ONLY=$(argument tests) ROUNDS=$(argument rounds)
export ONLY ROUNDS
tests/run.sh unit integration | tee /tmp/result
status=${PIPESTATUS[0]}
{
  echo "kernel $(uname -r)"
  grep -hs '^kernel:' build/test-logs/integration_two_processes.log
  grep -hs '^three capabilities:' build/test-logs/integration_privileges.log
  tail -n 1 /tmp/result
  echo "status $status"
} >/dev/ttyS1
sleep 1
echo o >/proc/sysrq-trigger
sleep 100
INIT
  chmod 755 "$guest/init"
  (cd "$guest" && find . -print0 | cpio -0 -o -H newc --quiet | gzip -1) >"$place/initrd.gz"
}

boot() { # KERNEL ACCELERATOR: what the guest says, in $place/result
  : >"$place/result"
  timeout -k 10 "$limit" qemu-system-x86_64 -accel "$2" -cpu max -m 2048 -smp "${CPUS:-2}" \
    -display none -no-reboot -kernel "$1" -initrd "$place/initrd.gz" \
    -serial "file:$place/console.log" -serial "file:$place/result" \
    -append "console=ttyS0 panic=-1 no_timer_check sysrq_always_enabled \
tests=$tests rounds=${ROUNDS:-90000}" </dev/null
}

kernel_test() { # VERSION
  local kernel status=0
  kernel=$(kernel_fetch "$1") || return 1
  boot "$kernel" "${ACCEL:-tcg}" || status=$?
  # Emulated threads have made kernels panic that do not otherwise.
  if [ $status = 0 ] && [ ! -s "$place/result" ]; then
    boot "$kernel" tcg,thread=single || status=$?
  fi
  cp "$place/console.log" "$place/console-$1.log"
  tr -d '\r' <"$place/result" | sed -e 's/^kernel: //' -e '/^status/d' | paste -sd '|' |
    sed -e 's/|/; /g' -e "s/^\$/kernel $1: nothing came back/"
  [ $status != 124 ] || echo "  still running after $limit s"
  if ! grep -q '^status 0' "$place/result"; then
    echo "  failed, see $place/console-$1.log"
    grep -a -A 12 '^  FAIL' "$place/console.log" || tail -n 5 "$place/console.log"
    return 1
  fi
}

apt_prepare
guest_make
failed=0
for version in "$@"; do kernel_test "$version" || failed=1; done
exit $failed
