#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py gnss|logs|poll|widths|estimates|real ... - answers beside the truth and another unskew

    gnss BUILD FOLDER       steered clocks that were recorded against GNSS, messages simulated on top
    logs BUILD FOLDER       the same with a log of each clock, beside clocks that nobody steers
    poll BUILD              clocks that a daemon slews, under every model
    widths BUILD OLD        mean half widths of two programs on the same traces
    estimates BUILD OLD     rms of the estimate, beside the other estimators and the other program
    real BUILD FOLDER       recordings whose right answer is known

FOLDER holds the recordings (gnss-clocks, gnss-step, third-clock, ntp-log, relay-selfcheck); OLD is
an unskew program. --seeds N, --only TEXT (cases whose name holds it), --keep DIR. A line that ends
in `!` misses what is asked for; then the exit status is 1. Bands are judged in whole ns.
"""
import argparse, bisect, csv, glob, gzip, json, math, os, random, shutil, subprocess, sys, tempfile

TABLE = ["--format", "table"]
START = 1700000000 * 10**9
E12 = 10**12
missed = 0


def report(line, miss):
    global missed
    missed += bool(miss)
    print(line + (" !" if miss else ""), flush=True)


def simulate(unskew, where, *options):
    """The message table. The truth is beside it."""
    subprocess.run([unskew, "simulate", "-q", "-f", "-o", where, *TABLE, *map(str, options)],
                   check=True)
    return os.path.join(where, "messages.csv")


def sync(unskew, *options):
    """clocks.json by clock, and the exit status; nothing where there is no answer."""
    done = subprocess.run([unskew, "sync", "-q", "--json", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        print("    status %d: %s" % (done.returncode, done.stderr.strip()))
        return {}, done.returncode
    return {c["name"]: c for c in json.loads(done.stdout)["clocks"]}, done.returncode


class Line:
    """A clock's lo, offset and hi between and beyond its knots; floors, and a ceiling for hi."""

    def __init__(self, clock, limit_ppm=500):
        epochs = {}
        for k in clock["knots"]:
            epochs.setdefault(k.get("epoch", 0), []).append(
                tuple(None if k[key] is None else int(k[key])
                      for key in ("local_ns", "lo_ns", "offset_ns", "hi_ns")))
        self.epochs = [([k[0] for k in knots], knots) for _, knots in sorted(epochs.items())]
        self.slopes = []
        for i in range(len(self.epochs)):
            ends = []
            for at, key in ((0, "before"), (len(self.epochs) - 1, "after")):
                s = clock.get(key) if i == at else None
                s = s or {"least_ppm": -limit_ppm, "most_ppm": limit_ppm}
                ends.append((round(s["least_ppm"] * 10**6), round(s["most_ppm"] * 10**6)))
            self.slopes.append(ends)
        self.jumps = [(int(j["after_local_ns"]), int(j["before_local_ns"])) for j in clock["jumps"]
                      if j["kind"] == "jump"
                      and None not in (j["after_local_ns"], j["before_local_ns"])]

    def at(self, local, epoch=0):
        """lo, offset, hi; the offset goes on level beyond the ends, where only bands are judged."""
        stamps, knots = self.epochs[epoch]
        if local < stamps[0] or local > stamps[-1]:
            early = local < stamps[0]
            _, lo, offset, hi = knots[0 if early else -1]
            least, most = self.slopes[epoch][0 if early else 1]
            d = local - stamps[0 if early else -1]
            low, high = (most, least) if early else (least, most)
            return (None if lo is None else lo + d * low // E12, offset,
                    None if hi is None else hi - (-d * high) // E12)
        i = max(bisect.bisect_left(stamps, local), 1)
        a, b = knots[i - 1], knots[i]
        d, run = local - a[0], b[0] - a[0]
        values = [None if None in (a[j], b[j]) else a[j] + (b[j] - a[j]) * d // run for j in (1, 2)]
        values.append(None if None in (a[3], b[3]) else a[3] - (-(b[3] - a[3]) * d) // run)
        return values

    def outside(self, local, truth):
        """By how much the truth is outside the band, 0 inside a bracket; the nearest epoch's."""
        if any(after < local < before for after, before in self.jumps):
            return 0
        by = []
        for epoch in range(len(self.epochs)):
            lo, _, hi = self.at(local, epoch)
            by.append(max(0, 0 if lo is None else lo - truth, 0 if hi is None else truth - hi))
        return min(by)

    def within(self, local):
        """Between knots, and not where time jumps."""
        return (any(stamps[0] <= local <= stamps[-1] for stamps, _ in self.epochs)
                and not any(after < local < before for after, before in self.jumps))

    def error(self, local, truth):
        return min((self.at(local, e)[1] - truth for e in range(len(self.epochs))), key=abs)

    def half(self, first, last):
        """Mean half width of the band from one stamp to another: it is straight between knots."""
        area = 0
        for stamps, knots in self.epochs:
            a, b = max(first, stamps[0]), min(last, stamps[-1])
            if a >= b:
                continue
            at = [a, *stamps[bisect.bisect_right(stamps, a):bisect.bisect_left(stamps, b)], b]
            width = [values[2] - values[0] for values in map(self.exact, at)]
            area += sum((y - x) * (u + v) for x, y, u, v in zip(at, at[1:], width, width[1:]))
        return area / 4 / (last - first)

    def exact(self, local):
        return next(self.at(local, e) for e, (stamps, _) in enumerate(self.epochs)
                    if stamps[0] <= local <= stamps[-1])


def judge(clock, moments):
    """Over (local, truth): how many are outside, the worst by, its stamp and truth; the estimate's
    rms. Moments inside a bracket in which time jumps are not judged."""
    line, bad, worst, squares, n = Line(clock), 0, (0, 0, 0), 0, 0
    for local, truth in moments:
        by = line.outside(local, truth)
        bad += by > 0
        worst = max(worst, (by, local, truth))
        if line.within(local):
            squares += line.error(local, truth) ** 2
            n += 1
    return bad, worst, math.sqrt(squares / max(n, 1))


def where(worst):
    return ", worst by %d ns at stamp %d where the truth is %d" % worst if worst[0] else ""


def unjudged(clock, moments):
    """How many moments lie where time jumps, for the line."""
    line = Line(clock)
    n = sum(any(after < local < before for after, before in line.jumps) for local, _ in moments)
    return ", %d not judged" % n if n else ""


def truth_of(path, reference, clock):
    """(local, truth) at the 1,001 moments of truth.json."""
    with open(os.path.join(os.path.dirname(path), "truth.json")) as f:
        read = json.load(f)["clock_ns"]
    return [(int(c), int(r) - int(c)) for r, c in zip(read[reference], read[clock])]


def series(path):
    """Rows of a recorded clock, as ns since the first one: when, and what it was ahead."""
    with gzip.open(path, "rt") as f:
        ns = [[round(float(x) * 10**9) if "e" in x else decimal(x) for x in row]
              for row in list(csv.reader(f))[1:]]
    return [(t - ns[0][0], ahead) for t, ahead in ns]


def decimal(text):
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, part = text.partition(".")
    return sign * (int(whole or 0) * 10**9 + int(part.ljust(9, "0")[:9] or 0))


def unsteered(options):
    """Mean half widths, ns, of clocks that nobody steers with the same messages, at 0.1 ppm."""
    clocks, _ = sync(unskew, "-r", "host0", "--model", "wander=0.1",
                     simulate(unskew, scratch, *options))
    return {name: mean_half(c) for name, c in clocks.items() if len(c["knots"]) > 1}


def mean_half(c):
    return Line(c).half(int(c["knots"][0]["local_ns"]), int(c["knots"][-1]["local_ns"]))


def logs():
    """0 seconds outside; mean halves at most 1.05 of those of clocks that nobody steers."""
    gnss(True)


def gnss(logged=False):
    """Four clocks in a chain, an exchange a second. 0 seconds outside; mean halves within these."""
    limit = {"host1": 190e3, "host2": 370e3, "host3": 550e3}
    for experiment in ("exp7", "exp8"):
        files = [os.path.join(given.folder, "gnss-clocks", "%s-AS%d.csv.gz" % (experiment, i))
                 for i in (1, 2, 3, 4)]
        rows = [series(f) for f in files]
        seconds = min(r[-1][0] for r in rows) // 10**9
        ref = [t for t, _ in rows[0]]
        for seed in range(1, given.seeds + 1):
            options = ["--hosts", 4, "--topology", "chain", "--rate", 1, "--answer", "100us",
                       "--dmin", "150us", "--tail", "100us", "--seconds", seconds, "--offset", 0,
                       "--drift-ppm", 0, "--seed", seed]
            if logged:
                limit = {name: 1.05 * half for name, half in unsteered(options).items()}
                options += ["--clock-logs"]
            for i, f in enumerate(files):
                options += ["--clock-error", "host%d=%s" % (i, f)]
            table = simulate(unskew, scratch, *options)
            clocks, status = sync(unskew, "-r", "host0", table, *(
                x for i in range(4 * logged) for x in (
                    "--clock-log", "host%d=%s/host%d.clock.csv" % (i, scratch, i))))
            for host in range(1, 4):
                name, moments = "host%d" % host, []
                for t, ahead in rows[host]:
                    i = max(bisect.bisect_left(ref, t), 1)
                    if t > seconds * 10**9 or i >= len(ref) or ref[i] == ref[i - 1]:
                        continue
                    (x, y), (x2, y2) = rows[0][i - 1:i + 1]
                    reads = y + (y2 - y) * (t - x) // (x2 - x)
                    moments.append((START + t + ahead, reads - ahead))
                check = truth_of(table, "host0", name)[::100]
                assert all(-2 <= truth - near(moments, local) <= 2 for local, truth in check
                           if stamp_in(moments, local)), "the clock is not what the rows say"
                c = clocks.get(name, {"quality": "no answer, status %d" % status, "knots": []})
                if len(c["knots"]) < 2:
                    report("gnss %s seed %d AS%d %s" % (experiment, seed, host + 1, c["quality"]), 1)
                    continue
                bad, worst, rms = judge(c, moments)
                half = mean_half(c)
                report("gnss %s seed %d AS%d %s: %d of %d seconds outside, mean half %.1f us (at most"
                       " %.1f), rms %.1f us, used %.3g ppm, disturbed %.0f s%s%s"
                       % (experiment, seed, host + 1, c["quality"], bad, len(moments), half / 1e3,
                          limit[name] / 1e3, rms / 1e3, c.get("wander", {}).get("used_ppm", 0),
                          disturbed(c), unjudged(c, moments), where(worst)),
                       bad or half > limit[name])


def stamp_in(moments, local):
    i = bisect.bisect_left(moments, (local, -10**18))
    return i < len(moments) and moments[i][0] == local


def near(moments, local):
    return moments[bisect.bisect_left(moments, (local, -10**18))][1]


def disturbed(clock):
    return sum(int(d["to_ns"]) - int(d["from_ns"]) for d in clock.get("disturbed", [])) / 1e9


def spread(clock, grid):
    """Half of what the true rate ranges over, ppm, outside of what the answer calls disturbed."""
    apart = [(int(d["from_ns"]), int(d["to_ns"])) for d in clock.get("disturbed", [])]
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(grid, grid[10:])
             if not any(x <= b[0] and a[0] <= y for x, y in apart)]
    return (max(rates) - min(rates)) / 2 * 1e6 if rates else 0


def poll():
    models = ("default", "wander=0.1", "wander=1", "wander=5", "wander=50", "linear", "segments",
              "segments=1min", "segments=auto")
    for seconds in (600, 14400):
        for seed in range(1, given.seeds + 1):
            table = simulate(unskew, scratch, "--poll", "64s", "--offset", "2ms", "--seconds", seconds,
                             "--rate", 10, "--seed", seed)
            out = subprocess.run([truth, os.path.join(scratch, "truth.json"), str(seconds * 10)],
                                 stdout=subprocess.PIPE, check=True, text=True).stdout
            grid = [(c, r - c) for _, r, c in (map(int, x.split()) for x in out.splitlines())]
            for model in models:
                name = "poll %d s seed %d %s" % (seconds, seed, model)
                if given.only not in name:
                    continue
                clocks, status = sync(unskew, "-r", "host0", table,
                                      *([] if model == "default" else ["--model", model]))
                c = clocks.get("host1", {"quality": "no answer, status %d" % status, "knots": []})
                if len(c["knots"]) < 2:
                    report("%s %s" % (name, c["quality"]), not clocks)
                    continue
                bad, worst, rms = judge(c, grid)
                used = c.get("wander", {}).get("used_ppm", 0)
                apart = spread(c, grid)
                # A stamp's rounding over a second is 2 ns.
                holds = apart <= used + 0.002 or model.startswith("segments")
                half = Line(c).half(grid[0][0], grid[-1][0])
                report("%s %s: %d of %d moments outside, mean half %.1f us, claimed %.1f, rms %.1f us, "
                       "used %.3g ppm of %.3g needed%s, disturbed %.0f s, %d jumps or bends%s%s"
                       % (name, c["quality"], bad, len(grid), half / 1e3,
                          int(c["half_width_ns"]["mean"] or 0) / 1e3, rms / 1e3, used, apart,
                          "" if holds else " (assumption broken)", disturbed(c), len(c["jumps"]),
                          unjudged(c, grid), where(worst)), bad and holds and c["quality"] != "contradicted")


def width_cases():
    """name, hosts, options, messages a second"""
    for shape, hosts, rates in (
            ("pair", 2, (0.05, 0.5, 5, 100)), ("chain", 3, (1, 10)), ("chain", 4, (0.1, 1)),
            ("chain", 10, (1, 10)), ("chain", 20, (1,)), ("chain", 50, (1,)), ("mesh", 3, (0.05, 1, 10)),
            ("mesh", 5, (0.2, 2, 20)), ("mesh", 10, (1,)), ("mesh", 50, (0.05, 0.2)),
            ("sparse", 8, (0.15, 2)), ("sparse", 20, (1,)), ("sparse", 50, (0.1, 1)),
            ("star", 5, (0.1, 1, 20)), ("star", 50, (0.5,)), ("ring", 4, (0.1, 1, 10)),
            ("ring", 10, (1,)), ("ring", 50, (1,)), ("one-way", 3, (0.5, 10)),
            ("one-way", 6, (0.1, 0.5, 5)), ("one-way", 20, (1,))):
        for rate in rates:
            topology = {"pair": "mesh", "one-way": "ring"}.get(shape, shape)
            yield ("%s of %d, %g/s" % (shape, hosts, rate), shape,
                   ["--hosts", hosts, "--topology", topology, "--rate", rate]
                   + (["--one-way"] if shape == "one-way" else []))


def widths():
    """Never over 1.02; 0.985 or better on the mean over chains, meshes and rings."""
    ratios = {}
    for name, shape, options in width_cases():
        if given.only not in name:
            continue
        for seed in range(1, given.seeds + 1):
            table = simulate(unskew, scratch, "--seconds", 300, "--wander-ppb", 1, "--seed", seed,
                             *options)
            for wander in ("0.1", "5"):
                answers = [sync(program, "-r", "host0", "--model", "wander=" + wander, table)[0]
                           for program in (unskew, given.old)]
                both = [(answers[0][h], answers[1][h]) for h in sorted(answers[0])
                        if h != "host0" and answers[0][h]["quality"] == "bounded"
                        and answers[1].get(h, {}).get("quality") == "bounded"]
                sums, worst = [0, 0], (0, "")
                for pair in both:
                    ends = [[int(c["knots"][i]["local_ns"]) for c in pair] for i in (0, -1)]
                    half = [Line(c).half(max(ends[0]), min(ends[1])) for c in pair]
                    sums = [s + h for s, h in zip(sums, half)]
                    worst = max(worst, (half[0] / half[1], pair[0]["name"]))
                lost = [h for h in answers[1] if answers[1][h]["quality"] == "bounded"
                        and answers[0].get(h, {}).get("quality") != "bounded"]
                if not both:
                    report("widths %s seed %d wander=%s: none bounded by both" % (name, seed, wander),
                           lost)
                    continue
                ratio = sums[0] / sums[1]
                ratios.setdefault((shape, wander), []).append(ratio)
                report("widths %s seed %d wander=%s: %.1f over %.1f us, ratio %.4f, worst clock %.4f "
                       "(%s)%s" % (name, seed, wander, sums[0] / len(both) / 1e3,
                                   sums[1] / len(both) / 1e3, ratio, *worst,
                                   ", lost: " + " ".join(lost) if lost else ""), ratio > 1.02 or lost)
    for (shape, wander), all_of in sorted(ratios.items()):
        print("mean of %-8s wander=%-4s %.4f, of %d from %.4f to %.4f" % (
            shape, wander, sum(all_of) / len(all_of), len(all_of), min(all_of), max(all_of)))
    for shapes in (("chain", "mesh", "ring"), ("chain", "mesh", "ring", "one-way")):
        some = [r for (shape, _), all_of in ratios.items() if shape in shapes for r in all_of]
        if some:
            mean = sum(some) / len(some)
            report("mean over %s: %.4f" % (", ".join(shapes), mean), mean > 0.985)


def mistaken(table, seed):
    """One message in 10,000 is received when another of its direction was: pairs wrongly matched."""
    draw = random.Random(seed)
    with open(table) as f:
        head, *rows = [line.rstrip("\n").split(",") for line in f]
    ways = {}
    for i, row in enumerate(rows):
        ways.setdefault((row[0], row[1]), []).append(i)
    for way in ways.values():
        for n in range(len(way)):
            if draw.random() < 1e-4:
                other = min(max(n + draw.choice((-3, -2, -1, 1, 2, 3)), 0), len(way) - 1)
                rows[way[n]][3] = rows[way[other]][3]
    with open(table, "w") as f:
        f.writelines(",".join(row) + "\n" for row in [head, *rows])


def estimates():
    day = ["--seconds", 600, "--rate", 10]
    cases = {
        "constant": day, "constant, linear": day, "constant, 100/s": ["--seconds", 600, "--rate", 100],
        "wander 1 ppb": day + ["--wander-ppb", 1], "wander 20 ppb": day + ["--wander-ppb", 20],
        "poll": day + ["--poll", "64s", "--offset", "2ms"],
        "poll 4 h": ["--poll", "64s", "--offset", "2ms", "--seconds", 14400, "--rate", 10],
        "step 5 ms": day + ["--step", "host1@300s:5ms"],
        "step 300 us": day + ["--step", "host1@300s:300us"],
        "wrong pairs": ["--seconds", 600, "--rate", 100],
    }
    for name, options in cases.items():
        if given.only not in name:
            continue
        for seed in range(1, given.seeds + 1):
            table = simulate(unskew, scratch, "--seed", seed, *options)
            if name == "wrong pairs":
                mistaken(table, seed)
            model = ["--model", "linear"] if name.endswith("linear") else []
            moments = truth_of(table, "host0", "host1")

            def rms(program, *more):
                c = sync(program, "-r", "host0", table, *model, *more)[0].get("host1")
                return judge(c, moments)[2] / 1e3 if c and len(c["knots"]) > 1 else None

            new, old = rms(unskew), rms(given.old)
            settled = sorted((r, m) for m, r in ((m, rms(unskew, "--method", m)) for m in (
                "hull", "support", "regress", "two-point", "hull+delta", "regress+delta",
                "least-violation", "round-trip", "round-trip-90", "interval", "min-window",
                "rate-segments", "lp-rate")) if r is not None)
            rows = subprocess.run([unskew, "compare", "-q", "--json", "--truth",
                                   os.path.join(scratch, "truth.json"), "-r", "host0", table, *model],
                                  stdout=subprocess.PIPE, check=False, text=True).stdout
            drawn = sorted((float(m["error_ns"]["rms"]) / 1e3, m["name"])
                           for p in (json.loads(rows)["pairs"] if rows else [])
                           for m in p["methods"] if m.get("error_ns"))
            best = settled[0][0] if settled else math.inf
            report("estimates %s seed %d: rms %s us, old %s, best in the band %s, best drawn %s" % (
                name, seed, *("-" if r is None else "%.3f" % r for r in (new, old)),
                ", ".join("%s %.3f" % (m, r) for r, m in settled[:3]),
                ", ".join("%s %.3f" % (m, r) for r, m in drawn[:3])),
                new is None or new > 1.0005 * best)
    if given.only not in "chain of three, 4 h":
        return
    for seed in range(1, given.seeds + 1):
        table = simulate(unskew, scratch, "--hosts", 3, "--topology", "chain", "--seconds", 14400,
                         "--rate", 10, "--seed", seed)
        for what in ([], ["--model", "wander=0.1"], ["--model", "linear"], ["--method", "hull"],
                     ["--model", "linear", "--method", "hull"]):
            for which, program in (("new", unskew), ("old", given.old)):
                clocks = sync(program, "-r", "host0", table, *what)[0]
                rms = [judge(clocks[h], truth_of(table, "host0", h))[2] / 1e3 if h in clocks else -1
                       for h in ("host1", "host2")]
                report("estimates chain of three, 4 h, seed %d, %s %s: rms %.4f and %.4f us" % (
                    seed, which, " ".join(what) or "default", *rms),
                    which == "new" and not what and max(rms) > 0.05)


def real():
    def path(*name):
        return os.path.join(given.folder, *name)

    third = path("third-clock", "messages.csv")
    stamps = {}
    with open(third) as f:
        for sender, receiver, sent, received in list(csv.reader(f))[1:]:
            stamps.setdefault(sender, []).append(int(sent))
            stamps.setdefault(receiver, []).append(int(received))
    # B jumps half way, 300 us ahead: its true offset to A and C is 0 before, -300 us behind.
    middle = (min(stamps["A"]) + max(stamps["A"])) // 2
    middle = round(middle / 1e9) * 10**9
    for reference in ([], ["-r", "A"], ["-r", "C"]):
        clocks, status = sync(unskew, third, *reference)
        name = " ".join(["real third-clock", *reference])
        for c in clocks.values():
            ref = c["reference"]
            shift = {h: (lambda t: 0) for h in "AC"}
            moments = []
            for local in sorted(stamps[c["name"]]):
                if c["name"] == "B":
                    truth = 0 if local < middle else -300000
                elif ref == "B":
                    truth = 0 if local < middle else 300000
                else:
                    truth = 0
                moments.append((local, truth))
            bad, worst, _ = judge(c, moments)
            half = int(c["half_width_ns"]["mean"]) / 1e3
            said = ["%s of %s%s" % (j["kind"], j["of"], (" or less likely " if j.get("likely") else " or ") + j["or"] if j.get("or") else "")
                    for j in c["jumps"]]
            report("%s: %s to %s %s, %d of %d outside, mean half %.1f us, disturbed %.0f s, %s%s" % (
                name, c["name"], ref, c["quality"], bad, len(moments), half, disturbed(c),
                "; ".join(said) or "no jump", where(worst)),
                bad or (c["name"] == "C" and half >= 1200)
                or (c["name"] == "B" and not any(j["of"] == "B" for j in c["jumps"])))
    clocks, status = sync(unskew, path("gnss-step", "messages.csv.gz"))
    named = [n for n, c in clocks.items() if c["jumps"] or c.get("disturbed")]
    named += [j["of"] for c in clocks.values() for j in c["jumps"]]
    report("real gnss-step: status %d, named %s, mean half %s us" % (
        status, " ".join(sorted(set(named))) or "none",
        " ".join("%.1f" % (int(c["half_width_ns"]["mean"] or 0) / 1e3) for c in clocks.values())),
        set(named) != {"AS2"})
    clocks, status = sync(unskew, *glob.glob(path("ntp-log", "*.csv")))
    quality = clocks.get("server", {}).get("quality")
    report("real ntp-log: status %d, server %s, %s" % (
        status, quality, clocks.get("server", {}).get("wander")), quality != "bounded")
    files = sorted(glob.glob(path("relay-selfcheck", "*.pcap")))
    for names in (["", "", "", ""], ["relay=", "relay=", "server=", "server="]):
        clocks, status = sync(unskew, *(n + f for n, f in zip(names, files)))
        report("real relay-selfcheck %s: status %d, %s" % (
            "by host" if names[0] else "by file", status,
            " ".join(c["quality"] for c in clocks.values())), status not in (0, 3))


arguments = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("what", choices=("gnss", "logs", "poll", "widths", "estimates", "real"))
arguments.add_argument("build", type=os.path.abspath)
arguments.add_argument("other", nargs="?", type=os.path.abspath, help="OLD or FOLDER")
arguments.add_argument("--seeds", type=int)
arguments.add_argument("--only", default="")
arguments.add_argument("--keep")
given = arguments.parse_args()
if given.what != "poll" and not given.other:
    arguments.error("%s wants a second operand" % given.what)
given.old = given.folder = given.other
given.seeds = given.seeds or {"gnss": 5, "logs": 5, "poll": 6}.get(given.what, 2)
unskew = os.path.join(given.build, "unskew")
truth = os.path.join(given.build, "bench", "bench_truth")
scratch = given.keep or tempfile.mkdtemp(prefix="unskew-measure-")
try:
    {"gnss": gnss, "logs": logs, "poll": poll, "widths": widths, "estimates": estimates, "real": real}[given.what]()
finally:
    if not given.keep:
        shutil.rmtree(scratch, ignore_errors=True)
sys.exit(missed > 0)
