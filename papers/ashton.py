# SPDX-License-Identifier: MIT
"""ashton.py - Ashton: Algorithms for Off-line Clock Synchronisation (1995): tables 1 to 7, his
running times, and what he left open: number of messages and duration one at a time

His data: five SparcStations on one Ethernet, three programs watched beside six loads, five
replications of each, of which 57 came to an end. A correction is what one algorithm makes of one
pair of hosts in one replication. Here a pair of a replication is a simulated trace of its own: a
client that asks and a server that answers, on the clocks of two of five hosts.
"""
import itertools, random

from lab import mean, median
from page import BLUE, GREEN, ORANGE, PURPLE, VERMILION, block, count, three

TITLE = "Ashton 1995: algorithms side by side"

# His names and ours, as his tables have them: worst first.
METHODS = [("c.regress", "regress+delta"), ("hull", "hull"), ("2", "two-point"),
           ("c.2", "two-point+delta"), ("c.hull", "hull+delta")]
NAMES = [ours for _, ours in METHODS]
SIX = ["regress"] + NAMES  # as table 2 counts them
# Rows that his tables lack: c.2 with stamps moved, and his suggestion of section 7.4.
OURS = [("c.2, stamps moved (ours)", "two-point+moved"), ("hull or 2 (7.4)", "hull-or-two-point")]
ALL = SIX + [ours for _, ours in OURS]

# The last host is scooter, the file server: messages from or to it need 470 us at least.
SCOOTER = 4
DRIFT_PPM = [37, -112, 85, -171, 0]
WANDER_PPB = 3
PAIRS = sorted(itertools.combinations(range(5), 2), key=lambda p: SCOOTER not in p)
# Who talks to whom is uneven: shares of a replication's messages, in the order of PAIRS.
SHARES = {
    "ls": [0.64, 0.16, 0.09, 0.05, 0.03, 0.012, 0.008, 0.005, 0.003, 0.002],
    "gcc": [0.50, 0.15, 0.10, 0.09, 0.06, 0.05, 0.03, 0.015, 0.004, 0.001],
    "musbus": [0.20, 0.16, 0.14, 0.12, 0.11, 0.09, 0.07, 0.06, 0.035, 0.015],
}
# Messages of a replication: least and most, as table 1 has them.
MESSAGES = {"ls": (249, 813), "gcc": (6832, 9070), "musbus": (119980, 140739)}
# A load: mean us that a message waits at each host, and the share of waits that are far longer.
LOADS = {
    "none": ([30, 40, 30, 50, 250], 0),
    "float": ([100, 300, 150, 200, 900], 0.01),
    "rtt": ([150, 250, 200, 150, 1200], 0.01),
    "musbus": ([100, 300, 150, 250, 1500], 0.02),
    "rtt.float": ([250, 500, 300, 400, 2000], 0.03),
    "all": ([400, 700, 300, 500, 3000], 0.05),
}
# Replications that came to an end, and seconds that they took: least and most.
REPLICATIONS = {
    "ls": {"none": (5, 0.4, 0.8), "float": (5, 4, 21), "rtt": (5, 0.6, 1.5),
           "musbus": (4, 0.8, 2), "rtt.float": (5, 1.5, 5), "all": (3, 2, 6)},
    "gcc": {"none": (5, 12, 20), "rtt": (5, 20, 35), "musbus": (5, 25, 45),
            "float": (4, 90, 130), "rtt.float": (1, 190, 206)},
    "musbus": {"none": (8, 411, 452), "rtt": (2, 1150, 1560)},
}
FAILED = {"ls": 3, "gcc": 10, "musbus": 20}
BASE_SEED = {"ls": 11000, "gcc": 12000, "musbus": 13000}

