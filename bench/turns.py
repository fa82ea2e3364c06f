# SPDX-License-Identifier: MIT
"""What a recording costs, within one process that is recorded by turns.

Two runs of a program differ by more than a recording costs: where its memory lies is left to chance.
One process has that once, and what is left are the minutes in which the machine is slower, which
neighbours share.
"""
import os
import signal
import subprocess
import time
from pathlib import Path

import workloads
from interval import percent
from recording import (BUILT, OTHERS, OURS, ROUNDS, SCALE, TOP, Profiler, attach_ours, record_end,
                       start)

PHASE = 2.0 * SCALE  # seconds with the recording, and seconds without
SETTLE = 1.0  # seconds that the limit of the rate has to find its period


class Slots:
    """The 256 slots without end."""
    name = "256 slots"
    CHUNK = 1_000_000  # pairs, about 20 ms

    def __init__(self, profiler):
        self.process = start(profiler, [str(BUILT / "pairs"), "slots", str(self.CHUNK), "endless"], {},
                             stdout=subprocess.PIPE)
        self.done = self.process.stdout

    def cost(self, seconds):
        """CPU seconds of a chunk, from now on."""
        os.set_blocking(self.done.fileno(), False)
        while self.done.read(4096):
            pass
        os.set_blocking(self.done.fileno(), True)
        self.done.readline()  # the one that is half done, or what is left of its line
        self.done.readline()
        end, times = time.monotonic() + seconds, []
        while time.monotonic() < end:
            times.append(int(self.done.readline()))
        return sum(times) / len(times) / 1e9

    def end(self):
        self.process.kill()
        self.process.wait()


class Redis:
    """redis-server under redis-benchmark, which sets random ones of 100,000 keys."""
    name = "redis"

    def __init__(self, profiler):
        self.workload = workloads.redis(TOP / "build/root", 1)
        self.process = start(profiler, self.workload.command, self.workload.env)
        self.port = self.workload.command[self.workload.command.index("--port") + 1]
        while self.tool("redis-cli", "ping").stdout.read().strip() != b"PONG":
            time.sleep(0.02)
        self.client = self.tool("redis-benchmark", "-q", "-P", "16", "-c", "20", "-r", "100000", "-d", "100",
                                "-t", "set", "-n", "1000000000")
        time.sleep(2 * PHASE)  # until the keys are there

    def tool(self, name, *arguments):
        return subprocess.Popen([str(TOP / "build/root/usr/bin" / name), "-p", self.port, *arguments],
                                env={**os.environ, **self.workload.env}, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL,
                                preexec_fn=lambda: os.sched_setaffinity(0, OTHERS))

    def used(self):
        """CPU seconds of the server's main thread, and the commands that it has served."""
        told = self.tool("redis-cli", "info", "stats").communicate()[0].decode()
        served = next(line for line in told.splitlines() if line.startswith("total_commands_processed"))
        ran = Path("/proc/%d/schedstat" % self.process.pid).read_text().split()[0]
        return int(ran) / 1e9, int(served.split(":")[1])

    def cost(self, seconds):
        """CPU seconds of a command, from now on."""
        before = self.used()
        time.sleep(seconds)
        after = self.used()
        return (after[0] - before[0]) / (after[1] - before[1])

    def end(self):
        for process in (self.client, self.process):
            process.kill()
            process.wait()


def recorded(target, attach):
    """What the target's work costs while it is recorded, and the samples."""
    attached = attach(target.process.pid)
    time.sleep(SETTLE)
    cost = target.cost(PHASE)
    attached.send_signal(signal.SIGINT)
    return cost, record_end(attached)


def compare(target, attach):
    """The ratios of neighbours, and samples a second."""
    ratios, samples = [], 0
    for number in range(ROUNDS):
        # The order turns about, so that a drift in speed cancels.
        plain = None if number % 2 else target.cost(PHASE)
        cost, count = recorded(target, attach)
        ratios.append(cost / (plain or target.cost(PHASE)))
        samples += count
    return ratios, samples / (ROUNDS * (SETTLE + PHASE))


def table():
    yield "| by turns, %d pairs of %g s | recorded over not, 95%% | samples a second |" % (ROUNDS, PHASE)
    yield "|---|---|---|"
    for kind in (Slots, Redis):
        for options in ((), ("--period", "512K"), ("--period", "64K"), ("--period", "4K")):
            target = kind(Profiler("allocprof", str(OURS)))
            try:
                ratios, rate = compare(target, attach_ours(*options))
            finally:
                target.end()
            yield "| %s, %s | %s | %.0f |" % (
                kind.name, " ".join(options) or "with its defaults", percent(ratios), rate)
