# SPDX-License-Identifier: MIT
"""clement.py - Clement, Dagenais: Traces Synchronization in Distributed Networks (2009): tables 3,
4, 6 and 7

A client asks at fixed periods, a server answers at once, over Fast Ethernet. His numbers are those
of a fit, not errors: Er, the residual deviation of the exchanges' offsets around their line, and E,
the mean margin, half of what both messages of an exchange needed. They are what `unskew compare`
says of its methods round-trip-100 and round-trip-90; his formulas are written down here too, and
the claims hold the program against them.
"""
import math

from lab import half_width, knots, mean, offset_at
from page import BLUE, VERMILION, block, three

TITLE = "Clement 2009: residuals of round trips"

Z_90 = 1.64
# E is 45 us and Er 1.5: 43 us and a wait of 2.1 in the mean, each way.
LAN = dict(dmin="43us", tail="2.1us", answer="20us", bytes=16, wander_ppb=0.24)


# ---- his formulas ------------------------------------------------------------------------------


class Fit:
    """His equations 2 to 6 over exchanges (T1 s, D us, E us), those whose margin lies within z."""

    def __init__(self, exchanges, z=math.inf):
        m = mean(e for _, _, e in exchanges)
        s = math.sqrt(mean((e - m) ** 2 for _, _, e in exchanges))
        kept = [x for x in exchanges if abs(x[2] - m) <= z * s]
        self.n = len(kept)
        self.t, self.d = mean(t for t, _, _ in kept), mean(d for _, d, _ in kept)
        tt = math.fsum((t - self.t) ** 2 for t, _, _ in kept)
        self.slope = math.fsum((t - self.t) * (d - self.d) for t, d, _ in kept) / tt  # us/s
        rr = math.fsum((d - self.at(t)) ** 2 for t, d, _ in kept)
        self.residual_us = math.sqrt(rr / (self.n - 2)) if self.n > 2 else math.nan
        self.margin_us = mean(e for _, _, e in kept)

    def at(self, t):
        return self.d + self.slope * (t - self.t)


def exchanges(trace, client="host0", server="host1"):
    """All that the client began: T1 in s since the first, D less the first's and E in us."""
    there, back = [], []
    for a, b, sent, received, _ in trace.rows():
        if (a, b) == (client, server):
            there.append((received, sent))
        elif (a, b) == (server, client):
            back.append((sent, received))
    back.sort()
    out, j, first = [], 0, None
    for t2, t1 in sorted(there):
        while j < len(back) and back[j][0] < t2:
            j += 1
        if j == len(back):
            break
        t3, t4 = back[j]
        twice_d, twice_e = (t2 - t1) + (t3 - t4), (t4 - t1) - (t3 - t2)
        first = first or (t1, twice_d)
        out.append(((t1 - first[0]) * 1e-9, (twice_d - first[1]) * 5e-4, twice_e * 5e-4))
    return out


# ---- tables 3, 4 and 6: two hosts ------------------------------------------------------------------


METHODS = {"er": "round-trip-100", "er90": "round-trip-90", "er_segments": "round-trip-segments"}


def residual_us(answer):
    return 1e-3 * answer["exchanges"]["residual_ns"]


def measure(lab, seeds, options, recount=False):
    """Means over seeds of what `compare` says: Er and E of all exchanges, of 90 %, Er in segments;
    with recount its largest disagreement with the formulas above: slopes, Er and E in us."""
    runs, apart = [], [0.0, 0.0]
    for seed in seeds:
        trace = lab.simulate(seed, **{**LAN, **options})
        said = lab.compare(trace, list(METHODS.values()))
        all_of, most = said["round-trip-100"], said["round-trip-90"]
        runs.append({k: residual_us(said[m]) for k, m in METHODS.items()})
        runs[-1].update(e=1e-3 * all_of["exchanges"]["margin_ns"],
                        e90=1e-3 * most["exchanges"]["margin_ns"])
        for z, answer in ((math.inf, all_of), (Z_90, most)) if recount else ():
            fit, ours = Fit(exchanges(trace), z), answer["exchanges"]
            apart[0] = max(apart[0], abs(answer["beta_minus_one"] - 1e-6 * fit.slope))
            apart[1] = max(apart[1], abs(residual_us(answer) - fit.residual_us),
                           abs(1e-3 * ours["margin_ns"] - fit.margin_us),
                           abs(ours["kept"] - fit.n))
        trace.remove()
    return dict({k: mean(r[k] for r in runs) for k in runs[0]}, apart=apart)