PAPER = {  # % too fast, max us, mean us, negative delays
    "ls": [(21.07, 18236.52, 1704.40, 714), (6.88, 890.77, 228.94, 0), (5.02, 4095.81, 235.12, 14),
           (0.24, 180.65, 52.38, 0), (0.01, 16.76, 16.76, 0)],
    "gcc": [(29.60, 58321.98, 1514.97, 17840), (7.62, 1977.01, 213.17, 7),
            (1.36, 1220.42, 174.45, 61), (0.17, 1436.89, 37.59, 3), (0.01, 42.99, 13.17, 0)],
    "musbus": [(23.37, 11054.18, 1018.86, 103124), (9.36, 635.81, 204.46, 7),
               (0.93, 986.95, 52.79, 39), (0.27, 148.15, 22.29, 0), (0.07, 82.02, 6.48, 0)],
}
PAPER_CORRECTIONS = {"ls": (41, 9678), "gcc": (154, 162428), "musbus": (100, 1334033)}
PAPER_RANGES = {  # max, mean us/s
    "ls": [(7520.1, 2382.4), (1119.3, 317.8), (4083.8, 748.5), (1083.5, 234.3), (587.8, 119.9)],
    "gcc": [(10644.9, 851.4), (794.6, 80.6), (940.9, 66.9), (80.6, 10.3), (35.0, 7.9)],
    "musbus": [(40.3, 13.2), (5.1, 2.4), (4.0, 0.5), (0.4, 0.2), (0.4, 0.1)],
}
WHY = {
    "ls": """Our hull errs less, because short messages, which bound it, come both ways all the time; what
          c.hull leaves, under 0.1 us, is half a minimum delay counted by two clocks 200 ppm apart.""",
    "gcc": """c.regress follows the mean delays, which differed more between his two ways than our
           loads make them; hull errs less for the reason above.""",
    "musbus": """What c.hull leaves comes from the clocks' wander here as there, because no line fits
              some of the traces any more; c.regress, hull and 2 err less than his for the reasons
              above.""",
}


class Correction:
    """One pair of one replication: what it had, and what each algorithm made of it."""

    def __init__(self, key, forth, back, seconds, answers):
        self.key, self.forth, self.back, self.seconds = key, forth, back, seconds
        self.answers = answers

    messages = property(lambda self: self.forth + self.back)
    enough = property(lambda self: min(self.forth, self.back) >= 20)


def model(pair):
    """The least that a message between two hosts needs, as he found it."""
    return "%dus+14us+1.032us/B" % (470 if SCOOTER in pair else 520)


def simulate(lab, seed, pair, messages, seconds, load, **more):
    """A client asks and gets an answer a moment later."""
    waits, heavy = LOADS[load]
    options = dict(seconds="%.6f" % seconds, rate="%.9g" % (messages / 2 / seconds),
                   dmin=model(pair), tail="20us", answer="1ms", bytes=1400,
                   load=",".join("%dus" % waits[h] for h in pair), load_receivers=True,
                   load_heavy=heavy, offset="0,%ds" % (seed % 97),
                   drift_ppm=",".join(str(DRIFT_PPM[h]) for h in pair),
                   wander_ppb="0,%g" % WANDER_PPB)
    return lab.simulate(seed, **{**options, **more})


def correct(lab, key, seed, pair, messages, seconds, load, methods=ALL, more=None):
    trace = simulate(lab, seed, pair, messages, seconds, load, **(more or {}))
    stamps = [(r[0], r[2] if r[0] == "host0" else r[3]) for r in trace.rows()]
    forth = sum(a == "host0" for a, _ in stamps)
    answers = lab.compare(trace, methods, model(pair)) if stamps else {}
    trace.remove()
    took = (max(t for _, t in stamps) - min(t for _, t in stamps)) * 1e-9 if stamps else 0
    return Correction(key, forth, len(stamps) - forth, took,
                      {n: a for n, a in answers.items() if "failed" not in a})


def replicate(lab, workload, most=REPLICATIONS, **more):
    """Every correction of a workload; key: (load, replication, pair). more: other options."""
    cases, seed = [], BASE_SEED[workload]
    for load, (n, least_s, most_s) in most[workload].items():
        for r in range(n):
            seed += 10
            dice = random.Random(seed)
            low, high = MESSAGES[workload]
            messages = low + (high - low) * dice.random()
            seconds = least_s + (most_s - least_s) * dice.random()
            for k, pair in enumerate(PAIRS):
                cases.append((lab, (load, r, pair), seed + k, pair,
                              messages * SHARES[workload][k], seconds, load, ALL, more))
    return lab.each(correct, cases)


