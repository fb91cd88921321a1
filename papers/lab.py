# SPDX-License-Identifier: MIT
"""lab.py - runs unskew on simulated traces and hands back what it said

In    the program, a scratch folder, options of `unskew simulate`
Out   lines, scores and bands as numbers; true clocks; the messages themselves
Why   a paper's script says its workloads and its tables, and nothing about processes
Not   a page (page.py), what a paper says (ashton.py, clement.py, poirier.py)

Everything follows from seeds. Options are written as Python names: dmin="15us" is --dmin 15us.
Offsets are reference - local, in ns; host0 is always the reference.
"""
import bisect, concurrent.futures, csv, itertools, json, math, os, shutil, subprocess


class Failed(Exception):
    """A command did not do what it should; the text says which and why."""


class Trace:
    """A simulated folder: its messages and its truth."""

    def __init__(self, where):
        self.where = where
        self.messages_csv = os.path.join(where, "messages.csv")
        self.truth_json = os.path.join(where, "truth.json")

    def rows(self):
        """sender, receiver, sent_ns, received_ns, bytes of each message."""
        with open(self.messages_csv) as f:
            next(f)
            for row in f:
                a, b, sent, received, size = row.split(",")[:5]
                yield a, b, int(sent), int(received), int(size)

    def clocks(self):
        """True moments, and what every clock read then."""
        with open(self.truth_json) as f:
            truth = json.load(f)
        return ([int(t) for t in truth["true_ns"]],
                {name: [int(t) for t in read] for name, read in truth["clock_ns"].items()})

    def remove(self):
        shutil.rmtree(self.where, ignore_errors=True)


class Line:
    """A method's answer: reference = local + offset_ns(local), a straight line."""

    def __init__(self, answer):
        whole, _, thousandths = answer["b_ns"].partition(".")
        self.a_ns, self.b_ns = int(answer["a_ns"]), int(whole)
        self.b_rest = int(thousandths or 0) / 1000
        self.beta_minus_one = answer["beta_minus_one"]

    def reference_of(self, local_ns):
        """The reference's time less a_ns, at a local stamp."""
        return (local_ns - self.b_ns - self.b_rest) / (1 + self.beta_minus_one)

    def delay_ns(self, row):
        """Corrected delay of a message of Trace.rows()."""
        a, _, sent, received, _ = row
        if a == "host0":
            return self.reference_of(received) - (sent - self.a_ns)
        return (received - self.a_ns) - self.reference_of(sent)