def rows_of(got, names, paper):
    """A row per case and level of confidence: Er and E, the paper's and ours."""
    rows = []
    for name, (er, e, er90, e90), o in zip(names, paper, got):
        rows.append((name, "100 %", "%.2f" % er, "%.2f" % o["er"], "%.1f" % e, "%.1f" % o["e"]))
        rows.append(("", "90 %", "%.2f" % er90, "%.2f" % o["er90"], "%.1f" % e90,
                     "%.1f" % o["e90"]))
    return rows


HEADER = ["", "exchanges", "Er, us: paper", "ours", "E, us: paper", "ours"]

# Er and E in us, of all exchanges and of 90 %.
PERIODS = [("as fast as it goes", dict(period="2ms", dmin="37.5us", tail="0.5us",
                                    load="3.2us,3.2us"), (3.29, 44.2, 2.82, 43.9)),
           ("1 s", dict(period="1s"), (1.55, 45.4, 1.01, 45.2)),
           ("10 s", dict(period="10s"), (1.55, 46.8, 1.03, 46.5)),
           ("20 s", dict(period="20s"), (1.80, 46.9, 1.24, 46.5)),
           ("30 s", dict(period="30s"), (1.51, 46.6, 0.846, 46.1)),
           ("1 min", dict(period="1min"), (1.65, 46.5, 1.46, 45.8))]
DURATIONS = [("10 min", 600, (1.54, 45.4, 0.954, 45.2)), ("30 min", 1800, (1.69, 45.4, 1.24, 45.3)),
             ("45 min", 2700, (2.79, 45.3, 2.49, 45.2)), ("1 h", 3600, (3.28, 45.4, 3.01, 45.3)),
             ("2 h", 7200, (5.74, 45.0, 5.61, 44.8)), ("5 h", 18000, (34.7, 45.4, 34.7, 45.3)),
             ("12 h", 43200, (82.9, 45.0, 82.8, 44.8))]
# What a load adds at each host that has it, to each message: constant, mean, share that wait far
# longer. Tests 1 to 4 load both hosts, 5 to 8 the client.
LOADS = [("swap, bzip2, make", dict(load_least="3us", load="5us", load_heavy=0.01)),
         ("endless loop", dict(load="0.4us", load_heavy=0.01)),
         ("system calls", dict(load_least="1us", load="3.5us", load_heavy=0.005)),
         ("read and write", dict(load_least="3us", load="11us"))]
LOADED = [(27.8, 63.6, 26.9, 62.6), (4.02, 45.9, 3.72, 45.7), (9.99, 54.7, 9.09, 53.9),
          (12.1, 72.9, 7.62, 71.7), (6320, 52.4, 24.2, 51.4), (1390, 46.1, 4.84, 45.9),
          (16.3, 48.9, 15.6, 48.2), (20.3, 53.6, 17.0, 52.7)]


def by_period(lab, seeds, rows=PERIODS, recount=False):
    return lab.each(measure, [(lab, seeds, dict(seconds=600, drift_ppm=-207, **how), recount)
                              for _, how, _ in rows])


def by_duration(lab, seeds, rows=DURATIONS, recount=False):
    return lab.each(measure, [(lab, seeds, dict(seconds=s, drift_ppm=113, period="1s"), recount)
                              for _, s, _ in rows])


def by_load(lab, seeds):
    cases = []
    for both in (True, False):
        for _, how in LOADS:
            one = dict(how)
            for key in ("load", "load_least"):
                if key in one and not both:
                    one[key] += ",0"
                elif key in one:
                    one[key] += "," + one[key]
            cases.append((lab, seeds, dict(seconds=1800, drift_ppm=95, period="1s", **one)))
    return lab.each(measure, cases)


