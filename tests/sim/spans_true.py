#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spans_true.py UNSKEW [--count N] [--seed S] [--jobs J]: spans as SDKs stamp them, of clocks whose truth is known.

In    nothing: requests between processes of several machines, spans of all formats
Out   cases whose band leaves the truth out, whose estimate is outside its band, or that apply refuses
Why   a span's stamps are made up in part: anchored, rounded, counted in doubles, of calls that nobody waits for

What doc/spans.md says of stamps and of callers is what is drawn: anchors of whole ms for each local trace, ticks of 100 ns,
us, ms and 256 ns, Jaeger's and Zipkin's us, calls that are waited for, callers that give up, queues (PRODUCER and CONSUMER, FOLLOWS_FROM),
links, kinds that are told or not, lost spans, several processes of a machine. Clocks
keep one rate, and some are stepped. A case is made by its seed alone; --keep FOLDER writes those that fail.
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
from asked import run, trials

SECOND = 10**9
START = 1_700_000_000 * SECOND
MS = 10**6


class Clock:
    """A machine's."""

    def __init__(self, rng, name, span, steps):
        self.name, self.rate, self.offset = name, rng.randint(-50_000, 50_000), rng.randint(-(10**9), 10**9)
        self.step_at = rng.randint(span // 4, span * 3 // 4) if steps else None
        self.step_by = rng.randint(10**8, 10**10) if steps else 0

    def exact(self, t):
        return START + self.offset + t + t * self.rate // 10**9 + (self.step_by if self.step_at is not None and t >= self.step_at else 0)


class Process:
    """Who stamps on a machine, as its SDK does."""

    def __init__(self, rng, number, clock, plain):
        self.number, self.clock, self.service = number, clock, f"s{number}"
        self.sdk = "ns" if plain else rng.choice(["ns", "ns", "us", "100ns", "ms", "anchored", "anchored", "double"])
        self.anchor = {}

    def stamp(self, t, entry):
        """Of a span below that one, by which the trace came into the process."""
        x = self.clock.exact(t)
        if self.sdk == "anchored":
            first = self.anchor.setdefault(entry, (t, x))
            return first[1] // MS * MS + (x - first[1])
        if self.sdk == "double":
            return (x + 128) // 256 * 256
        tick = {"ns": 1, "us": 1000, "100ns": 100, "ms": MS}[self.sdk]
        return x // tick * tick


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.form = rng.choice(["otlp", "otlp", "jaeger", "zipkin", "table"])
        self.span = rng.choice([5, 60, 300]) * SECOND
        n = rng.randint(2, 4)
        steps = rng.random() < 0.2
        self.clocks = {f"h{i}": Clock(rng, f"h{i}", self.span, steps and rng.random() < 0.5) for i in range(n)}
        self.plain = rng.random() < 0.3
        self.processes = [Process(rng, i, rng.choice(list(self.clocks.values())) if i >= n else self.clocks[f"h{i}"], self.plain)
                          for i in range(n + rng.choice([0, 0, 1, 3]))]
        for p in self.processes:  # replicas on other machines
            if rng.random() < 0.3 and not any(q is not p and q.clock is p.clock for q in self.processes):
                p.service = "replica"
        if self.form in ("zipkin", "table"):  # which have no process but the clock
            for p in self.processes:
                p.sdk = next(q.sdk for q in self.processes if q.clock is p.clock)
        self.kinds = rng.random() < 0.8
        self.rows, self.ids, self.links = [], 0, rng.random() < 0.3
        self.least = rng.choice([20_000, 200_000])
        self.mean = rng.choice([10_000, 100_000, 3_000_000])
        # What a pair does for an operation is one way to call: waited for, or not.
        self.async_ = {}
        # A table cannot say who failed, and without kinds nobody can say who waits: there all do.
        self.asyncs = rng.choice([0, 0, 0.3]) if self.kinds else 0
        self.gives_up = rng.choice([0, 0, 0.02, 0.2]) if self.form != "table" else 0
        for trace in range(1, rng.choice([6, 30, 150, 600])):
            t = rng.randint(0, self.span)
            self.call(trace, None, rng.choice(self.processes), t, 0)
        lost = rng.choice([0, 0, 0.1])
        self.rows = [r for r in self.rows if rng.random() >= lost]
        rng.shuffle(self.rows) if rng.random() < 0.3 else self.rows.sort(key=lambda r: r["begin"])

    def add(self, process, trace, parent, kind, begin, end=None, name="op", error=False):
        self.ids += 1
        row = dict(process=process, trace=trace, id=self.ids, parent=parent, kind=kind, begin=begin, end=end, name=name, error=error, follows=False)
        row["entry"] = self.ids
        self.rows.append(row)
        return row

    def delay(self):
        return self.least + int(self.rng.expovariate(1 / self.mean))

    def call(self, trace, parent, process, t, depth):
        """A caller's span and its callee's; when the caller went on."""
        rng = self.rng
        if depth == 0:
            entry = self.add(process, trace, parent, "SERVER", t)
            process.stamp(t, entry["id"])
            end = self.call(trace, entry["id"], process, t + rng.randint(1000, 10**5), 1) + rng.randint(1000, 10**5)
            entry["end"] = end
            return end
        other = rng.choice([p for p in self.processes if p is not process])
        name = f"op{rng.randint(0, 2)}"
        how = (process.number, other.number, name)
        if how not in self.async_:
            self.async_[how] = rng.random() < self.asyncs
        queue = self.async_[how]
        told = queue and self.form != "jaeger"  # that says FOLLOWS_FROM
        own = self.add(process, trace, parent, "PRODUCER" if told else "CLIENT", t, name=name)
        own["entry"] = parent
        arrives = t + self.delay() + (rng.randint(0, 10**9) if queue else 0)
        callee = self.add(other, trace, own["id"], "CONSUMER" if told else "SERVER", arrives, name=name)
        callee["follows"] = queue
        other.stamp(arrives, callee["id"])
        done = arrives + rng.randint(1000, 5 * MS)
        if depth < 3 and rng.random() < 0.3:
            done = self.call(trace, callee["id"], other, done, depth + 1) + rng.randint(1000, 10**5)
        callee["end"] = done
        if self.async_[how]:
            own["end"] = t + rng.randint(1000, 20_000)
        elif rng.random() < self.gives_up:
            own["end"] = rng.randint(t, max(t, done))
            own["error"] = True
        else:
            own["end"] = done + self.delay()
        return own["end"]

    # ---- files

    def stamps(self, r):
        return r["process"].stamp(r["begin"], r["entry"]), r["process"].stamp(r["end"], r["entry"])

    def otlp(self):
        number = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
        out = []
        for p in self.processes:
            spans = []
            for r in self.rows:
                if r["process"] is p:
                    a, b = self.stamps(r)
                    s = {"traceId": f"{r['trace']:032x}", "spanId": f"{r['id']:016x}", "name": r["name"],
                         "startTimeUnixNano": str(a), "endTimeUnixNano": str(b)}
                    s |= {"kind": number[r["kind"]]} if self.kinds else {}
                    s |= {"parentSpanId": f"{r['parent']:016x}"} if r["parent"] else {}
                    s |= {"status": {"code": 2}} if r["error"] else {}
                    linked = self.rng.choice(self.rows)
                    if self.links and self.rng.random() < 0.3 and linked["begin"] <= r["end"]:
                        s["links"] = [{"traceId": f"{linked['trace']:032x}", "spanId": f"{linked['id']:016x}"}]
                    spans.append(s)
            where = [{"key": "host.name", "value": {"stringValue": p.clock.name}}, {"key": "service.name", "value": {"stringValue": p.service}},
                     {"key": "process.pid", "value": {"intValue": str(p.number)}}]
            if spans:
                out.append({"resource": {"attributes": where}, "scopeSpans": [{"spans": spans}]})
        with open("spans.json", "w", encoding="utf-8") as f:
            f.write(json.dumps({"resourceSpans": out}))
        return ["spans.json"]

    def us(self, ns):
        return (ns + 500) // 1000

    def jaeger(self):
        data = {}
        for r in self.rows:
            d = data.setdefault(r["trace"], {"traceID": f"{r['trace']:032x}", "spans": [], "processes": {}})
            p = r["process"]
            d["processes"][f"p{p.number}"] = {"serviceName": p.service, "tags": [{"key": "hostname", "type": "string", "value": p.clock.name}]}
            a, b = self.stamps(r)
            tags = [{"key": "span.kind", "type": "string", "value": r["kind"].lower()}] if self.kinds else []
            tags += [{"key": "error", "type": "bool", "value": True}] if r["error"] else []
            d["spans"].append({"traceID": d["traceID"], "spanID": f"{r['id']:016x}", "operationName": r["name"], "startTime": self.us(a),
                               "duration": self.us(b - a), "processID": f"p{p.number}", "tags": tags, "references":
                               [{"refType": "FOLLOWS_FROM" if r["follows"] else "CHILD_OF", "traceID": d["traceID"], "spanID": f"{r['parent']:016x}"}] if r["parent"] else []})
        with open("spans.json", "w", encoding="utf-8") as f:
            json.dump({"data": list(data.values())}, f)
        return ["spans.json"]

    def zipkin(self):
        out = []
        for r in self.rows:
            a, b = self.stamps(r)
            s = {"traceId": f"{r['trace']:032x}", "id": f"{r['id']:016x}", "name": r["name"], "timestamp": self.us(a), "duration": max(self.us(b - a), 1),
                 "localEndpoint": {"serviceName": r["process"].clock.name}}
            s |= {"kind": r["kind"]} if self.kinds else {}
            s |= {"parentId": f"{r['parent']:016x}"} if r["parent"] else {}
            s |= {"tags": {"error": "gave up"}} if r["error"] else {}
            out.append(s)
        with open("spans.json", "w", encoding="utf-8") as f:
            json.dump(out, f)
        return ["spans.json"]

    def table(self):
        kind = ["kind"] if self.kinds else []
        rows = []
        for r in self.rows:
            rows.append([r["trace"], r["id"], r["parent"] or "", r["process"].clock.name, *self.stamps(r), r["name"], *([r["kind"]] if self.kinds else [])])
        forms.table("spans.csv", ["trace", "span", "parent", "clock", "start_ns", "end_ns", "name", *kind], rows)
        return ["spans.csv"]


def shows_steps(case, clock):
    """Enough spans before it and after it."""
    own = [r for r in case.rows if r["process"].clock is clock]
    at = clock.step_at
    return at is None or (sum(r["end"] < at for r in own) > 20 and sum(r["begin"] > at for r in own) > 20)


def hold(unskew, case, answer):
    """What is said of a machine's clock, at any time; how many stamps."""
    if not all(shows_steps(case, c) for c in case.clocks.values()):
        return 0
    of = {e["name"]: e for e in answer["clocks"]}
    asked = []
    for name, clock in case.clocks.items():
        e = of.get(name)
        if not e or e["quality"] != "bounded" or e["reference"] not in case.clocks:
            continue
        reference = case.clocks[e["reference"]]
        for _ in range(30):
            t = case.rng.randint(0, case.span)
            near = any(c.step_at is not None and any(int(j["after_local_ns"]) <= clock.exact(t) <= int(j["before_local_ns"]) for j in e["jumps"]) for c in (clock, reference))
            if not near:
                asked.append((clock, t, clock.exact(t), reference.exact(t)))
    if not asked:
        return 0
    r = run(unskew, "convert", "clocks.json", "--", *(f"{c.name}:{x}" for c, _, x, _ in asked))
    lines = r.stdout.splitlines()
    if len(lines) != len(asked):
        raise AssertionError(f"convert refuses what sync wrote: {r.stderr[:200]}")
    for (clock, t, x, true), line in zip(asked, lines):
        local, middle, lo, hi = (None if f == "-" else int(f) for f in line.split("\t"))
        if middle is None:
            continue
        if (lo is not None and lo > middle) or (hi is not None and hi < middle):
            raise AssertionError(f"estimate outside its band: {line}")
        if (lo is not None and true < lo - 3) or (hi is not None and true > hi + 3):
            raise AssertionError(f"false band: {clock.name} {line} truth {true} ({max(lo - true, true - hi)} ns), {t / SECOND} s")
    return len(asked)


def judge(unskew, seed):
    case = Case(seed)
    traces = getattr(case, case.form)()
    r = run(unskew, "sync", *traces, "-o", "clocks.json", "--json", "--force")
    if r.returncode not in (0, 3):
        return (None if "share no message" in r.stderr or "two are needed" in r.stderr else f"refused: {r.stderr.strip()[:200]}"), 0
    answer = json.loads(r.stdout)
    n = hold(unskew, case, answer)
    a = run(unskew, "apply", "clocks.json", *traces, "-o", "now" + os.path.splitext(traces[0])[1], "--force")
    if a.returncode not in (0, 3) and "corrects none" not in a.stderr and r.returncode == 0:
        return f"apply: {a.stderr.strip()[:200]}", n
    return None, n


if __name__ == "__main__":
    sys.exit(trials(judge, 60, "stamps held against the truth"))
