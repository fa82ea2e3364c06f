# SPDX-License-Identifier: MIT
"""What is run: our own loops (group `micro`) and real programs from Debian (group `real`)."""
import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass
class Workload:
    name: str
    group: str
    command: list
    threads: bool = False  # runs on all CPUs, not on one
    stdin: str = "/dev/null"
    env: dict = field(default_factory=dict)
    client: object = None  # called with the process, to give it work and to end it
    missing: str = ""      # why it cannot be run here
    work: str = ""         # a regex for the work done, in the output: times are for 10 M of it
    idle: bool = False     # prints its memory at the peak and at the end; takes ten seconds


# NAME: program, sub-command, N at scale 1: half a second to a second under glibc.
MICRO = {
    "fixed": ("pairs", "fixed", 80_000_000),
    "slots": ("pairs", "slots", 25_000_000),
    "batch": ("pairs", "batch", 40_000_000),
    "mixed": ("blocks", "mixed", 3_000_000),
    "aligned": ("blocks", "aligned", 5_000_000),
    "calloc": ("blocks", "calloc", 5_000_000),
    "realloc": ("blocks", "realloc", 1_000_000),
    "middle": ("blocks", "middle", 15_000),
    "large": ("blocks", "large", 800),
    "threads-slots": ("threads", "slots", 30_000_000),
    "threads-handoff": ("threads", "handoff", 5_000_000),
    "threads-free": ("threads", "free", 5_000_000),
    "threads-spawn": ("threads", "spawn", 2_000_000),
    "threads-server": ("threads", "server", 15_000_000),
    "fragment": ("phases", "fragment", 192),
    "idle": ("phases", "idle", 1024),
}

JQ = ('[.[] | select(.price > 50) | {id, tags: (.tags | sort | join("-")), name}]'
      " | group_by(.tags) | map(length)")


def micro(built, scale):
    return [Workload(name, "micro", [str(built / program), sub, str(max(1, int(n * scale)))],
                     threads=program == "threads", idle=name == "idle")
            for name, (program, sub, n) in MICRO.items()]


def interpreters(inputs):
    words = str(inputs / "words.txt")

    def script(suffix):
        return str(HERE / "words" / ("words." + suffix))

    return [
        Workload("python3", "real", ["python3", script("py"), words], env={"PYTHONMALLOC": "malloc"}),
        Workload("node", "real", ["node", script("js"), words], threads=True),
        Workload("perl", "real", ["perl", script("pl"), words]),
        Workload("ruby", "real", ["ruby", script("rb"), words]),
        Workload("lua", "real", ["lua5.4", script("lua"), words]),
        Workload("gawk", "real", ["gawk", "-f", script("awk"), words]),
    ]


def tools(inputs):
    def at(name):
        return str(inputs / name)

    return [
        Workload("gcc", "real", ["gcc", "-O2", "-c", "-o", at("gcc.o"), at("source.c")]),
        Workload("clang", "real", ["clang", "-O2", "-c", "-o", at("clang.o"), at("source.c")]),
        Workload("clang++", "real", ["clang++", "-std=c++17", "-O1", "-c", "-o", at("clangxx.o"), at("source.cc")]),
        Workload("jq", "real", ["jq", "-c", JQ, at("records.json")]),
        Workload("xmllint", "real", ["xmllint", "--xpath", "count(//record[place/@x > 50])", at("records.xml")]),
        Workload("sqlite3", "real", ["sqlite3", ":memory:"], stdin=at("sales.sql")),
        Workload("z3", "real", ["z3", "-smt2", at("pigeons.smt2")]),
    ]


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def redis(root, scale):
    """redis-server, unpacked by `.ci/deps`; its time and memory are counted, not the client's."""
    binary = root / "usr/bin/redis-server"
    libraries = str(root / "usr/lib/x86_64-linux-gnu")
    port = str(free_port())
    env = {"LD_LIBRARY_PATH": libraries}

    def tool(name, *args):
        return subprocess.run([str(root / "usr/bin" / name), "-p", port, *args], check=False,
                              env={**os.environ, **env}, capture_output=True, text=True)

    def client(server):
        while tool("redis-cli", "ping").stdout.strip() != "PONG":
            if server.poll() is not None:
                return
            time.sleep(0.02)
        for kind, size in (("set,get,lpush,lpop,sadd,hset,zadd", "100"), ("set,get", "1500")):
            tool("redis-benchmark", "-q", "-P", "16", "-c", "20", "-r", "100000", "-d", size, "-t", kind,
                 "-n", str(max(100, int(120_000 * scale))))
        tool("redis-cli", "shutdown", "nosave")

    return Workload("redis", "real", [str(binary), "--port", port, "--save", "", "--dir", "/"],
                    env=env, client=client)


def every(built, inputs, root, scale):
    found = micro(built, scale) + interpreters(inputs) + tools(inputs) + [redis(root, scale)]
    for workload in found:
        if not shutil.which(workload.command[0]):
            workload.missing = "%s is not installed" % workload.command[0]
    return found


def listed(path):
    """Workloads of a file: lines of name, `one` or `all` (CPUs), standard input, `work` or -, and
    the command's words, with tabs between them."""
    found = []
    for line in Path(path).read_text().splitlines():
        name, cpus, stdin, work, *command = line.split("\t")
        found.append(Workload(name, "external", command, threads=cpus == "all", stdin=stdin,
                              work="" if work == "-" else work,
                              missing="" if shutil.which(command[0]) else command[0] + " is not there"))
    return found
