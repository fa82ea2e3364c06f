#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs each workload under each allocator in turn, round after round, and compares them.

Short workloads run several times a round.

Environment: WORKLOADS=REGEX selects, ROUNDS=N (5), SCALE=FACTOR (1), PEERS="NAME=PATH.so ...",
CPU=N pins what has one thread (the last CPU), O=FOLDER is where things were built (build), and
ALLOCATOR=PATH.so is measured as ours in place of the one there.
"""
import argparse
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import allocators
import inputs
import report
import workloads

LIMIT = 300  # seconds that one run may take
OFTEN = 4    # runs of a short workload in a round
TOP = Path(__file__).resolve().parent.parent


def cpu_masks():
    cpus = sorted(os.sched_getaffinity(0))
    one = int(os.environ.get("CPU", cpus[-1]))
    return 1 << one, sum(1 << cpu for cpu in cpus)


def run_once(built, workload, library, masks):
    """Returns a run as report.py describes it."""
    with tempfile.NamedTemporaryFile(mode="r") as out, tempfile.TemporaryFile(mode="w+") as err, \
            tempfile.TemporaryDirectory() as folder:  # some leave a file where they are
        process = subprocess.Popen(
            [str(built / "measure"), "-p", library, "-c", str(masks[1 if workload.threads else 0]),
             "-i", workload.stdin, "-o", out.name, *workload.command],
            stdout=subprocess.PIPE, stderr=err, text=True, start_new_session=True, cwd=folder,
            env={**os.environ, **workload.env})
        started = time.monotonic()
        try:
            if workload.client:
                workload.client(process)
            line = process.communicate(timeout=LIMIT)[0].split()
        except subprocess.TimeoutExpired:
            return {"failed": "still running after %d s" % LIMIT}
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if len(line) != 6:
            return {"failed": "not measured"}
        if line[0] != "0":
            err.seek(0)
            return {"failed": "status %s %s" % (line[0], " ".join(err.read().split())[-200:])}
        run = {"cpu": float(line[1]) + float(line[2]), "wall": float(line[3]), "rss": int(line[4]),
               "maxrss": int(line[5]), "started": round(started, 3),
               "took": round(time.monotonic() - started, 3)}
        if workload.work:
            done = re.search(workload.work, out.read())
            if not done:
                return {"failed": "no match of %r in its output" % workload.work}
            count = float(done[1]) * (1e6 if done[0].endswith("M") else 1)
            run["cpu"] /= count / 1e7
            run["wall"] /= count / 1e7
        if workload.idle:
            peak, end = (int(x) for x in out.read().split())
            run["kept"] = end / peak
        return run


def times(runs):
    """How often a workload runs in a round: about a second's worth, by its first runs. Short ones vary
    most, and cost least."""
    took = [run["took"] for run in runs if "took" in run]
    return max(1, min(OFTEN, int(1 / max(took)))) if took else 1


def machine():
    model = "unknown CPU"
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    return "%s, %d CPUs, Linux %s, glibc %s" % (
        model, len(os.sched_getaffinity(0)), platform.release(), platform.libc_ver()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", help="workloads from this file (see workloads.py) instead of our own")
    parser.add_argument("--own", action="store_true", help="our own as well")
    parser.add_argument("--name", default="bench", help="writes NAME.json and NAME.md under the build folder")
    options = parser.parse_args()
    build = (TOP / os.environ.get("O", "build")).resolve()
    built, rounds = build / "bench", int(os.environ.get("ROUNDS", 5))
    scale = float(os.environ.get("SCALE", 1))
    ours = os.environ.get("ALLOCATOR", str(build / "liballocprof.so"))

    found, left_out = allocators.find(ours, os.environ.get("PEERS", ""))
    chosen = []
    if options.own or not options.list:
        folder = built / ("inputs-%g" % scale)
        inputs.write(folder, scale)
        chosen += workloads.every(built, folder, TOP / "build/root", scale)
    if options.list:
        chosen += workloads.listed(options.list)
    chosen = [w for w in chosen if re.search(os.environ.get("WORKLOADS", "."), w.name)]
    left_out += ["%s: %s" % (w.name, w.missing) for w in chosen if w.missing]
    chosen = [w for w in chosen if not w.missing]
    for item in left_out:
        print("bench: left out: " + item, file=sys.stderr)
    if not chosen:
        raise SystemExit("bench: no workload left")

    results, idle = {}, {}
    masks = cpu_masks()
    order = random.Random(0)
    for number in range(rounds):
        for workload in chosen:
            if workload.idle and number:
                continue  # once: it takes ten seconds, and memory does not vary as time does
            into = idle if workload.idle else results
            by_name = into.setdefault(workload.name, {name: [] for name in found})
            for _ in range(times([runs[0] for runs in by_name.values()]) if number else 1):
                for name in order.sample(list(found), len(found)):
                    if sys.stderr.isatty():
                        print("\r\033[Kround %d/%d  %s  %s" % (number + 1, rounds, workload.name, name),
                              end="", file=sys.stderr, flush=True)
                    by_name[name].append(run_once(built, workload, found[name], masks))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)

    about = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "rounds": rounds, "scale": scale,
             "allocators": {n: allocators.version(l) for n, l in found.items() if n != "ours"},
             "left_out": left_out}
    groups = {w.name: w.group for w in chosen if not w.idle}
    text = report.markdown(about, results, idle, groups, list(found))
    (build / (options.name + ".md")).write_text(text)
    report.write_json(build / (options.name + ".json"), about, results, idle, groups, list(found))
    print(text, end="")
    # A peer that fails is the table's to tell; ours must not.
    return 1 if any("failed" in run for runs in [*results.values(), *idle.values()] for run in runs["ours"]) else 0


if __name__ == "__main__":
    sys.exit(main())