def violations(corrections, method):
    """Pooled: % too fast, largest and mean us, inversions."""
    n = fast = inversions = 0
    largest = total = 0.0
    for c in corrections:
        a = c.answers[method]
        n += c.messages
        fast += a["too_fast"]["count"]
        inversions += a["inversions"]["corrected"]
        largest = max(largest, 1e-3 * int(a["too_fast"]["max_ns"]))
        total += 1e-3 * int(a["too_fast"]["mean_ns"]) * a["too_fast"]["count"]
    return 100 * fast / n, largest, total / fast if fast else 0.0, inversions


def judged(corrections):
    """With 20 messages each way, and answers of all."""
    return [c for c in corrections if c.enough and all(m in c.answers for m in NAMES)]


def ranges(corrections):
    """Per method: largest and mean range of the rates of one pair and load, us/s; how many."""
    groups = {}
    for c in judged(corrections):
        groups.setdefault((c.key[0], c.key[2]), []).append(c)
    groups = [g for g in groups.values() if len(g) > 1]
    out = []
    for m in NAMES + [ours for _, ours in OURS]:
        spread = []
        for g in groups:
            rates = [1e6 * c.answers[m]["beta_minus_one"] for c in g if m in c.answers]
            spread.append(max(rates) - min(rates))
        out.append((max(spread), mean(spread)) if spread else (0, 0))
    return out, len(groups)


# ---- the order of methods ----------------------------------------------------------------------


def order(what, his, ours, unit):
    """A sentence: which methods change places between his column and ours, each pair with its figures."""
    swapped = ["%s and %s (his %s %s %s, ours %s %s %s%s)" % (
        METHODS[i][0], METHODS[k][0], three(his[i]), "<" if his[i] < his[k] else ">", three(his[k]),
        three(ours[i]), "<" if ours[i] < ours[k] else ">", three(ours[k]), unit)
        for i, k in itertools.combinations(range(len(METHODS)), 2)
        if (his[i] - his[k]) * (ours[i] - ours[k]) < 0]
    return what + (": other way round are " + "; ".join(swapped) if swapped
                   else ": the order is his") + "."


# ---- tables 1 to 3 -----------------------------------------------------------------------------


def table_1(page, all_of):
    paper = {"ls": (27, 531, 993, 249, 53, 501, 0), "gcc": (20, 8189, 9070, 6832, 819, 4285, 0),
             "musbus": (10, 133404, 140739, 119980, 13340, 32314, 464)}
    rows = []
    for w, corrections in all_of.items():
        groups = {}
        for c in corrections:
            groups.setdefault(c.key[:2], []).append(c.messages)
        sums, each = [sum(g) for g in groups.values()], [m for g in groups.values() for m in g]
        ours = (len(groups), round(mean(sums)), max(sums), min(sums), round(mean(each)), max(each),
                min(each))
        rows += [(w + ", paper", *map(count, paper[w])), (w + ", ours", *map(count, ours))]
    page.heading("Table 1: messages")
    page.table(["", "replications", "messages each: mean", "most", "least", "per pair: mean",
                "most", "least"], rows)
    page.text("""%d, %d and %d replications failed for him, when Amoeba ran out of memory, and are
              left out here as well; his two forms of musbus are one row.""" % tuple(
              FAILED[w] for w in all_of))


def table_2(page, all_of):
    paper = {"ls": (932, 2.72, 21.04, 0.002), "gcc": (1167, 47.69, 205.86, 0.002),
             "musbus": (600, 611.89, 1561.70, 410.87)}
    rows = []
    for w, corrections in all_of.items():
        times = [c.seconds for c in corrections for m in SIX if m in c.answers]
        tried = len(SIX) * len(corrections)
        rows += [(w + ", paper", count(paper[w][0]), count(tried - paper[w][0]),
                  *("%.4g" % t for t in paper[w][1:])),
                 (w + ", ours", count(len(times)), count(tried - len(times)),
                  *("%.4g" % t for t in (mean(times), max(times), min(times))))]
    page.heading("Table 2: corrections and the time that they cover")
    page.table(["", "succeeded", "failed", "mean, s", "longest", "shortest"], rows)
    page.text("""Six algorithms for each pair of each replication; ours fail less often for ls because
              our client asks at random all the time and is answered at once, while some of his
              pairs had only a few messages in one direction.""")


