#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""logged.py UNSKEW [--count N] [--seed S] [--jobs J]: clocks with logs of their own, held against the truth.

In    nothing: raw clocks of constant rates, wall clocks that are slewed and stepped, their logs, messages in any form
Out   cases whose band leaves the truth out, whose estimate is outside its band, of which `before` says what is not so,
      or that are refused
Why   a band by a log is only as good as what is known of a clock between two lines of it
Not   slews there and back between two lines, which no log shows (doc/guarantees.md)

Shares nothing with the simulator. A clock does what kernels let daemons do: frequency changes that it tells, slews one
way that it does not tell (adjtime, a phase lock that decays), steps that wake the logger and some that do not. Lines
are a second apart or late, or lack for a while, their readings wide or narrow; logs are of all clocks or of some, of all
the time or of a part, outside of which nothing happens; messages may be of less time than logs. Traces are drawn (forms.py), and
models, methods, minimum delays, anchors, a stretch of time; what --messages writes are messages, and parts give the
same answer. A case is made by its seed alone; --keep FOLDER writes those that fail.
"""

import bisect
import collections
import csv
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
from asked import joined, order, run, trials

E12 = 10**12
SECOND = 10**9
START = 1_700_000_000 * SECOND


class Clock:
    """Straight pieces (true time, what it shows, gain in 10^-12, what the kernel tells of it), and steps between them."""

    def __init__(self, rng, name, span, logged):
        self.name, self.span, self.logged = name, span, logged
        self.raw_rate = rng.randint(-30_000_000, 30_000_000)
        self.raw_base = rng.randint(0, 10**15)
        self.tick = rng.choice([1, 1, 1, 1000])
        self.covers = (0, span)
        if logged and rng.random() < 0.25:
            self.covers = rng.choice([(span // 3, span), (0, span * 2 // 3), (span // 4, span * 3 // 4)])
        self.tells = rng.random() < 0.8
        told = rng.choice([0, rng.randint(-40_000_000, 40_000_000)])
        self.pieces = [(0, START + rng.randint(-(10**10), 10**10), told, told)]
        self.steps = []  # (true time, size)
        if logged:
            self.live(rng, told)
        self.at = [p[0] for p in self.pieces]

    def go(self, t, gain, told, step=0):
        shown = self.exact(t) + step
        self.pieces.append((t, shown, gain, told))

    def live(self, rng, told):
        """Something every few seconds, each over before the next begins."""
        pace = rng.choice([3, 10, 60]) * SECOND
        kinds = rng.choice([["told"], ["told", "slew"], ["told", "slew", "lock", "step"], ["step"], ["told", "step"]])
        if not self.tells and self.covers != (0, self.span):
            kinds = ["step"]  # else nothing says how it goes on where no line is
        t = self.covers[0] + rng.randint(2 * SECOND, pace * 2)
        while t < self.covers[1] - 20 * SECOND:
            self.at = [p[0] for p in self.pieces]
            kind, size = rng.choice(kinds), rng.choice([-1, 1]) * int(10 ** rng.uniform(3, 8.5))
            if kind == "told":
                told = max(-(10**8), min(10**8, told + size))
                self.go(t, told, told)
            elif kind == "slew":
                self.go(t, told + size, told)
                t += int(10 ** rng.uniform(6, 10.2))
                self.at = [p[0] for p in self.pieces]
                self.go(t, told, told)
            elif kind == "lock":
                for _ in range(12):
                    self.go(t, told + size, told)
                    size, t = size * 3 // 4, t + SECOND
                    self.at = [p[0] for p in self.pieces]
                self.go(t, told, told)
            elif len(self.steps) < 4:
                by = rng.choice([-1, 1]) * int(10 ** rng.uniform(2, 9.7))
                if rng.random() < 0.3 and "told" in kinds:  # with its frequency, as ntpd and chrony do
                    told = max(-(10**8), min(10**8, told + size))
                self.go(t, told, told, by)
                self.steps.append((t, by))
            t += 2 * SECOND + rng.randint(0, pace * 2)

    def exact(self, t):
        """What it shows at true time t, down to whole ns."""
        i = max(bisect.bisect_right(self.at, t) - 1, 0) if len(self.pieces) > 1 else 0
        t0, shown, gain, _ = self.pieces[i]
        return shown + (t - t0) * (E12 + self.raw_rate) * (E12 + gain) // (E12 * E12)

    def read(self, t):
        return self.exact(t) // self.tick * self.tick

    def goes_back(self):
        return any(by < 0 for _, by in self.steps)

    def raw(self, t):
        return self.raw_base + t + t * self.raw_rate // E12

    def told(self, t):
        return self.pieces[max(bisect.bisect_right(self.at, t) - 1, 0)][3]

    def with_hole(self, rng, moments):
        """Without the lines of a time in which nothing happens, now and then."""
        at = [*self.at, self.span]
        calm = [(a + 2 * SECOND, b - 2 * SECOND) for a, b in zip(at, at[1:]) if b - a > 12 * SECOND]
        if not calm or rng.random() < 0.7:
            return moments
        a, b = rng.choice(calm)
        a = rng.randint(a, b - 6 * SECOND)
        b = min(b, a + rng.randint(4, 60) * SECOND)
        left = [m for m in moments if not a < m[0] < b]
        return left if len(left) > 10 else moments

    def write_log(self, rng, path):
        wide, late = rng.choice([30, 100, 5000]), rng.choice([0, 10**6, 9 * 10**8])
        wakes = rng.choice([True, True, False])
        first, last = self.covers[0] - SECOND * 3 // 2, self.covers[1] + 3 * SECOND
        if self.covers[0]:
            first = self.covers[0]
        if self.covers[1] < self.span:
            last = self.covers[1]
        moments, t = [(first, "")], first
        while t < last:
            t += SECOND + (rng.randint(0, late) if rng.random() < 0.1 else 0)
            moments.append((t, ""))
        for at, _ in self.steps:
            if wakes:  # a line that comes first says so, too
                woken = at + rng.randint(1000, 10**6)
                moments = [(m, "set" if at < m <= woken else event) for m, event in moments] + [(woken, "set")]
            else:
                i = bisect.bisect_right(moments, (at, "~"))
                moments[i] = moments[i][0], "set"
            moments.sort()
        moments = self.with_hole(rng, moments)
        with open(path, "w", encoding="ascii") as f:
            f.write(f"# unskew clock log, raw clock of boot {self.name}-{rng.random()}, host {self.name}\n")
            f.write("clock,before_ns,time_ns,after_ns,rate_e12,status,event\n")
            tells, before, was_set = self.tells, -1, ""
            for t, event in moments:
                event = event or was_set
                b, a = self.raw(t) - rng.randint(1, wide), self.raw(t) + rng.randint(1, wide)
                if b > before:
                    f.write(f"realtime,{b},{self.exact(t)},{a},{self.told(t) if tells else ''},{1 if tells else ''},{event}\n")
                    before, was_set = a, ""
                else:
                    was_set = event


METHODS = ["hull", "support", "regress+delta", "two-point+moved", "round-trip", "interval", "lp-rate", "min-window", "first-offset"]


def shortest(least):
    """What a message takes at least by any reference's clock."""
    return least - least // 5000 - 1


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        n, self.span = rng.choice([2, 2, 3, 4]), rng.choice([60, 200, 600]) * SECOND
        some = rng.random() < 0.3
        names = [f"h{i}" for i in range(n)]
        self.clocks = {x: Clock(rng, x, self.span, not (some and rng.random() < 0.5)) for x in names}
        self.reference = rng.choice(names)
        pairs = [(names[i], names[j]) for j in range(n) for i in range(j) if j == i + 1 or rng.random() < 0.5]
        least, mean = rng.choice([1000, 20_000, 300_000]), rng.choice([1, 1000, 100_000])
        rate, self.rows = rng.choice([1, 5, 20]), []
        for a, b in pairs:
            for _ in range(rate * self.span // SECOND):
                t = rng.randint(0, self.span)
                a, b = (a, b) if rng.random() < 0.5 else (b, a)
                self.rows.append((t, a, b, t + least + int(rng.expovariate(1 / mean))))
        self.rows.sort(key=lambda r: r[rng.choice([0, 3])])
        self.more = rng.choice([[], [], [], ["--model", "wander=1"], ["--model", "linear"], ["--min-delay", f"{shortest(least)}ns"]])

        self.least, self.window = least, (0, self.span * 2)
        self.form = rng.choice(forms.FORMS)
        if rng.random() < 0.4:  # logs go on without messages
            first, last = rng.randint(0, self.span // 2), rng.randint(self.span // 2, self.span)
            who = rng.choice(names)
            all_ = rng.random() < 0.5
            self.rows = [r for r in self.rows if first <= r[0] <= last or not (all_ or who in r[1:3])] or self.rows
        self.ask_for_more()

    def ask_for_more(self):
        """What else may be asked for, and said truly."""
        rng = self.rng
        if rng.random() < 0.3:
            self.more += ["--method", rng.choice(METHODS), "--window", rng.choice(["10s", "1min"])]
        if rng.random() < 0.15:
            self.more += ["--solve", "tree"]
        if rng.random() < 0.1 and "--model" not in self.more:
            self.more += ["--model", rng.choice(["segments=20s", "segments=auto", "wander=0.1"])]
        if rng.random() < 0.1 and "--min-delay" not in self.more:
            self.more += ["--min-delay", "@delays.csv"]
            pairs = sorted({(a, b) for _, a, b, _ in self.rows})
            forms.table("delays.csv", ["sender", "receiver", "model"], [(a, b, f"{shortest(self.least)}ns") for a, b in pairs])
        for _ in range(rng.choice([0, 0, 0, 1, 3])):
            a = self.anchor()
            self.more += ["--anchor", a] if a else []
        reference = self.clocks[self.reference]
        if rng.random() < 0.2 and not any(by < 0 for _, by in reference.steps):
            self.window = rng.randint(0, self.span // 2), rng.randint(self.span // 2, self.span)
            self.more += ["--from", str(reference.exact(self.window[0])), "--to", str(reference.exact(self.window[1]))]

    def anchor(self):
        """A true statement of when one clock showed what another one did; None: of a moment that is one of several."""
        rng = self.rng
        a, b = rng.sample(list(self.clocks.values()), 2)
        t, d = rng.randint(0, self.span), 10 ** rng.randint(1, 9)
        if any(abs(t - at) < 30 * SECOND for c in (a, b) for at, _ in c.steps):
            return None
        out = f"{a.name}@{a.exact(t)}={b.name}@{b.exact(t) + rng.randint(2 - d, d - 2)}+-{d}ns"
        return None if a.goes_back() or b.goes_back() else out

    def write(self):
        self.traces, out = forms.write(self.rng, self.clocks, self.rows, self.form)
        return out + self.write_logs()

    def write_logs(self):
        out = []
        for c in self.clocks.values():
            if c.logged:
                c.write_log(self.rng, c.name + ".clock.csv")
                out += ["--clock-log", f"{c.name}={c.name}.clock.csv"]
        return out

    def moments(self, clock):
        """Of its own messages, close to all that happened to it or to the reference, and at any time."""
        own = [t for t, a, _, _ in self.rows if a == clock.name] + [u for _, _, b, u in self.rows if b == clock.name]
        own = sorted(t for t in own if self.window[0] <= t <= self.window[1])
        if not own:
            return []
        some = self.rng.sample(own, min(len(own), 40)) + [self.rng.randint(0, self.span) for _ in range(20)]
        for c in (clock, self.clocks[self.reference]):
            events = self.rng.sample(c.at, min(len(c.at), 20)) + [t for t, _ in c.steps]
            some += [t + d * self.rng.choice([1, 10**3, 10**6, 10**8, 10**9]) * self.rng.randint(1, 9)
                     for t in events for d in (-1, 1)]
        return [t for t in some if 0 <= t <= self.span]


def falls(entry):
    return max((int(k.get("epoch", 0)) for k in entry["knots"]), default=0)


def hold(unskew, case, answer):
    """How many stamps were, and were not, held against the truth."""
    entry = {e["name"]: e for e in answer["clocks"]}
    reference = case.clocks[case.reference]
    if falls(entry[case.reference]):
        return 0, 1
    asked, skipped = [], 0
    for name, clock in case.clocks.items():
        e = entry[name]
        back = [t for t, by in clock.steps if by < 0]
        if name == case.reference or e["quality"] != "bounded" or e["reference"] != case.reference:
            continue
        if falls(e) not in (0, len(back)):
            skipped += 1
            continue
        for t in case.moments(clock):
            epoch = sum(t >= b for b in back) if falls(e) else None
            asked.append((clock, t, clock.read(t), epoch))
    groups = collections.defaultdict(list)
    for a in asked:
        groups[a[3]].append(a)
    for epoch, those in groups.items():
        more = [] if epoch is None else ["--epoch", str(epoch)]
        r = run(unskew, "convert", "clocks.json", *more, "--", *(f"{c.name}:{x}" for c, _, x, _ in those))
        lines = r.stdout.splitlines()
        if len(lines) != len(those):
            raise AssertionError(f"convert refuses what sync wrote: {r.stderr[:200]}")
        for (clock, t, x, _), line in zip(those, lines):
            local, middle, lo, hi = (None if f == "-" else int(f) for f in line.split("\t"))
            if middle is None:
                continue
            if (lo is not None and lo > middle) or (hi is not None and hi < middle):
                raise AssertionError(f"estimate outside its band: {line}")
            true = reference.exact(t)  # at most a tick after it showed exactly that
            late = clock.tick + clock.tick // 1000 if clock.tick > 1 else 0
            if (lo is not None and true < lo - 2) or (hi is not None and true > hi + 2 + late):
                raise AssertionError(f"false band: {clock.name} {line} truth {true}, {t / SECOND} s after the start")
    return len(asked), skipped


def steps_told(case, answer):
    """Of each step that is told of a clock by its log: the true one, where no other is near."""
    for e in answer["clocks"]:
        clock = case.clocks[e["name"]]
        for j in e["jumps"]:
            after, before = int(j["after_local_ns"]), int(j["before_local_ns"])
            of = case.clocks[j["of"]]
            if of is not clock and j.get("epoch") != j.get("end_epoch"):
                continue  # its own step is there, too, and stamps of both sides of that
            if j["kind"] != "jump" or "or" in j or not of.logged or after > before or None in (j["size_lo_ns"], j["size_hi_ns"]):
                continue
            # The offset falls by what the clock is set forward, and rises by what its reference is.
            by = [(clock.exact(t - 1), clock.exact(t), by if of is clock else -by) for t, by in of.steps]
            certain = [s for a, b, s in by if after <= min(a, b) and max(a, b) <= before]
            maybe = [s for a, b, s in by if max(a, b) >= after and min(a, b) <= before]
            if len(maybe) == 1 and certain == maybe:
                lo, hi = int(j["size_lo_ns"]) - 2, int(j["size_hi_ns"]) + 2
                if not lo <= -maybe[0] <= hi:
                    raise AssertionError(f"a step of {e['name']} by {-maybe[0]} is told as {lo} to {hi}")
            if not maybe:
                raise AssertionError(f"a step of {e['name']} is told that never was: {j}")


def inversions(case, answer):
    """What apply writes against what sync told: receipts before their sends by more than stamps and logs are rounded."""
    of = {e["name"]: e["reference"] for e in answer["clocks"] if e["quality"] in ("bounded", "reference")}
    rows = []
    for path in case.traces:
        with open(os.path.join("now", path), newline="", encoding="ascii") as f:
            rows += [r for r in csv.DictReader(f) if r["sender"] in of and of[r["sender"]] == of.get(r["receiver"])]
    wrong = sum(int(r["sent_ns"]) - int(r["received_ns"]) > max(1, 2 * case.clocks[r["receiver"]].tick) for r in rows)
    corrected = answer["evaluation"]["corrected"]
    told = corrected["inversions"] + corrected.get("outlier_inversions", 0)
    if wrong > told:
        raise AssertionError(f"apply writes {wrong} inversions, sync told {told}")


def in_order(unskew, case, answer):
    """Pairs of events, near each other or not, of clocks whose epochs are known."""
    known = []
    for e in answer["clocks"]:
        c = case.clocks[e["name"]]
        if falls(e) in (0, sum(by < 0 for _, by in c.steps)):
            known += [(c.name, c.read(t), t) for t in case.moments(c)]
    known.sort(key=lambda k: k[2])
    if len(known) < 2:
        return
    near = [(known[i], known[i + 1]) for i in range(len(known) - 1)]
    order(unskew, "clocks.json", near + [tuple(case.rng.sample(known, 2)) for _ in range(100)])


def used(case):
    """Every message that is said to be one, is."""
    true = {(a, b, case.clocks[a].read(t), case.clocks[b].read(u)) for t, a, b, u in case.rows}
    with open("used.csv", newline="", encoding="ascii") as f:
        for r in csv.DictReader(f):
            if (r["sender"], r["receiver"], int(r["sent_ns"]), int(r["received_ns"])) not in true:
                raise AssertionError(f"a message that never was: {r}")


def judge(unskew, seed):
    case = Case(seed)
    more = [*case.write(), "--reference", case.reference, *case.more]
    r = run(unskew, "sync", *case.traces, *more, "-o", "clocks.json", "--messages", "used.csv", "--json", "--force")
    if "nothing tells in which order its traces were recorded" in r.stderr:
        return None, 0, 1
    if r.returncode not in (0, 3):
        return f"refused: {r.stderr.strip()[:200]}", 0, 0
    answer = json.loads(r.stdout)
    if any("not used" in note for note in answer.get("notes", [])):
        return None, 0, 1  # no clock of its has a stamp in its time
    holes = any("lines are missing" in note for note in answer.get("notes", []))
    bad = [e["name"] for e in answer["clocks"] if e["quality"] not in ("bounded", "reference")]
    plain = case.form in ("messages", "events", "exchanges") and case.window[0] == 0
    if bad and plain and not holes and all(c.logged and c.covers == (0, case.span) for c in case.clocks.values()):
        return f"not bounded: {[e['quality'] for e in answer['clocks']]} {answer.get('notes')}", 0, 0
    held, skipped = hold(unskew, case, answer)
    steps_told(case, answer)
    in_order(unskew, case, answer)
    used(case)
    if case.rng.random() < 0.2:
        joined(unskew, case.traces, more)
    os.mkdir("now")
    one = "/" + case.traces[0].split("=")[-1] if len(case.traces) == 1 else ""
    a = run(unskew, "apply", "clocks.json", *case.traces, "-o", "now" + one, "--force", "--allow-unbounded")
    # Of a clock with several traces that was set back one may begin in two epochs.
    if a.returncode and r.returncode == 0 and "nothing tells whether the first stamps here" not in a.stderr:
        return f"apply: {a.stderr.strip()[-200:]}", held, skipped
    if not a.returncode and case.form == "messages" and case.window[0] == 0:
        inversions(case, answer)
    return None, held, skipped


if __name__ == "__main__":
    sys.exit(trials(judge, 60, "stamps held against the truth", "clocks were not: the answer does not show all epochs"))
