#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""second.py UNSKEW [--count N] [--seed S] [--jobs J]: random message tables of known truth, held against the answer.

Shares no code with the simulator, so that an error in one does not hide in the other. Clocks here have constant
rates within 150 ppm of true time, far inside the default model, and some are stepped once. Of every case:

    no crash, no answer that fails its own check, no refusal of a clocks.json that was written
    an estimate is inside its band
    what apply writes has no more inversions than sync told, those of messages that were left out counted
    the band holds the truth, where what the answer assumes is so

The last needs every step of a clock and of its reference's to be alone in a bracket that the answer tells, and
resolutions no finer than the clocks' ticks; the last line says how many answers that was judged of. What `before` says
there is so. Options are drawn, too: models, methods, minimum delays, a stretch of time, and anchors, which are true; and
tables of messages, of events or of exchanges.
A case is made by its seed alone; --keep FOLDER writes the tables of those that fail.
"""

import collections
import csv
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

import asked
import forms
from asked import in_memory, order, run

NAMES = ["a", "b'", 'c"q"', "d,e", "f\tg", "h\u00e9\u4e16", "i" * 300, "j k", "-l", "m\\n", "n:7", "\u202eo", "=p"]
TICKS = [1, 1, 1, 1, 1000, 10**6, 4 * 10**6, 10**7, 15_625_000, 10**9]
SPAN = 10**11


class Clock:
    def __init__(self, rng, name, base, step):
        self.name, self.base = name, base
        self.rate = rng.randint(-150_000, 150_000)  # ppb
        self.offset = rng.randint(-(10**10), 10**10)
        self.tick = rng.choice(TICKS)
        self.step_at = rng.randint(0, SPAN) if step else None
        self.step_by = rng.choice([-1, 1]) * rng.randint(1, 9) * 10 ** rng.randint(3, 10) if step else 0
        self.leaves = rng.randint(SPAN // 20, SPAN) if rng.random() < 0.15 else SPAN

    def exact(self, t, stepped=None):
        """What it would show at true time t if it did not round, down to whole ns."""
        stepped = self.step_at is not None and t >= self.step_at if stepped is None else stepped
        return self.base + self.offset + t + t * self.rate // 10**9 + (self.step_by if stepped else 0)

    def read(self, t):
        return self.exact(t) // self.tick * self.tick

    def true_time(self, x, stepped=False):
        """When it showed exactly x, to 1 ns: before its step, or after it."""
        return (x - self.base - self.offset - (self.step_by if stepped else 0)) * 10**9 // (10**9 + self.rate)

    def goes_back(self):
        return self.step_by < 0

    def shows_once(self, t):
        """Whether its stamp of true time t stands for no other moment, and for none that its step is in."""
        if self.step_at is None:
            return True
        x, s = self.read(t), self.step_at
        low, high = sorted((self.exact(s, False), self.exact(s, True)))
        return x > high or x + self.tick < low


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
    if kind == "heavy":
        return least + int(min(rng.paretovariate(0.8) * 10**4, 10**10))
    if rng.random() < 0.02:
        return least + 10**9
    return least + int(rng.expovariate(1e-5))


def make(rng):
    n = rng.randint(2, 8)
    stepped = rng.random() < 0.4
    base = rng.choice([1_700_000_000 * 10**9, 0, -(10**15), 2**62 - 10**13, -(2**62) + 10**13])
    names = rng.sample(NAMES, n)
    clocks = [Clock(rng, f"{names[i]}{i}", base, stepped and rng.random() < 0.5) for i in range(n)]
    kind, one_way, rows = rng.choice(["constant", "exponential", "heavy"]), rng.random() < 0.15, []
    for a, b in edges(rng, n):
        end = min(clocks[a].leaves, clocks[b].leaves)
        begin = rng.randint(0, end // 2)
        for _ in range(rng.choice([1, 3, 20, 60])):
            t = rng.randint(begin, end)
            if not one_way and rng.random() < 0.5:
                a, b = b, a
            rows.append((t, clocks[a], clocks[b], t + delay(rng, kind)))
    rows += rng.sample(rows, len(rows) // 20)
    by = rng.choice([0, 0, 3])
    rows.sort(key=lambda r: r[by])
    return clocks, rows


def write_table(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(["sender", "receiver", "sent_ns", "received_ns"])
        w.writerows((a.name, b.name, a.read(t), b.read(u)) for t, a, b, u in rows)


METHODS = ["hull", "support", "regress+delta", "two-point+moved", "least-violation", "round-trip", "interval", "lp-rate",
           "min-window", "rate-segments", "first-offset"]


def anchor(rng, clocks):
    """A true statement of when one clock showed what another one did; None: of no moment that is one of both."""
    a, b = rng.sample(clocks, 2)
    t, d = rng.randint(-SPAN // 10, SPAN * 11 // 10), 10 ** rng.randint(1, 9)
    plain = not any(c in a.name + b.name for c in "@=\t\u202e")
    if not (plain and a.shows_once(t) and b.shows_once(t)):
        return None
    return f"{a.name}@{a.exact(t)}={b.name}@{b.exact(t) + rng.randint(2 - d, d - 2)}+-{d}ns"


def options(rng, clocks):
    """What else may be asked for, and said truly, which no case is without for long."""
    out = []
    if rng.random() < 0.25:
        out += ["--model", rng.choice(["linear", "wander=1", "wander=100", "segments=20s", "segments=auto"])]
    if rng.random() < 0.2:
        out += ["--method", rng.choice(METHODS)]
    if rng.random() < 0.15:
        out += ["--solve", "tree"]
    if "round-trip" in out and rng.random() < 0.5:
        out += ["--weights", rng.choice(["half-width", "residual"])]
    if rng.random() < 0.15:
        # 100 us are less by a clock that is slow.
        out += ["--min-delay", rng.choice(["99980ns", "50us", "1us"])]
    if rng.random() < 0.1:
        out += ["--max-outliers", rng.choice(["0", "1", "1000"])]
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        a = anchor(rng, clocks)
        out += ["--anchor", a] if a else []
    if rng.random() < 0.2:
        c = rng.choice(clocks)
        out += ["--reference", c.name]
        if rng.random() < 0.5:
            out += ["--from", str(c.exact(rng.randint(0, SPAN // 2)))]
        if rng.random() < 0.5:
            out += ["--to", str(c.exact(rng.randint(SPAN // 2, SPAN)))]
    return out


def moment(clock, local, epoch, epochs):
    """The true time of a place in an answer; None where the answer does not say which of two it means."""
    if clock.step_at is None:
        return clock.true_time(local)
    if clock.step_by > 0:
        before, after = clock.true_time(local), clock.true_time(local, True)
        return before if before < clock.step_at else max(after, clock.step_at)
    return clock.true_time(local, epoch > 0) if epochs == 1 else None


def same_way(clock, named):
    """Steps of clocks that one bracket names, in the direction of the clock's own: their offset goes there and back."""
    return [c.step_at for c in named if c is not clock and c.step_at is not None and (c.step_by > 0) == (clock.step_by > 0)]


