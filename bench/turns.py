# SPDX-License-Identifier: MIT
"""What a recording costs, within one process that is recorded by turns.

Two runs of a program differ by more than a recording costs: where its memory lies is left to chance.
One process has that once, and what is left are the moments in which the machine is slower, which
neighbours share. So a round is short: a turn without, a recording, a turn without. And since a
recording takes a second to begin and end, in which the machine changes, there is a second way: the
semaphores of a recorded process are lowered and raised, many times in a round. Each time that costs
what a recording pays once, so two parts of it are measured by themselves: to be listened to without
a sample, and to be sampled while somebody listens all the time.
"""
import os
import re
import signal
import socket
import statistics
import subprocess
import time
from pathlib import Path

import workloads
from interval import percent, ranked
from recording import (BUILT, OTHERS, OURS, ROUNDS, SCALE, TOP, Profiler, attach_ours, record_end,
                       semaphores, start, symbols)

TURN = SCALE  # seconds without a recording, before one and behind it; of one there are twice as many
SETTLE = 0.3  # seconds that the limit of the rate has to find its period, and the kernel to clear away
SHORT_TURN, SWITCHES = 0.02 * SCALE, 200  # where no recording begins and ends between turns
SWITCHED = 0.005  # seconds after a switch that are not counted: all lists are charged anew
LIFE = 10  # rounds of one process


class Slots:
    """The 256 slots without end."""
    name = "256 slots"
    CHUNK = 1_000_000  # pairs, 5 to 20 ms
    period = 0  # that --max-rate finds for it; 0: unknown

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
        self.done.close()


class Redis:
    """redis-server under redis-benchmark, which sets random ones of 100,000 keys, ten in a command: so
    the server is what has no pause. With one it is the client, and what a command costs the server
    goes up and down with how many are there when it wakes."""
    name = "redis"
    FILL = 2.0  # seconds until the keys are there
    period = 0

    def __init__(self, profiler):
        workload = workloads.redis(TOP / "build/root", 1)
        self.process = start(profiler, workload.command, workload.env)
        port = workload.command[workload.command.index("--port") + 1]
        while True:
            try:
                self.connection = socket.create_connection(("127.0.0.1", int(port)))
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        self.answers = self.connection.makefile("rb")
        self.client = subprocess.Popen(
            [str(TOP / "build/root/usr/bin/redis-benchmark"), "-p", port, "-q", "-P", "8", "-c", "20", "-r",
             "100000", "-d", "100", "-t", "mset", "-n", "1000000000"], env={**os.environ, **workload.env},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, OTHERS))
        time.sleep(self.FILL)

    def used(self):
        """CPU seconds of the server's main thread, and the commands that it has served: as the server
        itself tells, both of the same moment."""
        self.connection.sendall(b"INFO cpu stats\r\n")
        told = self.answers.read(int(self.answers.readline()[1:]) + 2).decode()
        found = dict(re.findall(r"(\w+):(\S+)", told))
        return (float(found["used_cpu_user_main_thread"]) + float(found["used_cpu_sys_main_thread"]),
                int(found["total_commands_processed"]))

    def cost(self, seconds):
        """CPU seconds of a command, from now on."""
        before = self.used()
        time.sleep(seconds)
        after = self.used()
        return (after[0] - before[0]) / (after[1] - before[1])

    def end(self):
        self.connection.close()
        for process in (self.client, self.process):
            process.kill()
            process.wait()


class Bystander:
    """What is recorded in the control: a process that stands still."""

    def __init__(self, profiler):
        self.process = start(profiler, [str(BUILT / "pairs"), "slots", "1", "stop"], {})
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def end(self):
        self.process.kill()
        self.process.wait()


# The semaphores of alloc and free. SILENT: somebody listens, with a period in which no sample comes.
NOBODY, SILENT, HEARD = (0, 0), (1, 0), (1, 1)
NO_SAMPLES = 1 << 50


