#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""second.py UNSKEW [--count N] [--seed S]: random message tables of known truth, held against what comes out.

Shares no code with the simulator, so that an error in one does not hide in the other. Clocks here have constant
rates within 150 ppm of true time, far inside the default model, and some are stepped. Of every case: no crash, no
refusal of an own clocks.json, an estimate inside its band, no inversion in what apply writes that sync did not tell.
The band is held against the truth in cases without a step, where all printed assumptions hold by construction.
"""

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile

NAMES = ["a", "b'", 'c"q"', "d,e", "f\ng", "h\u00e9\u4e16", "i" * 300, "j k", "-l", "m\\n"]


class Clock:
    def __init__(self, rng, name, base, step):
        self.name, self.base = name, base
        self.rate = rng.randint(-150_000, 150_000)  # ppb
        self.offset = rng.randint(-10**10, 10**10)
        self.tick = rng.choice([1, 1, 1, 1000, 10**6, 10**9])
        self.step_at = rng.randint(0, 10**11) if step else None
        self.step_by = rng.choice([-1, 1]) * 10 ** rng.randint(3, 10)

    def read(self, t):
        x = self.base + self.offset + t + t * self.rate // 10**9
        if self.step_at is not None and t >= self.step_at:
            x += self.step_by
        return x // self.tick * self.tick

    def true_time(self, x):
        """True time of a stamp of a clock without steps, to 1 ns."""
        return (x - self.base - self.offset) * 10**9 // (10**9 + self.rate)


def edges(rng, n):
    shape = rng.choice(["chain", "star", "ring", "random", "islands"])
    if shape == "star":
        return [(0, i) for i in range(1, n)]
    chain = [(i, i + 1) for i in range(n - 1)]
    if shape == "ring":
        return chain + [(n - 1, 0)]
    if shape == "islands":
        return [e for e in chain if e[0] % 3 != 2] or chain
    more = [tuple(rng.sample(range(n), 2)) for _ in range(n)] if shape == "random" else []
    return chain + more


def delay(rng, kind):
    least = 100_000
    if kind == "constant":
        return least
    if rng.random() < 0.02:
        return least + 10**9
    return least + int(rng.expovariate(1e-5))


def make(rng):
    n = rng.randint(2, 8)
    stepped = rng.random() < 0.4
    base = rng.choice([1_700_000_000 * 10**9, 0, -(10**15), 2**62 - 10**13, -(2**62) + 10**13])
    clocks = [Clock(rng, f"{NAMES[i]}{i}", base, stepped and rng.random() < 0.5) for i in range(n)]
    kind, one_way, rows = rng.choice(["constant", "exponential"]), rng.random() < 0.15, []
    for a, b in edges(rng, n):
        begin = rng.randint(0, 5 * 10**10)
        for _ in range(rng.choice([1, 3, 20, 60])):
            t = rng.randint(begin, 10**11)
            if not one_way and rng.random() < 0.5:
                a, b = b, a
            rows.append((t, clocks[a], clocks[b], t + delay(rng, kind)))
    rows += rng.sample(rows, len(rows) // 20)
    rows.sort(key=lambda r: r[0])
    return clocks, rows, any(c.step_at is not None for c in clocks)


def run(unskew, *args, text=None):
    r = subprocess.run([unskew, *args], input=text, capture_output=True, encoding="utf-8", errors="replace", timeout=60)
    if r.returncode < 0 or r.returncode > 3 or "Sanitizer" in r.stderr or "runtime error" in r.stderr:
        raise AssertionError(f"{args[0]} crashed: status {r.returncode}: {r.stderr[:300]}")
    if "failed its own check" in r.stderr + r.stdout:
        raise AssertionError(f"{args[0]}: failed its own check")
    return r


def hold(unskew, rng, found, entry, clock, reference, stepped):
    lowest, highest = clock.read(0), clock.read(10**11)
    stamps = [rng.randint(min(lowest, highest) - far, max(lowest, highest) + far) for far in (0, 0, 0, 10**10, 10**12)]
    text = "".join(f"{s}\n" for s in stamps)
    r = run(unskew, "convert", f"--clock={clock.name}", found, text=text)
    if r.returncode == 1 and entry.get("epoch") is None and not stepped:
        raise AssertionError(f"convert refuses what sync wrote: {r.stderr[:200]}")
    for line in r.stdout.splitlines():
        fields = line.split("\t")
        if len(fields) != 4 or "-" in fields:
            continue
        local, middle, lo, hi = map(int, fields)
        if not lo <= middle <= hi:
            raise AssertionError(f"estimate outside its band: {clock.name!r} {line}")
        if not stepped:
            t = clock.true_time(local)
            truth = reference.base + reference.offset + t + t * reference.rate // 10**9
            slack = clock.tick + reference.tick + 2
            if not lo - slack <= truth <= hi + slack:
                raise AssertionError(f"false band: {clock.name!r} {line} truth {truth}")


def applied_inversions(path, answer):
    """Receipts before their sends by more than what the receiver is known to round its stamps down by."""
    q = {c["name"]: int(c["resolution_ns"] or 1) for c in answer["clocks"]}
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return sum(int(r["sent_ns"]) - int(r["received_ns"]) >= q.get(r["receiver"], 1) for r in rows)


def judge(unskew, rng, folder):
    clocks, rows, stepped = make(rng)
    table, found, out = (os.path.join(folder, f) for f in ("t.csv", "c.json", "o.csv"))
    with open(table, "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(["sender", "receiver", "sent_ns", "received_ns"])
        w.writerows((a.name, b.name, a.read(t), b.read(u)) for t, a, b, u in rows)
    r = run(unskew, "sync", table, "-o", found, "--force")
    if r.returncode not in (0, 3):
        return f"refused: {r.stderr.strip().replace(folder, '')[:200]}"
    known = {c.name: c for c in clocks}
    with open(found, encoding="utf-8") as f:
        answer = json.load(f)
    for entry in answer["clocks"]:
        if entry["quality"] == "bounded" and entry["name"] in known:
            hold(unskew, rng, found, entry, known[entry["name"]], known[entry["reference"]], stepped)
    a = run(unskew, "apply", found, table, "-o", out, "--force")
    if a.returncode == 0:
        told = re.search(r"as recorded, ([\d,]+) corrected", r.stdout)
        wrong = applied_inversions(out, answer)
        if wrong > (int(told.group(1).replace(",", "")) if told else 0):
            raise AssertionError(f"apply writes {wrong} inversions, sync told {told and told.group(1)}")
    elif r.returncode == 0:
        raise AssertionError(f"apply refuses what sync wrote: {a.stderr[:200]}")
    return None


def main():
    p = argparse.ArgumentParser(description="Random tables of known truth, held against the answer.")
    p.add_argument("unskew")
    p.add_argument("--count", type=int, default=150)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    failed, refused = 0, {}
    for seed in range(o.seed, o.seed + o.count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                why = judge(o.unskew, random.Random(seed), folder)
            except (AssertionError, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"seed {seed}: {e}")
                continue
        if why:
            refused.setdefault(re.sub(r"\d+", "N", why), []).append(seed)
    for why, seeds in refused.items():
        print(f"{len(seeds)} (seed {seeds[0]}): {why}")
    skipped = sum(map(len, refused.values()))
    print(f"{o.count - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
