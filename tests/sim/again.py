#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""again.py UNSKEW [--count N] [--seed S] [--jobs J]: what apply wrote, given to apply once more.

In    nothing: traces of any form, and spans, of clocks as audited.py and spans_true.py draw them
Out   cases in which stamps are corrected twice and no note says so, or what was recorded is lost
Why   a script that runs twice must not move stamps without a word

pcap has no room to say that it was corrected, so nothing can be told of it. A case is made by its seed alone; --keep FOLDER
writes those that fail.
"""
import csv
import os
import random
import shutil
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import audited
import forms
import spans_true
from asked import run, trials

SPANS = ("otlp", "jaeger", "zipkin", "table")
TABLES = ("messages", "events", "exchanges")


def traces_of(seed, rng):
    """(form, operands, options)"""
    form = rng.choice([*TABLES, "captures", "interfaces", *SPANS])
    if form in SPANS:
        case = spans_true.Case(seed)
        return form, getattr(case, form)(), []
    n = rng.randint(2, 4)
    clocks = {f"h{i}": audited.Clock(rng, f"h{i}", 10**10, 500_000) for i in range(n)}
    rows = []
    for a, b in [(i, i + 1) for i in range(n - 1)] * rng.choice([3, 20, 60]):
        t = rng.randint(0, 10**10)
        a, b = rng.choice([(a, b), (b, a)])
        rows.append((t, f"h{a}", f"h{b}", t + 1000 + int(rng.expovariate(1e-5))))
    return form, *forms.write(rng, clocks, sorted(rows), form)


def recorded(path):
    """The columns with recorded stamps, by their names before."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return [{k.replace("_raw_ns", "_ns"): v for k, v in r.items() if k.endswith("_raw_ns")} for r in rows]


def stamps(path, names):
    with open(path, newline="", encoding="utf-8") as f:
        return [{k: r[k] for k in names} for r in csv.DictReader(f)]


def judge(unskew, seed):
    rng = random.Random(seed)
    form, traces, more = traces_of(seed, rng)
    r = run(unskew, "sync", *traces, *more, "-o", "c.json", "--force")
    if r.returncode not in (0, 3):
        return None, 0
    told = 0
    for i, trace in enumerate(dict.fromkeys(traces)):
        name, _, path = trace.rpartition("=")
        end = os.path.splitext(path)[1]
        one, two = f"once{i}{end}", f"twice{i}{end}"
        first = run(unskew, "apply", "c.json", trace, "-o", one, "--allow-unbounded")
        if not os.path.exists(one):
            continue
        if "corrected stamps" in first.stderr:
            return f"{path}: nobody corrected it before: {first.stderr[:200]}", told
        where = (name + "=") * bool(name) + one
        if form == "interfaces":  # which the table of clocks knows by its path
            shutil.copy(one, path)
            where = path
        again = run(unskew, "apply", "c.json", where, "-o", two, "--allow-unbounded")
        if again.returncode not in (0, 3):
            continue
        with open(one, "rb") as f, open(two, "rb") as g:
            moved = f.read() != g.read()
        if moved and end != ".pcap" and "corrected stamps" not in again.stderr:
            return f"{path}: corrected twice without a word: {again.stderr[:200]}", told
        told += moved
        if form in TABLES and end == ".csv":
            was = recorded(one)
            if was != stamps(path, was[0]) or was != recorded(two):
                return f"{path}: what was recorded is lost", told
    return None, told


if __name__ == "__main__":
    sys.exit(trials(judge, 60, "traces were corrected twice"))