def tells(entry, clock, at, others, known):
    """Whether a bracket of the entry has a step at true time `at` in it, and no other step that the answer excludes."""
    epochs = entry["knots"][-1].get("epoch", 0) if entry["knots"] else 0
    for j in entry["jumps"]:
        if j["kind"] != "jump":
            continue
        after = moment(clock, int(j["after_local_ns"]), j.get("epoch", 0), epochs)
        before = moment(clock, int(j["before_local_ns"]), j.get("end_epoch", 0), epochs)
        if after is None or before is None:
            return False
        before += clock.tick
        if after < at <= before:
            named = [known[j[k]] for k in ("of", "or") if j.get(k) in known]
            return not any(after < o <= before for o in others + same_way(clock, named))
    return False


def assumptions_hold(answer, reference, known):
    """Whether the clocks of an island did what the answer says that it assumes."""
    ref = known[reference]
    if ref.step_by < 0:
        return False  # its time has two meanings, so a band has too
    for entry in answer["clocks"]:
        if entry["reference"] != reference or entry["name"] == reference or entry["quality"] == "absent":
            continue
        clock = known[entry["name"]]
        steps = [c.step_at for c in (clock, ref) if c.step_at is not None]
        if int(entry["resolution_ns"]) < clock.tick > 1:
            return False
        if not all(tells(entry, clock, s, steps[:i] + steps[i + 1 :], known) for i, s in enumerate(steps)):
            return False
    own = [e for e in answer["clocks"] if e["name"] == reference]
    return not own or int(own[0]["resolution_ns"]) >= ref.tick or ref.tick == 1