class Lab:
    def __init__(self, unskew, scratch, workers=2):
        self.unskew, self.scratch, self.workers = os.path.abspath(unskew), scratch, workers
        self.numbers = itertools.count(1)

    def run(self, *command, allowed=(0, 3)):
        done = subprocess.run([self.unskew, *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode not in allowed:
            raise Failed("unskew %s: %s" % (" ".join(command), done.stderr.strip()))
        return done.stdout

    def clocks(self, *arguments):
        """Rows of what papers/clocks.c prints, as dictionaries of text."""
        return self.rows("paper_clocks", *arguments)

    def real(self, *arguments):
        """The same of papers/real.c: they differ from run to run."""
        return self.rows("paper_real", *arguments)

    def rows(self, program, *arguments):
        program = os.path.join(os.path.dirname(self.unskew), "papers", program)
        done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed("%s: %s" % (program, done.stderr.strip()))
        return list(csv.DictReader(done.stdout.splitlines()))

    def simulate(self, seed, **options):
        """A message table and its truth, in a folder of its own."""
        where = os.path.join(self.scratch, "%06d" % next(self.numbers))
        command = ["simulate", "--quiet", "--output", where, "--seed", str(seed)]
        options.setdefault("format", "table")
        for name, value in options.items():
            if value is not False:
                command.append("--" + name.replace("_", "-"))
                command += [] if value is True else [str(value)]
        self.run(*command)
        return Trace(where)

    def compared(self, trace, methods, min_delay=None, reference="host0", also=()):
        """The pairs of `compare`, of the trace and of further tables."""
        command = ["compare", "--quiet", "--json", "--model", "linear", "--reference", reference,
                   "--max-outliers", "0", "--truth", trace.truth_json, "--method",
                   ",".join(methods)]
        if min_delay:
            command += ["--min-delay", min_delay]
        return json.loads(self.run(*command, trace.messages_csv, *also))["pairs"]

    def pair(self, trace, methods, min_delay=None, reference="host0", also=()):
        """Of host0 and host1: the pair, and what each method says of it, by name."""
        for pair in self.compared(trace, methods, min_delay, reference, also):
            if {pair["a"], pair["b"]} == {"host0", "host1"}:
                return pair, {answer["name"]: answer for answer in pair["methods"]}
        raise Failed("host0 and host1 are no pair of %s" % trace.messages_csv)

    def compare(self, trace, methods, min_delay=None, reference="host0", also=()):
        """What each method says, by name; one that has no answer has the key `failed`."""
        return self.pair(trace, methods, min_delay, reference, also)[1]

    def sync(self, trace, method="hull", reference="host0", options=()):
        return json.loads(self.run("sync", "--quiet", "--json", "--model", "linear", "--method",
                                   method, "--max-outliers", "0", "--reference", reference,
                                   *options, trace.messages_csv))

    def seconds(self, *command):
        """Processor time of a command, best of five; not reproducible, of course."""
        best = math.inf
        for _ in range(5):
            with open(os.devnull, "w") as null:
                child = subprocess.Popen([self.unskew, *command], stdout=null, stderr=null)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in (0, 3):
                raise Failed("unskew %s: status %d" % (" ".join(command), child.returncode))
            best = min(best, usage.ru_utime + usage.ru_stime)
        return best

    def each(self, work, cases):
        """work(*case) of every case, in order, a few at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            futures = [pool.submit(work, *case) for case in cases]
            return [future.result() for future in futures]


def knots(sync, clock="host1"):
    """(local, offset, lo, hi) of a clock, in ns."""
    for c in sync["clocks"]:
        if c["name"] == clock:
            return [tuple(int(k[key]) for key in ("local_ns", "offset_ns", "lo_ns", "hi_ns"))
                    for k in c["knots"]]
    raise Failed("no clock " + clock)


def hull(points, side):
    """The half hull that faces the other messages: the lower one if side is 1, the upper if -1."""
    xs, ys = [], []
    for x, y in sorted(points):
        while len(xs) > 1 and side * ((xs[-1] - xs[-2]) * (y - ys[-2])
                                      - (ys[-1] - ys[-2]) * (x - xs[-2])) <= 0:
            xs.pop()
            ys.pop()
        xs.append(x)
        ys.append(y)
    return list(zip(xs, ys))


def hulls(trace, block=100000):
    """Messages of a trace, and both half hulls over the reference's stamps, exactly."""
    kept, n = {"host0": [], "host1": []}, 0

    def shrink():
        for host, side in (("host0", 1), ("host1", -1)):
            kept[host] = hull(kept[host], side)

    with open(trace.messages_csv) as f:
        next(f)
        for row in f:
            a, _, sent, received, _ = row.split(",", 4)
            sent, received = int(sent), int(received)
            kept[a].append((sent, received - sent) if a == "host0" else
                           (received, sent - received))
            n += 1
            if n % block == 0:
                shrink()
    shrink()
    return n, kept["host0"], kept["host1"]


def offset_at(knots, local_ns):
    """The correction at a local stamp; outside of the knots the outermost slope goes on."""
    i = min(max(bisect.bisect_right(knots, (local_ns,)), 1), len(knots) - 1)
    (x0, y0), (x1, y1) = knots[i - 1][:2], knots[i][:2]
    return y0 + (local_ns - x0) * (y1 - y0) / (x1 - x0)


def half_width(knots):
    """Mean half width of the band over its span, ns."""
    area = math.fsum((b[0] - a[0]) * (b[3] - b[2] + a[3] - a[2]) / 4
                     for a, b in zip(knots, knots[1:]))
    return area / (knots[-1][0] - knots[0][0])


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def deviation(values):
    """Standard deviation of a sample."""
    values = list(values)
    m = mean(values)
    return math.sqrt(math.fsum((v - m) ** 2 for v in values) / (len(values) - 1))


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2