def table_3(lab, page, seeds):
    got = by_period(lab, seeds)
    page.heading("Table 3: the period of exchanges")
    page.text("10 minutes, clocks 207 ppm apart; means of %d runs, seeds %d to %d." % (
        len(seeds), seeds[0], seeds[-1]))
    page.table(HEADER, rows_of(got, [n for n, _, _ in PERIODS], [p for _, _, p in PERIODS]))
    page.text("""Flat from 1 s to 1 min as his; his E is 1.5 us larger from 10 s on, perhaps because
              idle hosts doze, which ours never do, and 90 % filters his rare long waits better than
              our exponential ones; "as fast as it goes" is a period of 2 ms here, and its row is
              put in as a whole: a minimum of 37.5 us and waits of 3.2 us at both hosts.""")
    return got


def table_4(lab, page, seeds):
    got = by_duration(lab, seeds)
    page.heading("Table 4: the duration")
    page.text("An exchange a second, clocks 113 ppm apart; means of %d runs, seeds %d to %d." % (
        len(seeds), seeds[0], seeds[-1]))
    page.table(HEADER, rows_of(got, [n for n, _, _ in DURATIONS], [p for _, _, p in DURATIONS]))
    page.text("""The same growth beyond 30 minutes, %.0f times from there to 12 h (his: 49 times): it is
              the wander that does it, and since one clock's walk differs from another's by a factor
              of two, his single run of each duration and our mean of %d cannot agree better."""
              % (got[6]["er"] / got[1]["er"], len(seeds)))
    page.text("""His proposal of section 13, a line for each 30 minutes (`round-trip-segments`), which
              he did not measure: Er in us of 90 % of the exchanges. A rest of less than half a
              segment belongs to the last one, so 45 min is one.""")
    page.table(["", "one line", "segments"], [
        (name, "%.2f" % g["er90"], "%.2f" % g["er_segments"])
        for (name, _, _), g in zip(DURATIONS, got)])
    page.figure("duration", "Residual deviation against duration, an exchange a second",
                block("paper", [(s / 60, p[0]) for _, s, p in DURATIONS])
                + block("ours", [(s / 60, "%.4g" % g["er"]) for (_, s, _), g in
                                 zip(DURATIONS, got)]) + """set logscale xy
set xlabel "duration, min"
set ylabel "residual deviation, us"
plot $paper with linespoints pt 5 lc rgb "%s" title "paper", \\
 $ours with linespoints pt 7 lc rgb "%s" title "ours, mean of %d runs"
""" % (VERMILION, BLUE, len(seeds)))
    return got


def table_6(lab, page, seeds):
    got = by_load(lab, seeds)
    page.heading("Tables 5 and 6: loads")
    page.text("""30 minutes, an exchange a second; means of %d runs, seeds %d to %d. A load is what it
              does to each message at a host that has it: a constant, an exponential wait, and a
              share of waits that are far longer (Pareto, shape 1.5).""" % (
              len(seeds), seeds[0], seeds[-1]))
    names = ["%d: %s" % (i + 1, LOADS[i % 4][0] + (", client only" if i > 3 else ""))
             for i in range(8)]
    page.table(HEADER, rows_of(got, names, LOADED))
    page.text("""E was put in for tests 1 to 4 and comes out of one host's share of it for 5 to 8; Er was
              not: with one host loaded ours falls, since half of the waits are gone and they are
              independent, while his rose, above all by single exchanges that took milliseconds,
              such as made 6,320 us of 24.""")
    return got


# ---- table 7: chains -----------------------------------------------------------------------------------