def questions(rng, answer, known):
    """Stamps to convert, each with the clock that shows it then and the true time at which it showed exactly that."""
    asked = []
    for entry in answer["clocks"]:
        clock = known.get(entry["name"])
        if entry["quality"] != "bounded" or not clock:
            continue
        for far in (0, 0, 0, 10**10, 10**12):
            t = rng.randint(-far, SPAN + far)
            if clock.shows_once(t):
                x = clock.read(t)
                stepped = clock.step_at is not None and t >= clock.step_at
                asked.append((clock, known[entry["reference"]], x, clock.true_time(x, stepped)))
    return asked


def hold(unskew, rng, found, answer, known):
    """Bands and estimates at random moments; how many islands' bands were, and were not, held against the truth."""
    asked = questions(rng, answer, known)
    if not asked:
        return 0, 0
    r = run(unskew, "convert", found, "--", *(f"{c.name}:{x}" for c, _, x, _ in asked))
    lines = r.stdout.splitlines()
    if len(lines) != len(asked):
        if r.returncode == 1 and "epoch" not in r.stderr:
            raise AssertionError(f"convert refuses what sync wrote: {r.stderr[:200]}")
        return 0, 0
    holds = {name: assumptions_hold(answer, name, known) for name in {ref.name for _, ref, _, _ in asked}}
    for (clock, ref, x, t), line in zip(asked, lines):
        fields = line.split("\t")
        if "-" in fields:
            continue
        local, middle, lo, hi = map(int, fields)
        if local != x or not lo <= middle <= hi:
            raise AssertionError(f"estimate outside its band: {clock.name!r} {x}: {line}")
        truth = ref.exact(t)
        if holds[ref.name] and not lo - 3 <= truth <= hi + 3:
            raise AssertionError(f"false band: {clock.name!r} {line} truth {truth}")
    events = [(c.name, x, t) for c, ref, x, t in asked if holds[ref.name] and not re.search(r"\s", c.name)]
    pairs = [tuple(rng.sample(events, 2)) for _ in range(30 if len(events) > 1 else 0)]
    if pairs:
        order(unskew, found, pairs)
    return sum(holds.values()), len(holds) - sum(holds.values())


def tied(answer):
    """What island a clock with a correction is of, and by how much a receipt may precede its send.

    It was up to the clock's resolution later than its stamp; the reference's time for that is longer by the skew limit
    (doc/guarantees.md).
    """
    most_ppm, of = answer["model"]["max_skew_ppm"], {}
    for c in answer["clocks"]:
        q = int(c["resolution_ns"])
        if c["quality"] in ("bounded", "reference"):
            of[c["name"]] = c["reference"], q + int(q * most_ppm / 10**6) if q > 1 else 0
    return of


