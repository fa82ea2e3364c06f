#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What our probes cost while nobody listens, and what it costs to record; beside other profilers.

Environment: ROUNDS=N (9), SCALE=FACTOR (1), PARTS=REGEX of `instructions`, `time`, `slots`, `redis`,
`turns`, PROFILERS=REGEX of those in the table, CPU=N for what is measured (the last), O=FOLDER
(build).
"""
import itertools
import os
import re
import shutil
import subprocess

import inputs
import run
import turns
import workloads
from interval import percent
from recording import (BUILD, BUILT, CPU, OURS, ROUNDS, SCALE, TOP, recording, redis_once, semaphores,
                       slots_once, symbols)

WITHOUT = BUILD / "noprobes/liballocprof.so"
LISTENED = BUILT / "listened.so"


def instructions(library, command):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                          env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit("overhead: callgrind: " + done.stderr[-500:])
    return int(found[1])


def listened_write():
    """Writes a copy of our library whose semaphores are raised in the file: to it somebody listens, whom
    a sample costs nothing. It takes hardly any, one per 128 MiB."""
    headers = subprocess.run(["readelf", "-lW", str(OURS)], capture_output=True, text=True, check=True).stdout
    loads = [[int(field, 16) for field in line.split()[1:5]]
             for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
    image, found = bytearray(OURS.read_bytes()), symbols()
    period = found["allocprof_sample_period"], (128 << 20).to_bytes(8, "little")
    for address, value in [*((place, b"\1\0") for place in semaphores(found)), period]:
        offset = next(load[0] + address - load[1] for load in loads if 0 <= address - load[1] < load[3])
        image[offset:offset + len(value)] = value
    LISTENED.write_bytes(image)


def counted_instructions():
    listened_write()
    folder = BUILT / "inputs-0.05"
    inputs.write(folder, 0.05)
    known = {w.name: w.command for w in workloads.interpreters(folder) + workloads.tools(folder)}
    commands = {"256 slots": [str(BUILT / "pairs"), "slots", "2000000"],
                **{name: known[name] for name in ("gawk", "xmllint", "jq")}}
    yield "| instructions | without probes | with | ratio | listened to | ratio |\n|---|---|---|---|---|---|"
    for name, command in commands.items():
        if not shutil.which(command[0]):
            yield "| %s | not installed | | | | |" % name
            continue
        # The least: where a span's address ends in what a program stores, free looks twice, and
        # where spans are is left to chance.
        without, ours, listened = (min(instructions(library, command) for _ in range(3))
                                   for library in (WITHOUT, OURS, LISTENED))
        yield "| %s | %d | %d | %+.3f%% | %d | %+.3f%% |" % (
            name, without, ours, 100 * (ours / without - 1), listened, 100 * (listened / without - 1))


def idle_time():
    commands = {"small (256 slots)": ["pairs", "slots", 20_000_000],
                "medium (64 KiB to 4 MiB)": ["blocks", "middle", 15_000],
                "mixed (16 B to 64 KiB)": ["blocks", "mixed", 2_500_000]}
    yield "| CPU time, with probes over without | ratio - 1, 95%% of %d pairs of runs |\n|---|---|" % ROUNDS
    for name, (program, loop, count) in commands.items():
        command = [str(BUILT / program), loop, str(max(1, int(count * SCALE)))]
        ratios = []
        for number in range(ROUNDS):
            times = {}
            # The order turns about, so that a drift in speed cancels.
            for library in ((WITHOUT, OURS) if number % 2 else (OURS, WITHOUT)):
                workload = workloads.Workload(name, "micro", command)
                measured = run.run_once(BUILT, workload, str(library), (1 << CPU, 0))
                if "failed" in measured:
                    raise SystemExit("overhead: %s: %s" % (name, measured["failed"]))
                times[library] = measured["cpu"]
            ratios.append(times[OURS] / times[WITHOUT])
        yield "| %s | %s |" % (name, percent(ratios))


def main():
    redis = str(TOP / "build/root/usr/bin/redis-server")
    parts = {"instructions": (counted_instructions, "valgrind"),
             "time": (idle_time, None),
             "slots": (lambda: recording("256 slots", slots_once), None),
             "redis": (lambda: recording("redis", redis_once), redis),
             "turns": (turns.table, redis)}
    with (BUILD / "overhead.md").open("w") as file:
        for name, (part, needs) in parts.items():
            if not re.search(os.environ.get("PARTS", "."), name):
                continue
            lines = part() if not needs or shutil.which(needs) else ["%s: left out: no %s" % (name, needs)]
            for line in itertools.chain(lines, [""]):
                print(line, flush=True)
                print(line, file=file)


if __name__ == "__main__":
    main()
