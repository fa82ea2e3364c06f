#!/usr/bin/env python3
"""Constant attach and detach, for MINUTES: tests/soak.py MINUTES.

Four programs run under the allocator all the time: redis-server under redis-benchmark, python, one
that knows every byte of its blocks (intact), and one that knows its live bytes (live_set). Each is
recorded over and over, with random periods and for random times, and one recording of intact lasts
from the beginning to the end. Then

- no recording has failed, lost a sample, or left a semaphore raised;
- neither a program nor a loader has grown;
- every answer was right;
- live bytes were the truth: each within 6 standard deviations (a false alarm in 5 * 10^8), and the
  mean of all within 5 (one in 1.7 million), so that they do not drift.

Prints a line a minute, and a table at the end.
"""
import math
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

O = os.path.realpath(os.environ.get("O", "build"))
LOADER, LIBRARY = f"{O}/allocprof", f"{O}/liballocprof.so"
TRUTH_PERIOD = 16384
LOADER_RSS_MAX = 256 << 20
GROWTH_MAX = 16 << 20  # beyond what a program had in the first third

PYTHON = """
import sys
table, n = {}, 0
for line in sys.stdin:
    for i in range(20000):
        table[(n + i) % 5000] = [str(n + i)] * (i % 13)
    n += 20000
    print(sum(len(v) for v in table.values()), flush=True)
"""


class Failure(Exception):
    pass


def rss(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def semaphore_addresses():
    """Of the library, as the file has them."""
    notes = subprocess.run(["readelf", "-nW", LIBRARY], capture_output=True, text=True, check=True).stdout
    return [int(x, 16) for x in re.findall(r"Name: (?:alloc|free)\n.*Semaphore: (0x[0-9a-f]+)", notes)]


class Target:
    def __init__(self, name, command, **options):
        self.name, self.attaches, self.samples, self.first, self.last = name, 0, 0, 0, 0
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, **options.pop("environment", {}))
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options
        )
        self.pid = self.process.pid

    def ask(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def semaphores(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            base = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith("liballocprof.so"))
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            return [int.from_bytes(os.pread(memory.fileno(), 2, base + at), "little") for at in ADDRESSES]

    def look(self, share):
        """The most that it has had in the first third, and what it has in the end."""
        now = rss(self.pid)
        if share < 1 / 3:
            self.first = max(self.first, now)
        self.last = now


class Recording:
    def __init__(self, target, folder, period, *options):
        self.target, self.path = target, f"{folder}/{target.name}"
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [LOADER, "attach", "--period", str(period), *options, "-o", f"{self.path}.folded", str(target.pid)],
            stderr=self.errors,
        )
        while not re.search("^attached|^allocprof:", self.text(), re.M):
            time.sleep(0.01)

    def text(self):
        # The loader writes where the file's position is, which is ours as well: it must not move.
        return os.pread(self.errors.fileno(), os.fstat(self.errors.fileno()).st_size, 0).decode()

    def end(self):
        """The live bytes."""
        self.process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        text = self.text()
        found = re.search(r"allocated in (\d+) samples", text) or re.search(r"^allocated .* in (\d+) samples", text, re.M)
        if self.process.returncode not in (0, 6) or re.search("^warning", text, re.M):
            raise Failure(f"{self.target.name}: attach ended with {self.process.returncode}:\n{text}")
        if usage.ru_maxrss << 10 > LOADER_RSS_MAX:
            raise Failure(f"{self.target.name}: the loader had {usage.ru_maxrss} KiB")
        self.target.attaches += 1
        self.target.samples += int(found[1]) if found else 0
        if self.process.returncode:
            return 0
        with open(f"{self.path}.folded", encoding="utf-8") as folded:
            return sum(int(line.rsplit(" ", 1)[1]) for line in folded)


def record_truth(target, folder):
    """In standard deviations off."""
    recording = Recording(target, folder, TRUTH_PERIOD)
    for _ in range(random.randint(1, 5)):
        _, _, live, deviation, _, _ = target.ask("x").split()
    return (recording.end() - float(live)) / float(deviation)


def record_any(target, folder):
    recording = Recording(target, folder, random.choice([4096, 16384, 65536, 524288]), "--max-rate", "0")
    end = time.monotonic() + random.random() * 2
    while (left := end - time.monotonic()) > 0:
        if target.name == "redis":
            time.sleep(left)
        elif target.name == "python":
            if int(target.ask("go\n")) != PYTHON_ANSWER:
                raise Failure("python's answer is wrong")
        elif not target.ask("?").startswith("intact"):
            raise Failure("a block is damaged")
    recording.end()