HOSTS = 8
DRIFTS = "0,-4.9,14.4,1.3,167,3.1,6.1,-41.5"
JUMPS = [  # Er us, direct: all, 90 %; indirect: all, 90 %
    (2.74, 0.672, None, None), (2.97, 1.15, 5.84, 1.83), (2.86, 0.835, 7.93, 2.61),
    (2.26, 1.51, 21.3, 9.99), (2.69, 0.701, 35.7, 11.8), (1.22, 0.664, 37.6, 12.6),
    (1.26, 0.781, 42.7, 13.4)]


def links(lab, seed, hosts, drift_ppm):
    """A row of hosts, an exchange a second between neighbours."""
    return lab.simulate(seed, **{**LAN, **dict(
        seconds=1800, period="1s", hosts=hosts, topology="chain", drift_ppm=drift_ppm,
        wander_ppb=",".join(["0.24"] * hosts))})


def chain(lab, seed, hosts=HOSTS, drift_ppm=DRIFTS):
    """By number of jumps, in us: Er of all and of 90 %, summed along the way; of `sync --solve tree`
    with the 90 % lines, the error of the last clock (root mean square) and its mean half width."""
    trace = links(lab, seed, hosts, drift_ppm)
    sync = lab.sync(trace, "round-trip-90", options=("--solve", "tree"))
    _, read = trace.clocks()
    said = {frozenset((p["a"], p["b"])): {m["name"]: residual_us(m) for m in p["methods"]}
            for p in lab.compared(trace, ["round-trip-100", "round-trip-90"])}
    out, er, er90 = [], 0.0, 0.0
    for k in range(1, hosts):
        host = "host%d" % k
        link = said[frozenset(("host%d" % (k - 1), host))]
        er, er90 = er + link["round-trip-100"], er90 + link["round-trip-90"]
        line = knots(sync, host)
        off = [t + offset_at(line, t) - a for t, a in zip(read[host], read["host0"])]
        out.append((er, er90, 1e-3 * math.sqrt(mean(e * e for e in off)),
                    1e-3 * half_width(line)))
    trace.remove()
    return out


def means(runs):
    """Means over runs of chain(), by jumps."""
    return [[mean(run[k][i] for run in runs) for i in range(4)] for k in range(len(runs[0]))]


def table_7(lab, page, seeds):
    indirect = means(lab.each(chain, [(lab, seed) for seed in seeds]))
    drift = DRIFTS.split(",")
    direct = [means(lab.each(chain, [(lab, 10 * seed + k, 2, "0," + drift[k])
                                     for seed in seeds]))[0] for k in range(1, HOSTS)]
    rows = []
    for k, (all_of, most, all_chain, most_chain) in enumerate(JUMPS):
        numbers = [all_of, direct[k][0], most, direct[k][1], all_chain, indirect[k][0], most_chain,
                   indirect[k][1], direct[k][2], indirect[k][2], direct[k][3], indirect[k][3]]
        rows.append([k + 1] + ["-" if n is None else three(n) for n in numbers])
    page.heading("Table 7: chains")
    page.text("""Eight hosts in a row, 30 minutes, an exchange a second between neighbours, or between
              the ends for the direct way; means of %d runs, seeds %d to %d. Er in us, along a chain
              the sum. His has no truth; the errors (root mean square, us) and the mean half widths
              of the band (us) are those of `sync --model linear --solve tree --method
              round-trip-90`.""" % (len(seeds), seeds[0], seeds[-1]))
    page.table(["jumps", "direct, all: paper", "ours", "90 %: paper", "ours",
                "chain, all: paper", "ours", "90 %: paper", "ours", "error: direct", "chain",
                "half width: direct", "chain"], rows)
    page.text("""Er grows with the jumps because it is a sum, ours evenly and his by leaps (jumps 4
              and 5), which the way through the switches cannot explain: each of his nodes reaches
              its neighbours through either of the two (his figure 4), so it may, or may not, have
              been the same one on both sides; the band grows as well, but the error hardly: what a
              clock's wander does to one link's line it does to the next one's with the other
              sign.""")
    return indirect


# ---- all of it -------------------------------------------------------------------------------------


