# SPDX-License-Identifier: MIT
"""kong.py - Kong, Spector, Siewiorek: Measuring Time in Cm* (1986): figures 1 and 4 to 7, equations
4 and 5

A simulated bus of one word serves readers of a clock of two; its times are set so that it is his:
see tests/sim/bus.h. What reading this machine's own clocks costs is another's business, and differs
from run to run: `unskew clock`.
"""
from lab import mean
from page import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, block, count, fixed

TITLE = "Kong, Spector and Siewiorek 1986: reading clocks under load"

READERS = [1, 4, 8, 16, 24, 30]
COLOURS = [BLUE, SKY, GREEN, ORANGE, VERMILION, PURPLE]
SEED = 1986


def pairs(lab, routine, readers, bits=16, n=20000, interrupts=0, seed=SEED):
    """(at_us, took_us, words between) of pairs of reads, one after the other."""
    return [tuple(map(int, row.values())) for row in
            lab.clocks("pairs", routine, readers, bits, n, interrupts, seed)]


def spread(values):
    m = mean(values)
    return m, mean((v - m) ** 2 for v in values) ** 0.5


# ---- figure 1 -----------------------------------------------------------------------------------


def by_between(rows):
    """Words between the reads that count: how many pairs, and their mean."""
    out = {}
    for _, took, between in rows:
        out.setdefault(between, []).append(took)
    return {k: (len(v), mean(v)) for k, v in out.items()}


def figure_1(lab, page):
    page.heading("Figure 1: Varying-Read has peaks and troughs")
    shown = {n: pairs(lab, "varying", n, n=2500) for n in (30, 8)}
    page.figure("1", "Time between two reads by Varying-Read over the time of the experiment", "".join([
        block("all%d" % n, ((at / 1e6, took) for at, took, b in rows[::4] if b == 2))
        for n, rows in shown.items()]) + block("flips", (
            (at / 1e6, took) for at, took, b in shown[30] if b != 2)) +
        """set xlabel "time, s"; set ylabel "between two reads, us"; set yrange [0:*]
plot $all30 with points pt 7 ps 0.2 lc rgb "%s" title "30 readers", \\
 $flips with points pt 6 ps 0.9 lc rgb "%s" title "30 readers, the low word flipped", \\
 $all8 with points pt 7 ps 0.2 lc rgb "%s" title "8 readers"
""" % (BLUE, VERMILION, GREEN))
    page.text("""Where the low word flips during the second read, 4 words lie between the two that
              count instead of 2, and where it does during the first, only 1. His time rises at the
              start and falls at the end as not all readers begin and end at once; here they do.""")
    rows = []
    for n in (8, 30):
        seen = by_between(pairs(lab, "varying", n, bits=12))
        for k, what in ((2, "as usual"), (4, "peaks"), (1, "troughs")):
            number, m = seen[k]
            rows.append((n, what, k, count(number), fixed(m, 0),
                         fixed(seen[2][1] * (k + 1) / 3, 0)))
    page.table(["readers", "", "words between", "pairs", "mean, us", "so many words more, us"], rows)
    page.text("""Low words of 12 bits, so that they flip often; 20,000 pairs each. He has 300 us for 8
              readers and over 800 us for 30.""")


# ---- figures 4 to 7 ------------------------------------------------------------------------------