def redis_start(folder):
    root = "build/root/usr/bin/"
    root = root if os.path.exists(root + "redis-server") else ""
    libraries = f"{os.getcwd()}/build/root/usr/lib/x86_64-linux-gnu"
    path = f"{folder}/socket"
    target = Target(
        "redis",
        [root + "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder],
        environment={"LD_LIBRARY_PATH": libraries},
    )
    threading.Thread(target=target.process.stdout.read, daemon=True).start()
    while not os.path.exists(path):
        time.sleep(0.05)
    load = subprocess.Popen(
        [root + "redis-benchmark", "-s", path, "-l", "-q", "-c", "4", "-r", "5000", "-d", "300", "-t", "set,get,lpush,lpop"],
        env=dict(os.environ, LD_LIBRARY_PATH=libraries),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return target, load


def redis_answers(folder):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{folder}/socket")
        connection.sendall(b"PING\r\n")
        return connection.recv(16) == b"+PONG\r\n"


def loader_grows(process, long, share):
    now = rss(process.pid)
    if share < 1 / 3:
        long["first"] = max(long["first"], now)
    long["last"] = now


def soak(minutes, folder, processes):
    programs = f"{O}/tests/programs"
    redis, load = redis_start(folder)
    targets = [
        redis,
        Target("python", [sys.executable, "-c", PYTHON], environment={"PYTHONMALLOC": "malloc"}),
        Target("intact", [f"{programs}/intact", "2"]),
        Target("live_set", [f"{programs}/live_set", str(TRUTH_PERIOD)]),
    ]
    processes += [load] + [target.process for target in targets]
    intact, truth = targets[2:]
    intact.process.stdout.readline()
    truth.process.stdout.readline()
    watched = Target("intact all the time", [f"{programs}/intact", "1"])
    processes.append(watched.process)
    watched.process.stdout.readline()
    lasting = Recording(watched, folder, 65536)
    processes.append(lasting.process)
    begin, off, answers, long = time.monotonic(), [], 0, {"first": 0, "last": 0}
    said = 0
    while (share := (time.monotonic() - begin) / (60 * minutes)) < 1:
        for target in targets:
            if target is truth:
                off.append(record_truth(target, folder))
            else:
                record_any(target, folder)
            # The last one has ended with its keeper: the kernel is done.
            if target.semaphores() != [0, 0]:
                raise Failure(f"{target.name}: semaphores are {target.semaphores()}")
            target.look(share)
        watched.look(share)
        if not redis_answers(folder):
            raise Failure("redis does not answer")
        if abs(off[-1]) > 6:
            raise Failure(f"live bytes are off by {off[-1]:+.1f} standard deviations")
        answers += 1
        loader_grows(lasting.process, long, share)
        if int(share * minutes) > said:
            said = int(share * minutes)
            print(f"soak: {said} min, {sum(t.attaches for t in targets)} recordings", flush=True)
    lasting.end()
    drift = sum(off) / math.sqrt(len(off))
    for target in targets + [watched]:
        print(
            f"{target.name:20} {target.attaches:5} recordings {target.samples:9} samples, "
            f"RSS {target.first >> 10:7} KiB, in the end {target.last >> 10:7} KiB"
        )
    print(f"{'its loader':20} RSS {long['first'] >> 10} KiB, in the end {long['last'] >> 10} KiB")
    print(f"{answers} rounds of answers; live bytes off by {drift:+.2f} standard deviations in {len(off)} recordings")
    for target in targets:
        if target.last > target.first + GROWTH_MAX:
            raise Failure(f"{target.name} has grown")
    if long["last"] > long["first"] + GROWTH_MAX:
        raise Failure("the loader has grown")
    if abs(drift) > 5:
        raise Failure("live bytes drift")


# What PYTHON says each time: 5,000 lists, of the last 5,000 lengths.
PYTHON_ANSWER = sum(i % 13 for i in range(15000, 20000))
ADDRESSES = semaphore_addresses()


def main():
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            soak(float(sys.argv[1]), folder, processes)
        except Failure as failure:
            sys.exit(f"soak: {failure}")
        finally:
            for process in processes:
                process.kill()
                process.wait()


main()