def write(lab, page, build):
    page.text("""Two hosts (in table 7 eight in a row), a client that asks at fixed times and a server
              that answers 20 us later (exponential); each message needs 43 us and waits 2.1 us in the
              mean, so that E is 45 us; the server's clock wanders by 0.24 ppb per root second, which
              is what his 12 hours say. Er is the residual deviation around the fitted line and E
              the mean margin, both in us and both as `compare` prints them, of all exchanges or of those within 1.64 standard
              deviations of the mean margin (90 %). Delays, loads and wander were chosen with his
              tables in view: the levels of E and Er at 1 s and Er at 12 h are put in, what periods,
              the durations between and jumps do is not.""")
    table_3(lab, page, range(101, 111))
    table_4(lab, page, range(201, 211))
    table_6(lab, page, range(301, 311))
    table_7(lab, page, range(401, 411))
    formulas(page)


# ---- what computes what --------------------------------------------------------------------------


def formulas(page):
    page.heading("Formula by formula")
    page.text("""Where his formulas are, and what holds them: tests recompute them in rationals from
              sums as he prints them, over exchanges that are found by trying all messages.""")
    page.table(["his", "function", "held by", "largest difference"], [
        ("(3), figure 1: D", "`usk_exchanges()`", "test_exchange_estimators", "none"),
        ("section 12, figure 2: E, table 2", "`usk_margins_of()`", "test_margins",
         "none of 9,352 counts"),
        ("(2), (4), (5): X, D(0)", "`usk_round_trips_of()`", "test_standard_errors",
         "2e-12 in `clement.py`"),
        ("(6): Er", "`usk_round_trips_of()`", "test_standard_errors, `clement.py`",
         "4e-12 of it, 4e-11 us"),
        ("(7), (8): errors of X and D(0)", "`usk_round_trips_of()`", "test_standard_errors",
         "4e-12 of them"),
        ("section 13: segments", "`usk_round_trip_segments_of()`", "test_segments",
         "0.5 ns: knots are whole ns"),
        ("section 10: Er as weight", "`usk_paths_of()`, `--weights`", "golden residual.t", "none"),
        ("(10), section 15: sum of Er", "`write_paths()`: `residual_ns`", "golden residual.t",
         "1 ns: whole ns")])
    page.text("""The page of `unskew report --compare` draws his figure 2, section "Exchanges", with those
              that a level takes out as rings.""")


def claims(lab):
    seeds = range(111, 116)
    periods = by_period(lab, seeds, PERIODS[1:], True)
    durations = by_duration(lab, seeds, DURATIONS, True)
    er = [g["er"] for g in periods]
    yield ("Er is flat from a period of 1 s to 1 min: %s us" % ", ".join("%.2f" % x for x in er),
           max(er) < 1.5 * min(er))
    er = [g["er"] for g in durations]
    yield ("Er over 10 min to 12 h: %s us" % ", ".join("%.2f" % x for x in er), True)
    yield ("it is about the same up to 30 minutes", er[1] < 1.6 * er[0])
    yield ("it grows from there on", all(a < b for a, b in zip(er[1:], er[2:])))
    yield ("it is at least ten times as much in the end", er[-1] > 10 * er[1])
    slope, rest = (max(g["apart"][i] for g in periods + durations) for i in range(2))
    yield ("compare's slopes are those of equations 2 to 5 within %.1g" % slope, slope < 1e-9)
    yield ("its Er, E and numbers of exchanges kept, those of equation 6, within %.1g us" % rest,
           rest < 1e-6)
    segments = [g["er_segments"] for g in durations]
    yield ("in segments of 30 minutes Er stays: %s us" % ", ".join("%.2f" % x for x in segments),
           max(segments) < 2 * min(segments))
    got = means([chain(lab, seed) for seed in (411, 412)])
    er = [x[0] for x in got]
    yield ("Er grows with the number of jumps: %s us" % ", ".join("%.2f" % x for x in er),
           all(a < b for a, b in zip(er, er[1:])))
    half = [x[3] for x in got]
    yield ("so does the band: %s us" % ", ".join("%.0f" % x for x in half),
           all(a < b for a, b in zip(half, half[1:])))
