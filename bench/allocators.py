# SPDX-License-Identifier: MIT
"""The allocators that are compared: ours, glibc's, and the peers that this machine has.

As a program, prints name and library of each: allocators.py OURS ["NAME=PATH ..."]
"""
import os
import subprocess
import sys

# What Debian's packages libmimalloc2.0, libjemalloc2 and libtcmalloc-minimal4 install.
DEBIAN = {
    "mimalloc": "libmimalloc.so.2",
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}
# As a library to preload, so that it also comes before another that a program is linked with:
# Debian's redis-server is with jemalloc.
GLIBC = "libc.so.6"

WHOSE = """
import ctypes
at = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
for line in open("/proc/self/maps"):
    low, high = (int(x, 16) for x in line.split()[0].split("-"))
    if low <= at < high:
        print(line.split(None, 5)[5].strip())
"""


def file_of_malloc(library):
    """Which file malloc comes from with the library preloaded; "" if nothing runs under it."""
    run = subprocess.run([sys.executable, "-S", "-c", WHOSE], capture_output=True, text=True,
                         env={**os.environ, "LD_PRELOAD": library})
    return run.stdout.strip() if run.returncode == 0 else ""


def version(path):
    """The Debian package that the file belongs to, with its version, or else the path."""
    real = os.path.realpath(path)
    for name in (path, real, real.replace("/usr/lib/", "/lib/", 1)):
        owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if owner.returncode == 0:
            package = owner.stdout.split(":")[0]
            return subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}", package],
                                  capture_output=True, text=True).stdout.split("\n")[0]
    return path


def stem(path):
    """`libx` of every name that a library has: libx.so, libx.so.2, libx.so.2.1."""
    return os.path.basename(os.path.realpath(path)).split(".so")[0]


def find(ours, wanted=""):
    """Returns {name: library}, glibc first and ours last, and what was left out and why.

    `wanted` is a list of NAME=PATH, as in PEERS; one that does not work is an error. NAME= leaves
    one of Debian's out.
    """
    found, left_out = {}, []
    given = dict(item.split("=", 1) for item in wanted.split())
    given = {**{name: soname for name, soname in DEBIAN.items() if name not in given}, **given}
    for name, library in [("glibc", GLIBC), *given.items(), ("ours", ours)]:
        if not library:
            continue
        if "/" in library:
            library = os.path.abspath(library)
        # ld.so goes on without a library that it cannot preload: that would measure glibc.
        file = file_of_malloc(library)
        if stem(file) == stem(library):
            found[name] = library if name == "ours" else file
        elif name in DEBIAN and "/" not in library:
            left_out.append("%s: %s is not installed" % (name, library))
        else:
            raise SystemExit("bench: %s: malloc does not come from %s but from %s"
                             % (name, library, file or "nowhere: nothing runs under it"))
    return found, left_out


if __name__ == "__main__":
    for name, library in find(*sys.argv[1:3])[0].items():
        print(name, library, sep="\t")