class Switch:
    """The semaphores of a recorded process. While they are lowered, to the allocator nobody listens."""

    def __init__(self, pid):
        found = symbols()
        maps = Path("/proc/%d/maps" % pid).read_text().splitlines()
        base = min(int(line.split("-")[0], 16) for line in maps if line.endswith("/" + OURS.name))
        self.places = [base + place for place in semaphores(found)]
        self.period_place = base + found["allocprof_sample_period"]
        self.memory = os.open("/proc/%d/mem" % pid, os.O_RDWR)

    def period(self):
        return int.from_bytes(os.pread(self.memory, 8, self.period_place), "little")

    def set(self, state, period):
        for place, raised in zip(self.places, state):
            os.pwrite(self.memory, raised.to_bytes(2, "little"), place)
        # The allocator had put back its own when it noticed that nobody listens any more.
        period = NO_SAMPLES if state == SILENT else period
        os.pwrite(self.memory, period.to_bytes(8, "little"), self.period_place)

    def end(self):
        os.close(self.memory)


def attached_by_turns(target, attach, recorded):
    """A recording's cost over that of the turns around it, and its samples."""
    before = target.cost(TURN)
    attached = attach(recorded.process.pid)
    time.sleep(SETTLE)
    cost = target.cost(2 * TURN)
    samples = end_of(attached)
    time.sleep(SETTLE)
    return 2 * cost / (before + target.cost(TURN)), samples


def end_of(attached):
    attached.send_signal(signal.SIGINT)
    return record_end(attached)


def switched(*states):
    """In one recording, at the period that it has found, turns in the second state over turns in the
    first, which come as fast as is possible in no other way."""
    def method(target, attach, recorded):
        pid = recorded.process.pid
        switch = Switch(pid)
        if not target.period:
            attached = attach(pid)
            time.sleep(1 + SETTLE)
            target.period = switch.period()
            end_of(attached)
        attached = attach_ours("--period", str(target.period), "--max-rate", "0")(pid)
        cost = [0.0, 0.0]
        for number in range(SWITCHES):
            # The order turns about, so that a drift in speed cancels.
            for which in (0, 1) if number % 2 else (1, 0):
                switch.set(states[which], target.period)
                time.sleep(SWITCHED)
                cost[which] += target.cost(SHORT_TURN)
        switch.set(HEARD, target.period)
        switch.end()
        return cost[1] / cost[0], end_of(attached)
    return method


def compare(kind, method, attach, control, silent):
    """The ratios of the rounds, and the samples of one."""
    ours = Profiler("allocprof", str(OURS))
    ratios, samples = [], []
    while len(ratios) < ROUNDS:
        processes = [kind(ours), Bystander(ours)] if control else [kind(ours)]
        try:
            for _ in range(min(LIFE, ROUNDS - len(ratios))):
                ratio, count = method(processes[0], attach, processes[-1])
                ratios.append(ratio)
                samples.append(count)
        finally:
            for process in processes:
                process.end()
    if not (control or silent or all(samples)):
        raise SystemExit("overhead: %s: a recording without samples" % kind.name)
    return ratios, statistics.median(samples)


def table():
    yield "| by turns, %d rounds | more than without, 95%% | one round, sd | its samples |" % ROUNDS
    yield "|---|---|---|---|"
    rows = [("another process attached to", attached_by_turns, ()), ("attached", attached_by_turns, ())]
    rows += [("attached, --period " + period, attached_by_turns, ("--period", period))
             for period in ("512K", "64K", "4K")]
    rows += [("heard", switched(NOBODY, HEARD), ()), ("listened to", switched(NOBODY, SILENT), ()),
             ("sampled", switched(SILENT, HEARD), ())]
    for kind in (Slots, Redis):
        for number, (name, method, options) in enumerate(rows):
            if not re.search(os.environ.get("PROFILERS", "."), "%s, %s" % (kind.name, name)):
                continue
            ratios, samples = compare(kind, method, attach_ours(*options), number == 0,
                                      name == "listened to")
            yield "| %s, %s | %s | %.1f%% | %d |" % (
                kind.name, name, percent(ratios, ranked), 100 * statistics.stdev(ratios), samples)
