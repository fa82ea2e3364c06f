# SPDX-License-Identifier: MIT
"""The allocators that are compared: ours, glibc's, and the peers that this machine has.

As a program, prints name and library of each: allocators.py OURS ["NAME=PATH ..."]
"""
import ctypes.util
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


def find(ours, wanted=""):
    """Returns {name: library}, glibc first and ours last, and what was left out and why.

    `wanted` is a list of NAME=PATH, as in PEERS; one that does not work is an error.
    """
    found, left_out = {"glibc": GLIBC}, []
    given = dict(item.split("=", 1) for item in wanted.split())
    for name, soname in DEBIAN.items():
        if name in given:
            continue
        if ctypes.util._findSoname_ldconfig(soname[3:].split(".so")[0]):
            found[name] = soname
        else:
            left_out.append("%s: %s is not installed" % (name, soname))
    found.update({name: os.path.abspath(path) for name, path in given.items() if path})
    found["ours"] = os.path.abspath(ours)
    for name, library in list(found.items()):
        # ld.so goes on without a library that it cannot preload: that would measure glibc.
        file = file_of_malloc(library)
        if os.path.basename(file).split(".so")[0] != os.path.basename(
                os.path.realpath(library)).split(".so")[0]:
            raise SystemExit("bench: %s: malloc does not come from %s but from %s"
                             % (name, library, file or "nowhere: nothing runs under it"))
        if name != "ours":
            found[name] = file
    return found, left_out


if __name__ == "__main__":
    for name, library in find(*sys.argv[1:3])[0].items():
        print(name, library, sep="\t")
