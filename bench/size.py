#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""size.py BUILD [CLOCKS MESSAGES] - processor time of `sync` against clocks and messages

Message tables of clocks that talk at random, as stars, as chains, as noise, of one that is set often and of one that is set
once amid noise are made in a folder of their
own, or in --keep DIR, and are then put on one clock. Without numbers the shapes that cost
most, and a table: clocks from 10 to 30,000, messages from 1e3 to 1e7. Time is user and system
time of one run, in seconds; the third column is that over messages times log2 of messages, in
microseconds.
"""
import argparse, math, os, random, resource, subprocess, tempfile

START = 1700000000 * 10**9
SECONDS = 600
HEADER = "sender,receiver,sent_ns,received_ns\n"


def clocks(draw, n):
    """Offset in ns and drift of each; the first is true."""
    return [(0, 0.0)] + [(draw.randrange(-10**9, 10**9), draw.uniform(-2e-5, 2e-5))
                         for _ in range(n - 1)]


def shows(clock, t):
    return START + t + clock[0] + int(t * clock[1])


def message(draw, clock, a, b, t):
    """Half a millisecond, and as much again on average."""
    arrives = t + 500000 + int(draw.expovariate(1 / 500000))
    return "c%d,c%d,%d,%d\n" % (a, b, shows(clock[a], t), shows(clock[b], arrives))


def pairs(draw, n, messages):
    """A tree, so that all are tied, and as many pairs as have some ten messages each."""
    tied = [(draw.randrange(i), i) for i in range(1, n)]
    while len(tied) < min(messages // 10, 10 * n, n * (n - 1) // 2):
        a, b = draw.randrange(n), draw.randrange(n)
        if a != b:
            tied.append((a, b))
    return tied


def among(path, tied, n, messages):
    draw = random.Random(1)
    clock = clocks(draw, n)
    tied = tied(draw, n, messages)
    with open(path, "w") as f:
        f.write(HEADER)
        for i in range(messages):
            a, b = tied[i // 2 % len(tied)] if i < 2 * len(tied) else draw.choice(tied)
            a, b = (a, b) if i % 2 else (b, a)
            f.write(message(draw, clock, a, b, draw.randrange(SECONDS * 10**9)))


def graph(path, n, messages):
    among(path, pairs, n, messages)


def star(path, n, messages):
    among(path, lambda draw, n, messages: [(0, i) for i in range(1, n)], n, messages)


def chain(path, n, messages):
    among(path, lambda draw, n, messages: [(i - 1, i) for i in range(1, n)], n, messages)


def noise(path, n, messages):
    """Stamps of every second message have nothing to do with one another."""
    draw = random.Random(1)
    clock = clocks(draw, n)
    with open(path, "w") as f:
        f.write(HEADER)
        for i in range(messages):
            a, b = draw.sample(range(n), 2)
            sent = draw.randrange(SECONDS * 10**9)
            got = sent if i % 2 else draw.randrange(SECONDS * 10**9)
            f.write("c%d,c%d,%d,%d\n" % (a, b, shows(clock[a], sent), shows(clock[b], got + 10**6)))


def often(path, n, messages):
    """Two clocks, of which the second is set by 20 to 300 ms, back or forward, every 20 messages."""
    draw = random.Random(1)
    at = now = 0
    with open(path, "w") as f:
        f.write(HEADER)
        for i in range(messages):
            if i % 20 == 10:
                at += draw.choice([-1, 1]) * draw.randrange(20 * 10**6, 300 * 10**6)
            now += int(draw.expovariate(1 / 50e6))
            there = [START + now, START + now + at]
            back = [t + 500000 + int(draw.expovariate(1 / 500000)) for t in there[::-1]]
            a, b = (0, 1) if draw.random() < 0.5 else (1, 0)
            f.write("c%d,c%d,%d,%d\n" % (a, b, there[a], back[a]))


def step(path, n, messages):
    """Two clocks, of which the second is set back by a tenth of the time; each 20th message is wrong by 50 ms, and rows are in no order."""
    draw = random.Random(1)
    length = messages * 55 * 10**6
    rows, now = [], 0
    for i in range(messages):
        now += 50 * 10**6 + draw.randrange(10**7)
        at = -length // 10 if i >= messages // 2 else 0
        wrong = 50 * 10**6 if i % 20 == 7 else 0
        arrives = now + 100000 + int(draw.expovariate(1 / 200000))
        if i % 2 and not wrong:
            rows.append("c1,c0,%d,%d\n" % (START + now + at, START + arrives))
        else:
            rows.append("c0,c1,%d,%d\n" % (START + now + wrong, START + arrives + at))
    draw.shuffle(rows)
    with open(path, "w") as f:
        f.write(HEADER)
        f.writelines(rows)


def cpu(*command):
    """User and system seconds, peak MB, exit status."""
    null = subprocess.DEVNULL
    child = subprocess.Popen(command, stdout=null, stderr=null)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def measure(unskew, folder, name, make, n, messages, *options):
    path = os.path.join(folder, "%s-%d-%d.csv" % (name, n, messages))
    if not os.path.exists(path):
        make(path, n, messages)
    spent, peak, status = cpu(unskew, "sync", "-q", path, *options)
    print("%-7s %7d clocks %9d messages %9.2f s %8.3f us %7.0f MB  status %d" % (
        name, n, messages, spent, 1e6 * spent / messages / math.log2(messages), peak, status),
        flush=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("clocks", type=int, nargs="?")
    parser.add_argument("messages", type=int, nargs="?")
    parser.add_argument("--shape", choices=["graph", "star", "chain", "noise", "often", "step"], default="graph")
    parser.add_argument("--keep")
    o = parser.parse_intermixed_args()
    unskew = os.path.join(o.build, "unskew")
    with tempfile.TemporaryDirectory() as own:
        folder = o.keep or own
        if o.clocks:
            measure(unskew, folder, o.shape, globals()[o.shape], o.clocks, o.messages or 90000)
            return
        measure(unskew, folder, "graph", graph, 3000, 90000)
        measure(unskew, folder, "star", star, 20000, 120000)
        measure(unskew, folder, "chain", chain, 2000, 20000)
        measure(unskew, folder, "noise", noise, 2, 90000, "--max-outliers", "90000")
        measure(unskew, folder, "often", often, 2, 160000)
        measure(unskew, folder, "step", step, 2, 160000, "--max-outliers", "160000")
        for messages in (10**3, 10**4, 10**5, 10**6, 10**7):
            for n in (10, 100, 1000, 10000, 30000):
                if 2 * n <= messages:
                    path = measure(unskew, folder, "graph", graph, n, messages)
                    if not o.keep:
                        os.remove(path)


if __name__ == "__main__":
    main()
