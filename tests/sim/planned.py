#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""planned.py UNSKEW [--count N] [--seed S] [--jobs J]: what `plan` says of any table and any topology is sane.

In    nothing: the tables of second.py, with its names, shapes, steps and ticks; topologies of any links; any options
Out   cases that crash, are refused without a reason, or whose plan contradicts itself or the recording
Why   plan.py shows that forecasts of ordinary networks come true, and draws no others

Of every plan: its JSON parses, and names clocks and links that there are; a width is none, or at least what the fastest
round trips allow; links are ranked by what they give; round trips that are added do not widen a band by more than
what is drawn anew changes it; a wanted width that is said to be reached is, and links that get round trips are known.
A case is made by its seed alone; --keep FOLDER writes those that fail.
"""
import json
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
import second
from asked import run, trials

REASONS = ("no two clocks have messages in both directions", "no clock has messages in both directions", "share no message",
           "holds no message", "is not used", "of these two already", "less than --min-delay")
NEAR = 1.5  # what drawing anew, or a rarer message, changes


def topology(rng, names):
    """Links that nobody recorded."""
    n = rng.randint(2, 6)
    names = (names + [f"new{i}" for i in range(n)])[:n] if rng.random() < 0.5 else [f"{x}-{i}" for i, x in enumerate(rng.sample(second.NAMES, n))]
    rows = []
    for b in range(1, n):
        for a in range(b):
            if a == b - 1 or rng.random() < 0.3:
                least = rng.choice([0, 1, 1000, 10**5, 10**9])
                rows.append((names[a], names[b], least, least + rng.choice([0, 1, 1000, 10**6]), rng.choice(["", 0, 0.001, 1, 100])))
    forms.table("links.csv", ["a", "b", "min_ns", "median_ns", "per_second"], rows)
    return names, ["--topology", "links.csv"]


def asked(rng, names):
    out = []
    if rng.random() < 0.5:
        out += ["--want", rng.choice(["1ns", "10us", "60us", "1ms", "1s"])]
    if rng.random() < 0.3:
        out += ["--periods", rng.choice(["1s", "1ms,10s", "100ms,100ms", "1h,1s", "10s,1s,100ms"])]
    if rng.random() < 0.2:
        out += ["--span", rng.choice(["1ms", "1s", "1h", "1000h"])]
    if rng.random() < 0.3:
        out += ["--reference", rng.choice(names)]
    if rng.random() < 0.3:
        out += ["--model", rng.choice(["linear", "wander=0.1", "wander=100", "segments=20s", "segments=auto"])]
    if rng.random() < 0.2:
        out += ["--min-delay", rng.choice(["1us", "50us", "99us"])]
    return out


def half(text):
    return float("inf") if text is None else int(text)


def hold(said, more, known):
    clocks = {c["name"]: c for c in said["clocks"]}
    if len(clocks) != len(said["clocks"]) or not set(clocks) <= known:
        raise AssertionError(f"clocks: {sorted(clocks)}")
    plain = "--min-delay" not in more
    for c in clocks.values():
        now, least = half(c["half_width_ns"]), half(c["least_half_width_ns"])
        if now < 0 or (plain and least != float("inf") and now < least - 2):
            raise AssertionError(f"narrower than the fastest round trips allow: {c}")
    for r in said["links"] + said["periods"]:
        if not {r["a"], r["b"], r["widest"]} <= set(clocks) or half(r["half_width_ns"]) > half(r["widest_half_width_ns"]):
            raise AssertionError(f"a row: {r}")
        before = half(clocks[said["widest"]]["half_width_ns"])
        if half(r["half_width_ns"]) > before * NEAR + 1000:
            raise AssertionError(f"more messages make bands wider: {before} {r}")
    order = [half(r["half_width_ns"]) for r in said["links"]]
    if order != sorted(order):
        raise AssertionError(f"links are not ranked: {order}")
    wanted = said["wanted"]
    if not wanted:
        return
    if wanted["reached"]:
        for c, h in zip(said["clocks"], wanted["clock_half_width_ns"]):
            if c["least_half_width_ns"] is not None and half(h) > half(wanted["half_width_ns"]):
                raise AssertionError(f"not reached: {c} {h}")
    elif wanted["links"] == []:
        raise AssertionError("not reached, and nothing was tried")
    if any(not {x["a"], x["b"]} <= set(clocks) or int(x["period_ns"]) < 1 for x in wanted["links"]):
        raise AssertionError(f"links: {wanted['links']}")


def judge(unskew, seed):
    rng = random.Random(seed)
    clocks, rows = second.make(rng)
    second.write_table("t.csv", rows)
    known, more = [c.name for c in clocks], ["t.csv"]
    if rng.random() < 0.3:
        names, more = topology(rng, known)
        more += rng.choice([[], ["t.csv"]])
        known = list(dict.fromkeys(names + (known if "t.csv" in more else [])))
    more = [*asked(rng, known if "t.csv" not in more else [c.name for c in clocks]), *more]
    r = run(unskew, "plan", "--json", *more)
    why = r.stderr.strip()
    if r.returncode == 2 or not r.stdout:
        return None if any(x in why for x in REASONS) else f"refused: {why[:300]} {more}", 0
    said = json.loads(r.stdout)
    if (r.returncode == 3) != bool(said["wanted"] and not said["wanted"]["reached"]):
        return f"status {r.returncode}", 0
    hold(said, more, set(known))
    t = r if rng.random() < 0.8 else run(unskew, "plan", *more)
    if t.returncode != r.returncode or "nan" in t.stdout.split() or "inf" in t.stdout.split():
        return f"in words: {t.returncode}: {t.stdout[-300:]}", 0
    return None, 1


if __name__ == "__main__":
    sys.exit(trials(judge, 20, "plans"))
