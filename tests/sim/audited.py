#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""audited.py UNSKEW [--count N] [--seed S] [--jobs J]: claims of which it is known who lies, held against the audit.

In    nothing: clocks of constant rates, some of them stepped, messages in any form, claims in any format, some false
Out   cases in which an honest claim is called impossible by honest ones, somebody honest is named, or a verdict is
      not what the contradictions say
Why   who is accused in public has to be guilty

Shares nothing with the engine: UTC is the true time here. Somebody is guilty who states a false claim, or whose clock
is stepped. Claims are rows of intervals or offsets, chrony's tracking log, its measurements of servers that nobody
recorded, or stamped samples, by clocks that messages have or do not have. A case is made by its seed alone; --keep FOLDER
writes those that fail.
"""
import json
import random
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
from asked import run, trials
from second import NAMES

SECOND = 10**9
START = 1_700_000_000 * SECOND
PLAIN = ("messages", "events", "exchanges")


class Clock:
    """One rate, and a step now and then; it is exact where UTC is asked for."""

    def __init__(self, rng, name, span, most_ppb):
        self.name = name
        self.rate = rng.randint(-most_ppb, most_ppb)
        self.offset = rng.choice([0, rng.randint(-(10**6), 10**6), rng.randint(-(10**10), 10**10)])
        self.tick = rng.choice([1, 1, 1, 1000])
        self.step_at = self.step_by = None
        if rng.random() < 0.2:
            self.step_at = rng.randint(0, span)
            self.step_by = rng.choice([-1, 1]) * rng.choice([16 * SECOND, rng.randint(1, 10**11), 10 ** rng.randint(3, 10)])

    def exact(self, t):
        stepped = self.step_at is not None and t >= self.step_at
        return START + self.offset + t + t * self.rate // 10**9 + (self.step_by if stepped else 0)

    def read(self, t):
        return self.exact(t) // self.tick * self.tick

    def goes_back(self):
        return self.step_by is not None and self.step_by < 0


def bounds(rng, truth, lies):
    """A claim of what differs from UTC by the truth: one that holds, or one that does not."""
    half = 10 ** rng.randint(2, 8)
    if lies:
        away = rng.choice([-1, 1]) * (half + 1 + 10 ** rng.randint(3, 11))
        return truth + away, half
    return truth + rng.choice([2 - half, half - 2, 0, rng.randint(2 - half, half - 2)]), half


def intervals(rng, clock, moments, lies, _):
    rows = []
    for t in moments:
        x = clock.exact(t)
        middle, half = bounds(rng, START + t - x, lies)
        rows.append((clock.name, x, x + middle - half, x + middle + half))
    return "csv", ["clock", "time_ns", "earliest_ns", "latest_ns"], rows


def offsets(rng, clock, moments, lies, _):
    rows = []
    for t in moments:
        x = clock.exact(t)
        rows.append((clock.name, x, *bounds(rng, START + t - x, lies)))
    return "csv", ["clock", "time_ns", "offset_ns", "error_ns"], rows


def day(ns):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ns // SECOND))


def seconds(ns):
    return f"{ns / 1e9:.3e}"


def most(rng, clock, t, lies):
    """What a clock says that it is off by at most."""
    off = abs(START + t - clock.exact(t))
    return off // 3 - 1000 if lies else off + off // 500 + rng.choice([0, 10**5])


def tracking(rng, clock, moments, lies, _):
    rows = []
    for t in moments:
        m = seconds(max(most(rng, clock, t, lies), 0))
        rows.append(f"{day(clock.exact(t))} 10.0.0.1  2  1.0 0.1 1.000e-06 N  1 1.0e-06 -1.0e-06 1.0e-03 1.0e-03 {m}")
    return "log", "=" * 40 + "\n   Date (UTC) Time\n" + "=" * 40, rows


def measurements(rng, clock, moments, lies, server):
    """Of a server, by a clock: the server claims."""
    rows = []
    for t in moments:
        middle, half = bounds(rng, START + t - clock.exact(t), lies)
        slack = abs(middle) // 500 + half  # numbers are rounded
        rows.append(f"{day(clock.exact(t))} {server} N 2 111 111 1111 6 6 0.1 {seconds(middle)} {seconds(0 if lies else slack)} {seconds(half if lies else slack)} 0.000e+00 1.000e-09")
    return "log", "=" * 40 + "\n   Date (UTC) Time\n" + "=" * 40, rows


def samples(rng, clock, moments, lies, _):
    rows = []
    for t in moments:
        x, off = clock.exact(t), most(rng, clock, t, lies)
        m = max(off, 0) / 1e9
        rows.append(f"{x // SECOND}.{x % SECOND:09d},0A000001,10.0.0.1,2,1,{m:.9f},0,0,0,0,0,0.000001,0.000001,1,Normal")
    return "log", "", rows


FORMATS = [intervals, intervals, offsets, offsets, tracking, measurements, samples]


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        n, self.span = rng.randint(1, 6), rng.choice([1, 30, 600]) * SECOND
        self.most_ppm = rng.choice([20, 500])
        self.form = rng.choice([*PLAIN, *PLAIN, "captures", "interfaces", None])
        if n == 1 and self.form not in PLAIN:
            self.form = None
        odd = self.form in PLAIN and rng.random() < 0.6
        names = [f"{x}{i}" for i, x in enumerate(rng.sample(NAMES, n))] if odd else [f"h{i}" for i in range(n)]
        self.clocks = {x: Clock(rng, x, self.span, self.most_ppm * 1000 // 2) for x in names}
        self.rows, self.guilty = [], {c.name for c in self.clocks.values() if c.step_at is not None}
        pairs = [(a, b) for b in range(n) for a in range(b) if a == b - 1 or rng.random() < 0.5]
        for a, b in pairs if self.form else []:
            for _ in range(rng.choice([1, 3, 20, 60])):
                a, b = (a, b) if rng.random() < 0.5 else (b, a)
                t = rng.randint(0, self.span)
                self.rows.append((t, names[a], names[b], t + 1000 + int(rng.expovariate(1e-5))))
        self.rows.sort()

    def moments(self):
        few, span = self.rng.choice([1, 1, 3, 20]), self.span
        far = self.rng.choice([0, 0, span // 10, 10 * span])
        out = sorted(self.rng.randint(-far, span + far) for _ in range(few))
        if self.rows and self.rng.random() < 0.3:  # just then
            out = sorted(self.rng.choice(self.rows)[self.rng.choice([0, 3])] for _ in range(few))
        return out

    def write(self):
        """Operands and options."""
        traces, more, rng = [], [], self.rng
        if self.rows:
            traces, more = forms.write(rng, self.clocks, self.rows, self.form)
        some = rng.random()
        for number, clock in enumerate(self.clocks.values()):
            for k in range(rng.choice([0, 1, 1, 1, 2])):
                how = rng.choice(FORMATS)
                server = f"10.0.1.{rng.randint(1, 3)}"
                if how not in (intervals, offsets) and "=" in clock.name:
                    how = offsets  # NAME=FILE cannot name it
                lies = rng.random() < (0.3 if some < 0.5 else 0)
                kind, head, rows = how(rng, clock, self.moments(), lies, server)
                if lies and how not in (tracking, samples):
                    self.guilty.add(server if how is measurements else clock.name)
                elif lies:
                    self.guilty.add(clock.name)
                path = f"claims{number}-{k}"
                if kind == "csv":
                    forms.table(path, head, rows)
                    more += [f"--claims={path}"]
                else:
                    with open(path, "w", encoding="utf-8") as f:
                        f.write("\n".join([head] * bool(head) + rows) + "\n")
                    more += [f"--claims={clock.name}={path}"]
        if traces and rng.random() < 0.15 and self.form in PLAIN:
            c = self.clocks[rng.choice(self.rows)[1]]
            a, b = sorted(c.exact(rng.randint(0, self.span)) for _ in range(2))
            more += ["--reference", c.name, "--from", str(a), *rng.choice([[], ["--to", str(b)]])]
        return [*more, "--max-skew-ppm", str(self.most_ppm), "--", *traces]


def names_of(clash):
    """Who may be wrong by it: who claims, and whose clock it goes along."""
    out = {clash[end]["by"] for end in ("earliest", "latest") if clash[end]}
    return out | {s["clock"] for s in clash["steps"] if "clock" in s}


def walk(case, clash):
    """Its way, from one claim to the other; by how much they miss each other there."""
    low, high, skew = clash["earliest"], clash["latest"], case.most_ppm
    if not low:
        return
    clock, x, at = low["clock"], low["time_ns"], low["lo_ns"] * 10**6  # fs
    slack = 5000 + 2 * skew * SECOND // 10**6  # a few stamps may look coarser than they are, and logs have whole seconds
    for s in clash["steps"]:
        if "clock" in s:
            if s["clock"] != clock or x not in (s["from_ns"], s["to_ns"]):
                raise AssertionError(f"the way is broken: {clash}")
            at -= (s["to_ns"] - s["from_ns"]) * skew
            x = s["from_ns"] + s["to_ns"] - x
        elif (s["sender"], s["sent_ns"]) != (clock, x):
            raise AssertionError(f"the way is broken: {clash}")
        else:
            tick = case.clocks[s["receiver"]].tick
            clock, x, at = s["receiver"], s["received_ns"], at + (s["sent_ns"] - s["received_ns"]) * 10**6
            at -= tick * 10**6 if tick > 1 else 0
    missed = at // 10**6 - high["hi_ns"]
    if (clock, x) != (high["clock"], high["time_ns"]) or not missed - slack <= clash["gap_ns"] <= missed + 4:
        raise AssertionError(f"it leads elsewhere, or misses by {missed}: {clash}")


def hold(case, said, status):
    guilty, clashes = case.guilty, said["contradictions"]
    if said["consistent"] != (not clashes) or status != (3 if clashes else status) or (status == 3 and not clashes):
        raise AssertionError(f"status {status}, {len(clashes)} contradictions")
    for c in clashes:
        if not names_of(c) & guilty:
            raise AssertionError(f"honest ones contradict each other: {c}")
        if c["gap_ns"] < 0:
            raise AssertionError(f"no gap: {c}")
        walk(case, c)
    for who in said["claimants"]:
        if who["wrong"] and who["name"] not in guilty and (who["else_wrong"] is None or 2 * len(guilty) < said["tested"]):
            raise AssertionError(f"{who['name']!r} is named, and is honest: {who}")
    if said["least_wrong"] > len(guilty):
        raise AssertionError(f"{said['least_wrong']} are wrong at least: {len(guilty)} are")


def judge(unskew, seed):
    case = Case(seed)
    more = case.write()
    if not any(m.startswith("--claims=") for m in more):
        return None, 0
    r = run(unskew, "audit", "--json", *more)
    if any(x in r.stderr for x in ("two are needed", "no such clock", "are of one clock")):
        return None, 0  # all its packets were lost
    if r.returncode == 2 or (r.returncode == 1 and not r.stdout):
        return f"refused: {r.stderr.strip()[:300]}", 0
    said = json.loads(r.stdout)
    hold(case, said, r.returncode)
    t = run(unskew, "audit", *more)
    if t.returncode != r.returncode or ("consistent" in t.stdout) != (r.returncode == 0):
        return f"in words it says something else: {t.returncode}: {t.stdout[-300:]}", 0
    return None, len(said["contradictions"])


if __name__ == "__main__":
    sys.exit(trials(judge, 60, "contradictions"))