def table_3(page):
    paper = {"none": (16.3, 19.3, 20.0), "float": (3.9, 11.0, None), "rtt": (41.3, 53.0, 53.0),
             "musbus": (29.1, 32.9, None), "rtt.float": (25.6, 44.3, None),
             "all": (28.1, None, None)}
    page.heading("Table 3: the loads")
    page.table(["load", "Ethernet use, ls: paper", "gcc", "musbus",
                "ours: mean wait at a host, us: least", "most", "long waits"],
               [(load, *("%.1f %%" % p if p else "-" for p in paper[load]),
                 min(LOADS[load][0]), max(LOADS[load][0]), "%g %%" % (100 * LOADS[load][1]))
                for load in LOADS])
    page.text("""The simulator's network is never full, so a load is what it does to messages: an
              exponential wait at each host, %d times as long at the file server as at the idlest,
              and now and then one that is far longer (Pareto, shape 1.5). A host holds up what it
              receives only. His paper does not say how long messages waited: sizes and one-sidedness
              were chosen with his tables in view, see "What the loads decide".""" % (
              max(LOADS["rtt"][0]) // min(LOADS["rtt"][0])))


# ---- tables 4 to 7 -----------------------------------------------------------------------------


def tables_4_to_6(page, all_of, why):
    for number, (w, corrections) in zip((4, 5, 6), all_of.items()):
        kept = judged(corrections)
        page.heading("Table %d: %s" % (number, w))
        page.text("""Paper: %s corrections of %s messages; ours: %s of %s. At least 20 messages each
                  way.""" % (*map(count, PAPER_CORRECTIONS[w]), count(len(kept)),
                             count(sum(c.messages for c in kept))))
        rows, ours = [], []
        for (name, method), p in itertools.zip_longest(METHODS + OURS, PAPER[w]):
            answered = [c for c in kept if method in c.answers]
            ours.append(violations(answered, method))
            rows.append((name, *(x for k, show in enumerate(
                ((lambda v: "%.2f %%" % v), three, three, count))
                for x in (show(p[k]) if p else "-", show(ours[-1][k])))))
        page.table(["", "too fast: paper", "ours", "most, us: paper", "ours", "mean, us: paper",
                    "ours", "negative: paper", "ours"], rows)
        page.points([order(what, [p[k] for p in PAPER[w]], [o[k] for o in ours], unit)
                     for k, (what, unit) in enumerate((("Too fast", " %"), ("Most", " us"),
                                                       ("Mean", " us"), ("Negative", "")))])
        page.text(why[w])


def what_loads_decide(lab, page, all_of):
    """Tables 4 to 6 once more, where the two ways have the same delays."""
    columns = []
    for w, corrections in all_of.items():
        alike = judged(replicate(lab, w, load_receivers=False))
        columns += [judged(corrections), alike]
    header = [""]
    for w in all_of:
        header += [w + ": as above", "alike"]
    page.heading("What the loads decide")
    page.text("""The same traces, but a busy host holds up what it sends as well, so that both ways wait
              alike: too fast, by method.""")
    page.table(header, [(name, *("%.2f %%" % violations(c, m)[0] for c in columns))
                        for name, m in METHODS])
    page.text("""That c.hull is best does not depend on it; that c.regress is far worse than hull and 2 does: where both ways
              wait alike, mean delays cancel, and with many messages it is better than 2 and hull. So the place of c.regress says that his two ways differed, which is what was put in
              here, and not how good it is elsewhere.""")


def what_lengths_decide(lab, page, all_of):
    """c.2 once more, where all messages are of one length."""
    columns, header = [], [""]
    for w in ("ls", "gcc"):
        columns += [judged(all_of[w]), judged(replicate(lab, w, bytes=16))]
        header += [w + ": as above", "one length"]
    page.heading("What the lengths decide")
    page.text("""c.2 has the model in the errors of equivalences only, as section 4.2.2 says; stamps stay where
              they are, and the middle of an exchange takes its two delays for alike. Here their
              lengths are drawn apart, and one byte is 1.032 us: a request of 16 bytes and an answer
              of 1,400 put the equivalence 714 us off, which its error does not see. So c.2 is far worse than 2 on these traces, and his 0.24 % of table 4 cannot be had so. Either his
              messages of one exchange were much alike, or his program moved the stamps, as it did for
              regress and hull. The same traces, but all messages of 16 bytes: too fast, by
              method.""")
    page.table(header, [(name, *("%.2f %%" % violations(c, m)[0] for c in columns))
                        for name, m in METHODS + OURS[:1]])


def table_7(page, all_of):
    page.heading("Table 7: spread of drift over replications")
    rows, used = [], []
    columns = {}
    for w, corrections in all_of.items():
        columns[w], n = ranges(corrections)
        used.append(n)
    for k, (name, _) in enumerate(METHODS + OURS):
        row = [name]
        for w in all_of:
            his = PAPER_RANGES[w][k] if k < len(METHODS) else (None, None)
            for x in zip(his, columns[w][k]):
                row += ["-" if v is None else three(v) for v in x]
        rows.append(row)
    header = [""]
    for w in all_of:
        header += [w + " most: paper", "ours", "mean: paper", "ours"]
    page.text("""us/s, over the replications of a pair beside one load: his from 11, 36 and 30
              experiments, ours from %d, %d and %d.""" % tuple(used))
    page.table(header, rows)
    page.points([order("%s, %s" % (w, what), [p[k] for p in PAPER_RANGES[w]],
                       [o[k] for o in columns[w]], " us/s")
                 for w in all_of for k, what in enumerate(("most", "mean"))])
    page.text("""Ranges shrink as the number of messages and the time grow, here as there. In musbus only the
              wander is left of most of ours, while his c.regress, hull and 2 still showed their
              errors: places there are a matter of a few hundredths of a us/s.""")


# ---- running times, and what he left open --------------------------------------------------------


def running_times(lab, page):
    """Real times: this part of the page is a little different each time."""
    n = 12077 + 9176
    trace = simulate(lab, 14000, (0, 1), n, 1200, "none")
    best = {}
    for _ in range(5):
        for m, a in lab.compare(trace, NAMES, model((0, 1))).items():
            best[m] = min(best.get(m, 1e9), a["seconds"])
    whole = {m: lab.seconds("sync", "--quiet", "--json", "--model", "linear", "--method", m,
                            "--min-delay", model((0, 1)), trace.messages_csv) for m in NAMES}
    paper = {"c.hull": "3 s", "c.2": "10 ms"}
    page.heading("Running time")
    page.text("""His largest correction, %s messages. Measured on the machine that made this page, so
              other each time: best of five, of the whole command its processor
              time.""" % count(n))
    page.table(["", "paper", "ours, the estimator", "ours, whole `sync`, read from text"],
               [(name, paper.get(name, "-"), three(1e3 * best[m]) + " ms",
                 three(1e3 * whole[m]) + " ms") for name, m in METHODS])
    page.text("""His hull took time with the square of the number of messages, ours with the number;
              exchanges and plain hulls are found before an estimator's clock starts, the moved
              hulls of c.hull are not.""")
    trace.remove()


NUMBERS = (30, 100, 300, 1000, 3000, 10000)  # each way
SPANS = (1, 10, 100, 1000)  # s
OPEN_SEEDS = range(15000, 15005)


def open_question(lab, page):
    """Number of messages and duration, one at a time."""
    cells = [(n, s) for n in NUMBERS for s in SPANS]
    got = lab.each(correct, [(lab, (n, s), seed, (0, 1), 2 * n, s, "rtt", NAMES + ["two-point+moved"])
                             for n, s in cells for seed in OPEN_SEEDS])
    by = {}
    for c in got:
        by.setdefault(c.key, []).append(c)

    def errors(cell, method):
        return [{k: 1e-3 * int(v) for k, v in c.answers[method]["error_ns"].items()}
                for c in by[cell] if method in c.answers]

    def error(cell, method):
        return median(e["rms"] for e in errors(cell, method))

    def drift(cell, method):
        return median(abs(e["end"] - e["start"]) / cell[1] for e in errors(cell, method))

    page.heading("What he left open: number of messages and duration, one at a time")
    page.text("""His workloads had more messages where they took longer. Here a pair with load rtt has
              a number of messages each way within a span of time; medians over seeds %d to %d.
              First the error against the truth, us (root mean square over the span), then that of
              the drift, us/s.""" % (OPEN_SEEDS[0], OPEN_SEEDS[-1]))
    for what in (error, drift):
        page.table(["messages each way"] + ["%s, %s s" % (name, count(s)) for name in
                                            ("c.hull", "2") for s in SPANS],
                   [(count(n), *(three(what((n, s), m)) for m in ("hull+delta", "two-point")
                                 for s in SPANS)) for n in NUMBERS])
    page.text("""The error depends on the number of messages alone, until the clocks' wander sets a
              floor (about 4 us in 1,000 s); the drift's falls with the time as well, for it is that
              error over the span.""")
    # Without c.2, whose error is that of lengths, however many messages there are.
    drawn = METHODS[:3] + OURS[:1] + METHODS[4:]
    colours = (VERMILION, ORANGE, PURPLE, BLUE, GREEN)
    data, plots = [], []
    for k, (name, m) in enumerate(drawn):
        data.append(block("m%d" % k, [(n, "%.4g" % error((n, 100), m)) for n in NUMBERS]))
        plots.append('$m%d with linespoints pt %d lc rgb "%s" title "%s"' % (
            k, 5 + 2 * k, colours[k], name))
    page.figure("messages", "Error against number of messages, all within 100 s",
                "".join(data) + """set logscale xy
set xlabel "messages each way"
set ylabel "error (root mean square), us"
plot """ + ", \\\n ".join(plots) + "\n")


# ---- all of it -------------------------------------------------------------------------------------


def write(lab, page, build):
    page.text("""Five hosts, clocks up to %d ppm apart that wander by %g ppb per root second. Each pair
              of a replication is a trace of its own: a client asks, on average so often that the
              pair's share of the messages comes out, a server answers 1 ms later (exponential), 16
              to 1,400 bytes (evenly in their logarithm). A message needs 520 us (470 from and to
              the file server) + 14 us + 1.032 us a byte after the first, and waits for its load;
              the algorithms are given exactly that model, and no wait is negative. Seeds: %s and
              on. Below his rows stand two of ours: c.2 with stamps moved, and the better of hull and
              2 on each pair by his checks, which know the model here.""" % (max(abs(DRIFT_PPM[a] - DRIFT_PPM[b]) for a, b in PAIRS), WANDER_PPB,
                        ", ".join("%d (%s)" % (BASE_SEED[w] + 10, w) for w in BASE_SEED)))
    all_of = {w: replicate(lab, w) for w in SHARES}
    table_1(page, all_of)
    table_2(page, all_of)
    table_3(page)
    tables_4_to_6(page, all_of, WHY)
    what_loads_decide(lab, page, all_of)
    what_lengths_decide(lab, page, all_of)
    table_7(page, all_of)
    running_times(lab, page)
    open_question(lab, page)


def claims(lab):
    some = {"ls": {load: (2, *span) for load, (_, *span) in REPLICATIONS["ls"].items()},
            "gcc": {"none": (1, 12, 20), "rtt": (1, 20, 35), "float": (1, 90, 130)},
            "musbus": {"none": (1, 411, 452)}}
    kept = []
    for w in some:
        kept += judged(replicate(lab, w, some))
    share = {name: violations(kept, m)[0] for name, m in METHODS}
    said = ", ".join("%s %.3f %%" % (name, share[name]) for name, _ in reversed(METHODS))
    yield ("too fast, over %d corrections: %s" % (len(kept), said), True)
    yield "c.hull is best", share["c.hull"] < share["c.2"]
    moved, choice = (violations(kept, m)[0] for _, m in OURS)
    yield ("c.2 with stamps moved is next: %.3f %%" % moved,
           share["c.hull"] < moved < min(share["2"], share["hull"]))
    yield ("the better of hull and 2 is no worse than either: %.3f %%" % choice,
           choice <= min(share["2"], share["hull"]))
    alike = judged(replicate(lab, "gcc", some, bytes=16))
    pair = [violations(alike, m)[0] for m in ("two-point", "two-point+delta", "two-point+moved")]
    yield ("c.2 as section 4.2.2 has it is better than 2 where messages are of one length, and as "
           "good as with stamps moved: 2 %.3f %%, c.2 %.3f %%, moved %.3f %%" % tuple(pair),
           pair[1] == pair[2] < pair[0])
    yield "where lengths differ it is not", share["c.2"] > share["2"]
    yield ("c.regress is far worse than 2 and hull, where busy hosts hold up what they receive", share["c.regress"] > 3 * max(share["2"], share["hull"]))
    yield ("hull, which a line fits in all of them, has no message received before it is sent",
           violations(kept, "hull")[3] == 0)