def histogram(values, width):
    bins = {}
    for v in values:
        bins[v // width] = bins.get(v // width, 0) + 1
    first, last = min(bins), max(bins)
    return [((k + 0.5) * width, bins.get(k, 0) / len(values) / width) for k in
            range(first - 1, last + 2)]


def figures_4_to_7(lab, page):
    page.heading("Figures 4 to 7: 4-Read and 1-Read by number of readers")
    page.text("""4-Read promises the first low word, so there are always 3 words between. Under StarOS
              line clocks interrupt the reader 60 times a second, which shows as a small second peak;
              without them it is what he has of Medusa.""")
    figures = {}
    for figure, routine, interrupts, what in (
            (4, "four", 1, "4-Read, interrupted 60 times a second (StarOS)"),
            (5, "one", 1, "1-Read, interrupted 60 times a second (StarOS)"),
            (6, "four", 0, "4-Read (Medusa)"), (7, "one", 0, "1-Read (Medusa)")):
        script, plots = "", []
        for readers, colour in zip(READERS, COLOURS):
            values = [took for _, took, _ in pairs(lab, routine, readers, interrupts=interrupts)]
            figures[figure, readers] = spread(values) + (min(values),)
            name = "r%d" % readers
            script += block(name, (("%g" % x, "%.3g" % y) for x, y in histogram(values, 10)))
            plots.append('$%s with lines lw 1.5 lc rgb "%s" title "%d"' % (name, colour, readers))
        page.figure(str(figure), "Time between two reads by %s, by number of readers" % what, script +
                    'set xlabel "between two reads, us"; set ylabel "share per us"\n'
                    "set xrange [0:%d]; set key title \"readers\"\nplot %s\n"
                    % (1600 if routine == "four" else 700, ", ".join(plots)))
    page.table(["readers"] + ["figure %d: mean, us" % f if k == 0 else "deviation" for f in
                              (4, 5, 6, 7) for k in (0, 1)],
               [[n] + [fixed(figures[f, n][k], 1) for f in (4, 5, 6, 7) for k in (0, 1)]
                for n in READERS])
    least = min(figures[4, n][2] for n in READERS)
    page.text("""The least 4-Read takes is %d us, his 310 us. As in the paper it gets slower the more read
              the clock, while 1-Read, which asks for a quarter of the words and does so less often,
              hardly does. His Medusa's deviation falls again beyond 16 readers, which he puts down to
              how its Kmap queues; this bus serves whoever comes first, and once it is never idle the
              deviation settles.""" % least)


# ---- equations 4 and 5 -----------------------------------------------------------------------------


def equations(lab, page):
    page.heading("Equations 4 and 5: what compensation is worth")
    page.text("""Four reads whose costs have the correlations stated, drawn at random among those that four
              variables can have (positive semidefinite) and for which V(T_A) is at least 0.05 of
              V(T_1); a million samples through `usk_elapsed()`. Equation 4 is for what takes a while,
              equation 5 for what takes no time, where k' is k.""")
    rows = lab.clocks("factors", 10, 1000000, SEED)
    page.table(["rho 12", "13", "14", "23", "24", "34", "k', eq. 4", "seen", "off, %", "k, eq. 5",
                "seen", "off, %"],
               [[fixed(float(r["rho_" + k]), 2) for k in ("12", "13", "14", "23", "24", "34")] +
                [c for e in "45" for c in (
                    fixed(float(r["eq" + e]), 3), fixed(float(r["seen" + e]), 3),
                    fixed(100 * (float(r["seen" + e]) / float(r["eq" + e]) - 1), 2))]
                for r in rows])
    page.text("""Between 0.5 and 0.67 is what he has where reads have nothing to do with each other.""")


def write(lab, page, build):
    page.text("""`papers/clocks.c` runs his clock-reading routines and `usk_elapsed()` on a
              simulated bus and on noise of known correlation. Seed %d.""" % SEED)
    figure_1(lab, page)
    figures_4_to_7(lab, page)
    equations(lab, page)
    page.heading("The routines as printed")
    page.text("""Stepped through every value of a small counter and every number of ticks between any two
              words (`tests/unit/test_counter.c`): Varying-Read is wrong only where the high word wraps;
              4-Read exactly where, after a flip, no tick falls between its two low words, or the high
              word wraps; 1-Read where two calls see one value. Hardened they are never wrong, if a call
              lasts less than a period of the low word and 1-Read is called at least once in each.""")


def claims(lab):
    seed = SEED + 1
    seen = by_between(pairs(lab, "varying", 30, bits=12, n=8000, seed=seed))
    usual = seen[2][1]
    yield ("Varying-Read, 30 readers: %.0f us, with peaks of %.0f us and troughs of %.0f us" %
           (usual, seen[4][1], seen[1][1]), 700 < usual < 1000)
    yield ("peaks are 5 words long and troughs 2, of 3 (5 %)",
           abs(seen[4][1] / usual * 3 / 5 - 1) < 0.05 and abs(seen[1][1] / usual * 3 / 2 - 1) < 0.05)
    eight = mean(t for _, t, _ in pairs(lab, "varying", 8, n=2000, seed=seed))
    yield ("8 readers: %.0f us" % eight, 240 < eight < 360)
    four = [mean(t for _, t, _ in pairs(lab, "four", n, n=2000, seed=seed)) for n in READERS]
    one = [mean(t for _, t, _ in pairs(lab, "one", n, n=2000, seed=seed)) for n in READERS]
    yield ("4-Read slows down with every reader: %s us" % ", ".join("%.0f" % m for m in four),
           all(a < b for a, b in zip(four, four[1:])))
    yield ("1-Read hardly does: %s us" % ", ".join("%.0f" % m for m in one),
           one[-1] / one[0] < four[-1] / four[0] / 2)
    worst = max(abs(float(r["seen" + e]) / float(r["eq" + e]) - 1)
                for r in lab.clocks("factors", 4, 200000, seed) for e in "45")
    yield ("k and k' are what equations 4 and 5 say (5 %)", worst < 0.05)
