#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rotated.py UNSKEW [--count N] [--seed S] [--jobs J]: traces in several files, of clocks that were set back.

In    nothing: clocks of constant rates, some of which are stepped backward and forward; messages between them
Out   cases in which `apply` writes a stamp of which no band holds the truth, or that are refused for no such reason
Why   a stamp that a clock shows twice belongs where its file was recorded, and a file is often a part of a recording
Not   which epoch a stamp is in by number: where a fall is not seen by the order of records, answers have fewer epochs

Captures are rotated in time, or were made side by side, by several interfaces; tables of messages and of events are cut
likewise, at any moment or where a clock was stepped. Each written stamp is held against the truth by the band of the
epoch that gives this very stamp. Shares nothing with the simulator. A case is made by its seed alone; --keep FOLDER
writes those that fail.
"""

import collections
import csv
import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
from asked import in_folder, joined, run, trials

E12 = 10**12
SECOND = 10**9
START = 1_700_000_000 * SECOND
UNSURE = ("nothing tells whether", "no chain of messages connects", "so its stamps cannot", "corrects none of its", "rows are in no order that does")
PARTS = ("captures", "interfaces", "messages", "events")  # that part takes


class Clock:
    """A constant rate, and steps [(true time, size)]."""

    def __init__(self, rng, name, span, steps):
        self.name, self.span, self.tick = name, span, 1
        self.rate = rng.randint(-50_000_000, 50_000_000)
        self.base = START + rng.randint(-(10**9), 10**9)
        self.steps = sorted(steps)

    def exact(self, t):
        return self.base + t + t * self.rate // E12 + sum(by for at, by in self.steps if at <= t)

    read = exact


def steps(rng, span, delay, records):
    """So large that messages show them; near the ends and each other where packets tell records from others that are late."""
    out, slots = [], 20 if records else 8
    for i in rng.sample(range(slots), rng.choice([1, 1, 2, 3, 4, 6] if records else [1, 1, 1, 2, 3])):
        size = int(math.exp(rng.uniform(math.log(30 * delay), math.log(3 * span))))
        begin = span // 400 if records else span // 10
        out.append((begin + (span - 2 * begin) * i // slots + rng.randint(0, span // 3 // slots), -size if rng.random() < 0.8 else size))
    return out


class Case:
    FORMS = ("captures", "captures", "messages", "events", "interfaces")

    def __init__(self, seed, whole=False):
        rng, self.rng, self.whole = random.Random(seed), random.Random(f"{seed} files"), whole
        self.span = rng.choice([10, 60, 600, 7200]) * SECOND
        self.delay = 10 ** rng.choice([4, 5, 6])
        names = ["a", "b", "c", "d", "e", "f"][: rng.choice([2, 2, 3, 4, 6])]
        stepped = set(rng.sample(names, rng.choice([0, 1, 1, 1, 1, 1 if len(names) == 2 else 2])))
        self.form = rng.choice(self.FORMS)
        records = self.form in ("captures", "interfaces")
        self.clocks = {n: Clock(rng, n, self.span, steps(rng, self.span, self.delay, records) if n in stepped else []) for n in names}
        self.reference = rng.choice([n for n in names if n not in stepped])
        self.moments = sorted(t for c in self.clocks.values() for t, _ in c.steps)
        pairs = [(names[i], names[j]) for j in range(len(names)) for i in range(j) if j == i + 1 or rng.random() < 0.5]
        # Where no clock is set, queues fill now and then.
        self.queues = {n: rng.randint(10, 1000) * self.delay for n in names} if not any(c.steps for c in self.clocks.values()) else {}
        self.rows = []
        for a, b in pairs:
            # Some talk all the time, others for a while.
            begin, end = (0, self.span) if rng.random() < 0.7 else sorted(rng.sample(range(self.span), 2))
            for _ in range(rng.choice([200, 500, 1000])):
                t = rng.randint(begin, end)
                x, y = (a, b) if rng.random() < 0.5 else (b, a)
                self.rows.append((t, x, y, t + self.delay + int(rng.expovariate(1 / self.delay)) + self.waits(y, t)))
        # By sending or by receipt, each row for itself.
        self.rows.sort(key=lambda r: r[rng.choice([0, 3])])
        for c in self.clocks.values():
            # Order shows only what some stamps fall together with, that of rows not right after a step forward; messages only
            # what no wander takes their clocks apart by.
            few = 24 * self.span // max(1, sum(c.name in r[1:3] for r in self.rows))
            c.steps = [(t, by) for t, by in c.steps if abs(by) >= few // 50_000 and (by > 0 or -by >= (few // 3 if records else few))]
            c.steps = [s for i, s in enumerate(c.steps) if not i or records or s[0] - c.steps[i - 1][0] >= few]
        self.truth = {}  # of a file: [(clock, what it showed, true time)] in the order of its records

    def waits(self, to, t):
        full = self.queues.get(to, 0)
        return self.rng.randint(full // 2, full) if full and t * 10 // self.span % 3 == ord(to) % 3 else 0

    def cut(self, records):
        """One file, several in time, or some side by side. records begin with their true time."""
        rng, n = self.rng, len(records)
        kind = rng.choice(["whole", "rotated", "rotated", "beside", *["many"] * (self.form == "messages")])
        if self.whole or kind == "whole" or n < 4:
            return [records]
        if kind == "beside":
            lanes = rng.choice([2, 3])
            weights = [rng.choice([1, 1, 10]) for _ in range(lanes)]
            of = rng.choices(range(lanes), weights, k=n)
            return [p for p in ([r for r, o in zip(records, of) if o == lane] for lane in range(lanes)) if p]
        places = {0, n}
        for _ in range(n // rng.randint(8, 40) if kind == "many" else rng.choice([1, 1, 2, 4])):
            near = self.moments and rng.random() < 0.4
            places.add(sum(r[0] < rng.choice(self.moments) for r in records) if near else rng.randint(1, n - 1))
        places = sorted(places)
        return [records[a:b] for a, b in zip(places, places[1:])]

    def sightings(self):
        index = {n: i for i, n in enumerate(self.clocks)}
        address = {n: bytes([10, 0, 0, i + 1]) for n, i in index.items()}
        seen = collections.defaultdict(list)
        for number, (t, a, b, u) in enumerate(self.rows):
            data = forms.packet(number, index[a], address[a], address[b])
            seen[a].append((t, data))
            seen[b].append((u, data))
        return seen, [x for n in self.clocks for x in ("--local", f"{n}={'.'.join(map(str, address[n]))}")]

    def captures(self):
        seen, more = self.sightings()
        out = []
        for n, c in self.clocks.items():
            for i, part in enumerate(self.cut(sorted(seen[n]))):
                path = f"{n}-{i}.pcap"
                forms.pcap(path, c, part)
                self.truth[path] = [(n, c.read(t), t) for t, _ in part]
                out.append(f"{n}={path}")
        return out, more

    def interfaces(self):
        """Two clocks in a file, each of which stamps what comes by one interface."""
        seen, more = self.sightings()
        out, names = [], list(self.clocks)
        while names:
            those = [names.pop() for _ in range(min(2, len(names)))]
            mixed = sorted((t, n, data) for n in those for t, data in seen[n])
            for i, part in enumerate(self.cut(mixed)):
                name = f"{'-'.join(those)}-{i}"
                path = name + ".pcapng"
                forms.pcapng(path, self.clocks, those, part)
                self.truth[path] = [(n, self.clocks[n].read(t), t) for t, n, _ in part]
                out.append(path)
                more += [x for n in those for x in ("--clock-of", f"{name}/{n}={n}")]
        return out, more

    def messages(self):
        out = []
        for i, part in enumerate(self.cut(self.rows)):
            path = f"messages{i}.csv"
            rows = [(a, b, self.clocks[a].read(t), self.clocks[b].read(u)) for t, a, b, u in part]
            forms.table(path, ["sender", "receiver", "sent_ns", "received_ns"], rows)
            self.truth[path] = [x for (t, a, b, u), r in zip(part, rows) for x in ((a, r[2], t), (b, r[3], u))]
            out.append(path)
        return out, []

    def events(self):
        out = []
        for n, c in self.clocks.items():
            seen = [(t, "send", i) for i, (t, a, _, _) in enumerate(self.rows) if a == n]
            seen += [(u, "recv", i) for i, (_, _, b, u) in enumerate(self.rows) if b == n]
            for i, part in enumerate(self.cut(sorted(seen))):
                path = f"events-{n}-{i}.csv"
                forms.table(path, ["clock", "time_ns", "kind", "id"], ((n, c.read(t), kind, k) for t, kind, k in part))
                self.truth[path] = [(n, c.read(t), t) for t, _, _ in part]
                out.append(path)
        return out, []

    def write(self):
        traces, more = getattr(self, self.form)()
        self.rng.shuffle(traces)
        return traces, more

    def stamps(self, path):
        """Those of a file, in the order of its records."""
        if path.endswith(".csv"):
            return columns(path, ("sent_ns", "received_ns", "time_ns"))
        out = []
        with open(path, "rb") as f:
            data = f.read()
        if path.endswith(".pcapng"):
            return forms.pcapng_stamps(data)
        at = 24
        while at < len(data):
            sec, ns, size = struct.unpack_from("<III", data, at)
            out.append(sec * SECOND + ns)
            at += 16 + size
        return out


def columns(path, names):
    """Those of a table, row by row."""
    with open(path, newline="", encoding="ascii") as f:
        rows = list(csv.DictReader(f))
    return [int(r[k]) for r in rows for k in names if k in r]


def some(rng, records):
    """The first and last ones, those where time falls or leaps, and any."""
    n = len(records)
    pick = {0, 1, 2, n - 1, n - 2} | {rng.randrange(n) for _ in range(10)}
    for i in range(1, n):
        if abs(records[i][1] - records[i - 1][1]) > abs(records[i][2] - records[i - 1][2]) * 2 + 1000:
            pick |= {i - 1, i}
    return sorted(p for p in pick if 0 <= p < n)[:60]


def bands(unskew, answer, asked):
    """By stamp of a clock, the estimate and bounds in each epoch: {(name, stamp): [(middle, lo, hi)]}."""
    out = collections.defaultdict(list)
    for e in answer["clocks"]:
        mine = sorted(x for n, x in asked if n == e["name"])
        if not mine:
            continue
        n_epochs = 1 + max((int(k.get("epoch", 0)) for k in e["knots"]), default=0)
        for epoch in range(n_epochs):
            more = ["--epoch", str(epoch)] if n_epochs > 1 else []
            r = run(unskew, "convert", "clocks.json", *more, "--", *(f"{e['name']}:{x}" for x in mine))
            lines = r.stdout.splitlines()
            if len(lines) != len(mine):
                raise AssertionError(f"convert refuses what sync wrote: {r.stderr[:200]}")
            for x, line in zip(mine, lines):
                out[e["name"], x].append(tuple(None if f == "-" else int(f) for f in line.split("\t")[1:4]))
    return out


def in_bracket(jump, x):
    """Of a step that messages show the answer tells no bound in its bracket."""
    after, before = int(jump["after_local_ns"]), int(jump["before_local_ns"])
    return after <= x <= before if jump.get("epoch") == jump.get("end_epoch") else x >= after or x <= before


def unseen(case, fit):
    """[(begin, end)] between steps of a clock of which too few messages between these clocks tell: it sent and received some before
    and after each that is known."""
    out = []
    for n in fit:
        edges = [-math.inf, *(t for t, _ in case.clocks[n].steps), math.inf]
        for begin, end in zip(edges, edges[1:]):
            sent = sum(a == n and b in fit and begin < t < end for t, a, b, _ in case.rows)
            received = sum(b == n and a in fit and begin < u < end for _, a, b, u in case.rows)
            if len(edges) > 2 and min(sent, received) < 4:
                out.append((begin, end))
    return out


def hold(unskew, case, answer, traces):
    """How many written stamps were held against the truth."""
    reference = case.clocks[case.reference]
    fit = {e["name"] for e in answer["clocks"] if e["quality"] in ("bounded", "reference") and
           case.reference in (e["name"], e.get("reference"))}
    without = unseen(case, fit)
    written = []
    for path in (t.split("=")[-1] for t in traces):
        now, records = case.stamps(os.path.join("now", path)), case.truth[path]
        now = now or [None] * len(records)
        if len(now) != len(records):
            raise AssertionError(f"{path}: {len(records)} stamps became {len(now)}")
        written += [(path, *records[i], now[i]) for i in some(case.rng, records) if records[i][0] in fit]
    jumps = {e["name"]: [j for j in e["jumps"] if j["kind"] == "jump"] for e in answer["clocks"]}
    written = [w for w in written if not any(in_bracket(j, w[2]) for j in jumps[w[1]]) and
               not any(begin < w[3] < end for begin, end in without)]
    known = bands(unskew, answer, {(n, x) for _, n, x, _, _ in written})
    for path, name, x, t, now in written:
        those = [b for b in known[name, x] if now in (None, b[0])]
        true, tick = reference.exact(t), case.clocks[name].tick - 1
        if not those:
            raise AssertionError(f"{path}: apply writes {now} for {name}:{x}, convert says {known[name, x]}")
        if not any((lo is None or lo - 2 <= true) and (hi is None or true <= hi + 2 + tick) for _, lo, hi in those):
            raise AssertionError(f"{path}: {name}:{x} became {now}, truth {true}, band {those}, {t / SECOND} s after the start")
    return len(written)


def judge(unskew, case):
    """Why it failed, how many stamps were held against the truth; None: the program cannot tell the order of some."""
    traces, more = case.write()
    r = run(unskew, "sync", *traces, *more, "--reference", case.reference, "-o", "clocks.json", "--json", "--force")
    if r.returncode not in (0, 3):
        raise AssertionError(f"refused: {r.stderr.strip()[:200]}")
    answer = json.loads(r.stdout)
    os.mkdir("now")
    one = "/" + traces[0].split("=")[-1] if len(traces) == 1 else ""
    if case.form != "tracecmd":  # which nobody writes anew
        a = run(unskew, "apply", "clocks.json", *traces, "-o", "now" + one, "--force", "--allow-unbounded")
        if a.returncode not in (0, 3):
            if not any(u in a.stderr for u in UNSURE):
                raise AssertionError(f"apply: {a.stderr.strip()[-200:]}")
            return "", None
    if any("is left out" in note for note in answer["notes"]):
        if not case.moments:
            raise AssertionError(f"no clock was set: {answer['notes']}")
        hold(unskew, case, answer, traces)
        return "", None
    if case.form in PARTS and case.rng.random() < 0.2:
        joined(unskew, traces, [*more, "--reference", case.reference])
    return "", hold(unskew, case, answer, traces)


def one(args):
    """With the same records in one file of each clock wrong, too: the step is one that messages do not show."""
    kind, unskew, keep, seed, _ = args
    folder = keep and os.path.join(keep, str(seed))
    why, held = in_folder(judge, unskew, kind(seed), folder, (0,))
    hidden = bool(why) and bool(in_folder(judge, unskew, kind(seed, True), folder and folder + "-one", (0,))[0])
    if hidden:
        print(f"seed {seed}: by one file, too: {why}", flush=True)
    return seed, not hidden and why, held or 0, held is None, hidden


def main(kind=Case, refusing=6):
    """refusing: of so many cases the program may refuse one, and be wrong of one by one file of each clock, too."""
    return trials(kind, 60, "stamps held against the truth", "cases were refused", "were wrong by one file of each clock, too", one=one,
                  wrong=lambda count, held, refused, hidden: max(refused, hidden) > 2 + count // refusing)


if __name__ == "__main__":
    sys.exit(main())
