# SPDX-License-Identifier: MIT
"""Runs inside gdb, attached to a corpus program: prints the stack at each hit of the alloc probe.

One line a stack, leaf first, of FILE+OFFSET where FILE is the mapped file and OFFSET is in it. Of a
caller it is the byte before the return address, as in a profile. Lets the program go by writing to
the FIFO that is its standard input, and ends when the program does.
"""
import os

import gdb


def maps(pid):
    ranges = []
    with open(f"/proc/{pid}/maps") as lines:
        for line in lines:
            fields = line.split(None, 5)
            if "x" not in fields[1]:
                continue
            start, end = (int(x, 16) for x in fields[0].split("-"))
            path = os.path.basename(fields[5].strip()) if len(fields) > 5 else "[anon]"
            ranges.append((start, end, int(fields[2], 16), path))
    return ranges


def place(ranges, address):
    for start, end, offset, path in ranges:
        if start <= address < end:
            return f"{path}+{address - start + offset:#x}"
    return None


def stack(pid):
    ranges = maps(pid)
    frame, exact, places = gdb.newest_frame(), True, []
    while frame is not None:
        # A tail call has left no frame on the stack: gdb makes one up.
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            at = place(ranges, frame.pc() - (0 if exact else 1))
            # Beyond the start of a coroutine gdb goes on, with what is no code.
            if at is None:
                break
            places.append(at)
            exact = frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()
    return ";".join(places)


for command in (
    "set pagination off",
    "set confirm off",
    "set backtrace past-main on",
    "set backtrace limit unlimited",
    "set print thread-events off",
    "handle all nostop noprint pass",
    "break -probe-stap otel_memory:alloc",
):
    gdb.execute(command, to_string=True)
pid = gdb.selected_inferior().pid
with open(os.environ["STACKS"], "w") as out:
    with open(os.environ["INPUT"], "w") as fifo:
        fifo.write("\n")
    while True:
        gdb.execute("continue", to_string=True)
        if not gdb.selected_inferior().pid:
            break
        print(stack(pid), file=out)
