#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""against.py OLD NEW [--only CASE] [--times N] - what two unskew programs cost, in one run

Both synchronise the same traces, which NEW simulates, by turns: a machine that does other things
too slows down both alike. Processor time, the system's included, is the best of N (default 3); of
memory the least peak counts. Exits with 1 if NEW takes more of either than OLD.
"""
import argparse, os, shutil, subprocess, sys, tempfile

TABLE = ["--format", "table"]
MESH = TABLE + ["--hosts", "50", "--topology", "mesh", "--seconds", "1000", "--rate", "0.40816"]
CASES = {  # what is simulated, and how it is synchronised
    "captures": (["--seconds", "1000", "--packets", "1000000", "--snaplen", "96"], []),
    "week": (TABLE + ["--seconds", "604800", "--rate", "8.2672"], []),
    "thousand": (TABLE + ["--hosts", "1000", "--topology", "sparse", "--neighbours", "20",
                          "--seconds", "3600", "--rate", "0.139"], []),
    "hundreds": (TABLE + ["--hosts", "300", "--topology", "sparse", "--neighbours", "20",
                          "--seconds", "3600", "--rate", "0.139"], []),
    "mesh": (MESH, []),
    "mesh-linear": (MESH, ["--model", "linear"]),
}


def simulate(unskew, options, where):
    subprocess.run([unskew, "simulate", "-q", "-o", where, *options], check=True)
    captures = sorted(name for name in os.listdir(where) if name.endswith(".pcap"))
    return [os.path.join(where, name) for name in captures or ["messages.csv"]]


def cost(unskew, traces, options, where):
    """Seconds of processor time and peak MB of one run."""
    command = [unskew, "sync", "-q", "--force", *options, *traces, "-o",
               os.path.join(where, "clocks.json")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        sys.exit("against: failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
arguments.add_argument("old", type=os.path.abspath)
arguments.add_argument("new", type=os.path.abspath)
arguments.add_argument("--only", choices=CASES, action="append")
arguments.add_argument("--times", type=int, default=3)
given = arguments.parse_args()
dearer, last, scratch = False, None, tempfile.mkdtemp(prefix="unskew-against-")
print("%-12s %9s %9s %6s  %8s %8s %6s" % ("", "old s", "new s", "ratio", "old MB", "new MB",
                                          "ratio"))
try:
    for name in given.only or CASES:
        made, options = CASES[name]
        if made != last:
            shutil.rmtree(os.path.join(scratch, "traces"), ignore_errors=True)
            traces, last = simulate(given.new, made, os.path.join(scratch, "traces")), made
        seen = [(cost(given.old, traces, options, scratch), cost(given.new, traces, options, scratch))
                for _ in range(given.times)]
        old, new = ([min(run[i][what] for run in seen) for what in (0, 1)] for i in (0, 1))
        print("%-12s %9.2f %9.2f %6.2f  %8.0f %8.0f %6.2f"
              % (name, old[0], new[0], new[0] / old[0], old[1], new[1], new[1] / old[1]), flush=True)
        dearer = dearer or new[0] > old[0] or new[1] > old[1]
finally:
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(dearer)
