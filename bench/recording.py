# SPDX-License-Identifier: MIT
"""Profilers, ours and others', and what a recording costs its target: whole runs compared."""
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import allocators
import workloads
from interval import percent

TOP = Path(__file__).resolve().parent.parent
BUILD = (TOP / os.environ.get("O", "build")).resolve()
BUILT = BUILD / "bench"
OURS = BUILD / "liballocprof.so"
CPU = int(os.environ.get("CPU", max(os.sched_getaffinity(0))))
OTHERS = os.sched_getaffinity(0) - {CPU} or {CPU}
ROUNDS = max(2, int(os.environ.get("ROUNDS", 9)))  # one has no interval
SCALE = float(os.environ.get("SCALE", 1))
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
PAIRS = 60_000_000  # of the 256-slot workload, about a second


@dataclass
class Profiler:
    """A way to run a workload. `base` names the one that it is compared with; `work` is the part
    of the work that it can be expected to get through."""
    name: str
    library: str
    base: str = ""
    env: dict = field(default_factory=dict)
    attach: object = None  # called with a pid, returns a process once it records
    work: float = 1.0
    missing: str = ""


def symbols():
    """Of our library: addresses in the file's own terms, by name."""
    told = subprocess.run(["nm", str(OURS)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in told.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def semaphores(found):
    """Their addresses among these symbols. The first is half a word: alloc/probe.h."""
    return found["ap_alloc_word"] + 2, found["ap_free_semaphore"]


def recorder(command, says, env=None):
    """Starts a profiler that attaches, and waits for the line that says that it has."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})},
                               preexec_fn=lambda: os.sched_setaffinity(0, OTHERS))
    said = ""
    for line in process.stdout:
        said += line
        if re.search(says, line):
            return process
    raise SystemExit("overhead: %s: %s" % (command[0], said))


def attach_ours(*options):
    def attach(pid):
        return recorder([str(BUILD / "allocprof"), "attach", *options, "-o", "/dev/null", "-f", "folded",
                         str(pid)], "^attached")
    return attach


def attach_memleak(pid):
    return recorder(["memleak-bpfcc", "-p", str(pid), "1"], r"^\[\d\d:\d\d:\d\d\] Top",
                    {"PYTHONUNBUFFERED": "1", **kernel_headers()})


def kernel_headers():
    """bcc compiles its programs with the kernel's headers. memleak's need nothing of the kernel's
    own structures, so those of another one do: Debian's, whose two folders it wants in one."""
    if Path("/lib/modules", platform.release(), "build").exists():
        return {}
    folder = BUILT / "headers"
    if not folder.exists():
        parts = [p for kind in ("common", "amd64") for p in Path("/usr/src").glob("linux-headers-*-" + kind)]
        for part in parts:
            subprocess.run(["cp", "-rsf", str(part) + "/.", str(folder)], check=True)
    return {"BCC_KERNEL_SOURCE": str(folder)}


def profilers():
    """The table's rows: each baseline before what is compared with it."""
    found, _ = allocators.find(str(OURS), " ".join("%s=" % name for name in allocators.DEBIAN))
    glibc, ours = found["glibc"], found["ours"]
    yield Profiler("allocprof, not attached", ours)
    for period in ("512K", "64K", "4K"):
        yield Profiler("allocprof, --period " + period, ours, "allocprof, not attached",
                       attach=attach_ours("--period", period))
    yield Profiler("allocprof, with its defaults", ours, "allocprof, not attached", attach=attach_ours())
    yield from preloaded("jemalloc", "libjemalloc.so.2", "prof:true, lg_prof_sample:19",
                         {"MALLOC_CONF": "prof:true,lg_prof_sample:19"})
    yield from preloaded("gperftools", "libtcmalloc.so.4", "TCMALLOC_SAMPLE_PARAMETER=524288",
                         {"TCMALLOC_SAMPLE_PARAMETER": "524288"})
    yield Profiler("glibc", glibc)
    # Its interpreter, which would take what it writes, is left out: only the target counts.
    yield Profiler("heaptrack", HEAPTRACK, "glibc", {"DUMP_HEAPTRACK_OUTPUT": "/dev/null"}, work=0.05,
                   missing="" if os.path.exists(HEAPTRACK) else "not installed")
    missing = "" if shutil.which("memleak-bpfcc") else "bpfcc-tools is not installed"
    if not missing and not Path("/lib/modules", platform.release(), "build").exists() and \
            not list(Path("/usr/src").glob("linux-headers-*-amd64")):
        missing = "it needs linux-headers-amd64"
    yield Profiler("bcc memleak", glibc, "glibc", attach=attach_memleak, work=0.01, missing=missing)


def preloaded(name, library, shown, env):
    file = allocators.file_of_malloc(library)
    missing = "" if allocators.stem(file) == allocators.stem(library) else "%s is not installed" % library
    if name == "jemalloc" and not missing:
        told = subprocess.run(["true"], capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": file, "MALLOC_CONF": "stats_print:true"})
        if "config.prof: true" not in told.stderr:
            missing = "this build has no prof"
    yield Profiler(name, file, missing=missing)
    yield Profiler("%s, %s" % (name, shown), file, name, env, missing=missing)


def start(profiler, command, env, stdout=subprocess.DEVNULL):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                            stderr=subprocess.DEVNULL, start_new_session=True,
                            env={**os.environ, **env, **profiler.env, "LD_PRELOAD": profiler.library},
                            preexec_fn=lambda: os.sched_setaffinity(0, {CPU}))


def ended(process, name):
    """CPU seconds of the process itself, whoever else worked for it."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("overhead: %s: exit status %d" % (name, process.returncode))
    return usage.ru_utime + usage.ru_stime


def record_end(attached):
    """Returns the samples it says it took, 0 if it does not say. It may outlive its target."""
    if not attached:
        return 0
    try:
        said = attached.communicate(timeout=20)[0]
    except subprocess.TimeoutExpired:
        attached.send_signal(signal.SIGINT)
        said = attached.communicate()[0]
    found = re.search(r" in (\d+) samples", said)
    return int(found[1]) if found else 0


def slots_once(profiler):
    pairs = int(PAIRS * SCALE * profiler.work)
    target = start(profiler, [str(BUILT / "pairs"), "slots", str(pairs), "stop"], {})
    os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)
    attached = profiler.attach(target.pid) if profiler.attach else None
    target.send_signal(signal.SIGCONT)
    return ended(target, profiler.name) / profiler.work, record_end(attached)


def redis_once(profiler):
    workload = workloads.redis(TOP / "build/root", SCALE * max(profiler.work, 0.1))
    target = start(profiler, workload.command, workload.env)
    library = os.path.realpath(profiler.library)
    while library not in Path("/proc/%d/maps" % target.pid).read_text():
        time.sleep(0.01)
    attached = profiler.attach(target.pid) if profiler.attach else None
    os.sched_setaffinity(0, OTHERS)  # the client, too
    workload.client(target)
    return ended(target, profiler.name) / max(profiler.work, 0.1), record_end(attached)


def recording(what, once):
    """Lines of a table."""
    rows = [p for p in profilers() if re.search(os.environ.get("PROFILERS", "."), p.name)]
    times = {p.name: [] for p in rows}
    samples = {p.name: 0 for p in rows}
    for number in range(ROUNDS):
        for p in rows if number % 2 else rows[::-1]:
            if p.missing:
                continue
            cpu, samples[p.name] = once(p)
            times[p.name].append(cpu)
            if p.name.startswith("allocprof") and p.attach and not samples[p.name]:
                raise SystemExit("overhead: %s: no samples" % p.name)
    yield "| %s, %d rounds | CPU s: median | spread | more than without, 95%% | samples | us a sample |" % (what, ROUNDS)
    yield "|---|---|---|---|---|---|"
    for p in rows:
        if p.missing:
            yield "| %s | left out: %s | | | | |" % (p.name, p.missing)
            continue
        mine = times[p.name]
        middle = statistics.median(mine)
        line = "| %s | %.3f | %.0f%% |" % (p.name, middle, 100 * (max(mine) - min(mine)) / middle)
        if p.base in times:
            line += " %s |" % percent([a / b for a, b in zip(mine, times[p.base])])
        else:
            line += " |"
        if samples[p.name] and p.base in times:
            more = statistics.fmean(a - b for a, b in zip(mine, times[p.base]))
            line += " %d | %.1f |" % (samples[p.name], 1e6 * more / samples[p.name])
        else:
            line += " | |"
        yield line
