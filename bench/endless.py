#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""endless.py BUILD GB... - sync of a pair of captures that are made while they are read: seconds and memory

Each GB is 10^9 bytes of both captures together, a message a 112 bytes in each. No disk has to hold them: endless.c is
preloaded. What making them takes is measured beside it, by a program that only reads the first GB of each.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time


READ = """import os, sys
for name in sys.argv[1:]:
    fd, at = os.open(name, os.O_RDONLY), 0
    while at < 10**9 and (n := len(os.pread(fd, 1 << 20, at))):
        at += n
"""


def run(library, *args):
    """(seconds, processor seconds, MB at most)"""
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.Popen(args, env={**os.environ, "LD_PRELOAD": library}, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    if status:
        sys.exit(f"{args[0]}: status {status}")
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main():
    build, sizes = os.path.abspath(sys.argv[1]), [float(x) for x in sys.argv[2:]]
    library = os.path.join(build, "bench", "libendless.so")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for gb in sizes:
            for side, name in enumerate(("a", "b")):
                with open(f"{name}.endless", "w", encoding="ascii") as f:
                    f.write(f"{side} {int(gb * 10**9 / 2)}\n")
            sync = run(library, os.path.join(build, "unskew"), "sync", "-q", "a.endless", "b.endless", "-o", "c.json", "--force")
            made = run(library, sys.executable, "-c", READ, "a.endless", "b.endless")
            print(f"{gb:g} GB: {sync[0]:.1f} s, {sync[0] / gb:.3f} s a GB, {sync[1] / gb:.3f} s of processor time a GB, of which "
                  f"{2 * made[1] / min(gb, 2):.3f} to make it twice; {sync[2]:.0f} MB", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