def applied_inversions(path, answer):
    """Receipts before their sends by more than the receiver's rounding, among clocks that are on one time."""
    of, wrong = tied(answer), 0
    with open(path, newline="", encoding="utf-8") as f:
        table = csv.reader(f)
        head = next(table)
        who, whom, sent, received = (head.index(x) for x in ("sender", "receiver", "sent_ns", "received_ns"))
        for row in table:
            a, b = of.get(row[who]), of.get(row[whom])
            if a and b and a[0] == b[0]:
                wrong += int(row[sent]) - int(row[received]) > b[1]
    return wrong


def in_form(rng, known, rows, folder):
    """Tables of events or exchanges instead."""
    os.chdir(folder)
    tables, _ = forms.write(rng, known, [(t, a.name, b.name, u) for t, a, b, u in rows], rng.choice(["events", "exchanges"]))
    return [os.path.join(folder, t) for t in tables]


def judge(unskew, rng, folder):
    """(why it was refused or None, islands whose bands were held against the truth, those whose were not)"""
    clocks, rows = make(rng)
    table, found, out = (os.path.join(folder, f) for f in ("t.csv", "c.json", "o.csv"))
    write_table(table, rows)
    more = options(rng, clocks)
    known = {c.name: c for c in clocks}
    tables = in_form(rng, known, rows, folder) if rng.random() < 0.3 else [table]
    r = run(unskew, "sync", *tables, "-o", found, "--force", *more)
    if r.returncode not in (0, 3):
        return f"refused: {r.stderr.strip().replace(folder, '')[:200]}", 0, 0
    with open(found, encoding="utf-8") as f:
        answer = json.load(f)
    counts = hold(unskew, rng, found, answer, known)
    if tables != [table]:
        return None, *counts
    unbounded = ["--allow-unbounded"] if r.returncode == 3 else []
    a = run(unskew, "apply", found, table, "-o", out, "--force", *unbounded)
    if a.returncode == 0:
        corrected = answer["evaluation"]["corrected"]
        told = corrected["inversions"] + corrected.get("outlier_inversions", 0)
        wrong = applied_inversions(out, answer)
        # Of messages outside of a stretch of time nothing is told.
        if wrong > told and not {"--from", "--to"} & set(more):
            raise AssertionError(f"apply writes {wrong} inversions, sync told {told}")
    elif r.returncode == 0:
        raise AssertionError(f"apply refuses what sync wrote: {a.stderr.replace(folder, '')[:200]}")
    return None, *counts


def case(unskew, keep, seed):
    """(seed, what is wrong or None, why it was refused or None, islands held against the truth, and not)"""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        try:
            return seed, None, *judge(unskew, random.Random(seed), folder)
        except (AssertionError, subprocess.TimeoutExpired) as e:
            if keep:
                rng = random.Random(seed)
                clocks, rows = make(rng)
                write_table(os.path.join(keep, f"{seed}.csv"), rows)
                e = f"{e} {options(rng, clocks)}"
            return seed, str(e), None, 0, 0


def work(args):
    return case(*args)


def main():
    o = asked.options(150)
    failed, held, unheld, refused = 0, 0, 0, collections.defaultdict(list)
    seeds = range(o.seed, o.seed + o.count)
    with multiprocessing.Pool(o.jobs) as pool:
        for seed, wrong, why, yes, no in pool.imap(work, ((o.unskew, o.keep, s) for s in seeds), chunksize=8):
            held, unheld, failed = held + yes, unheld + no, failed + (wrong is not None)
            if wrong:
                print(f"seed {seed}: {wrong}", flush=True)
            if why:
                refused[re.sub(r"\d+", "N", why)].append(seed)
    for why, those in refused.items():
        print(f"{len(those)} (seed {those[0]}): {why}")
    skipped = sum(map(len, refused.values()))
    print(f"seeds {seeds[0]} to {seeds[-1]}: {o.count - failed - skipped} passed, {failed} failed, {skipped} refused; "
          f"bands of {held} islands hold the truth, {unheld} break what they assume")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
