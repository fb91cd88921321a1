#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rotated_others.py UNSKEW [--count N] [--seed S] [--jobs J]: what rotated.py does, for traces that are neither packets nor tables of messages.

In    nothing: clocks of constant rates, some of which are stepped backward and forward; calls, collectives and messages between them
Out   cases in which `apply` writes a stamp of which no band holds the truth, or that are refused for no such reason
Why   a log is rotated whatever it is of, and a machine that was started anew counts from nothing again
Not   how SDKs make stamps up (spans_true.py)

Spans are those of OTLP, Jaeger, Zipkin and tables, of each host or of all in one, by when they end; collectives are a table. CTF traces
and trace.dat hold stamps that do not fall, so there is a new one wherever the clock falls. All are cut as in rotated.py.
A case is made by its seed alone; --keep FOLDER writes those that fail.
"""

import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import forms
import rotated
import trace_dat

SENT = trace_dat.Event(305, "app", "tx", [("u64 number", "Q")])
GOT = trace_dat.Event(306, "app", "rx", [("u64 number", "Q")])
RULES = ["--send", "tx{number}", "--recv", "rx{number}"]
METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
stream {
	id = 0;
	packet.context := struct { u64 content_size; u64 packet_size; stamp timestamp_begin; stamp timestamp_end; };
	event.header := struct { u32 id; stamp timestamp; };
};
event { id = 0; name = "tx"; stream_id = 0; fields := struct { u64 number; }; };
event { id = 1; name = "rx"; stream_id = 0; fields := struct { u64 number; }; };
"""


class Case(rotated.Case):
    FORMS = ("otlp", "otlp", "jaeger", "zipkin", "spans", "mixed", "collectives", "ctf", "tracecmd")

    def __init__(self, seed, whole=False):
        super().__init__(seed, whole)
        rng = self.rng
        self.apart = rng.random() < 0.6  # a file of each host, or of all
        for c in self.clocks.values():
            c.tick = 1000 if self.form in ("jaeger", "zipkin") else 1

    def groups(self, records):
        """[(true time of writing, clock, ...)] of each file."""
        records.sort(key=lambda r: r[0])
        sets = [[r for r in records if r[1] == n] for n in self.clocks] if self.apart else [records]
        return [part for s in sets if s for part in self.cut(s)]

    # ---- spans

    def calls(self, rows):
        """(end, clock, begin, span, parent, kind), of client and server each; none over whose end the clock was set back."""
        rng, out = self.rng, []
        for i, (t, a, b, u) in enumerate(rows):
            done = u + rng.randint(1000, 20 * self.delay)
            back = done + self.delay + int(rng.expovariate(1 / self.delay)) + self.waits(a, done)
            out.append((back, a, t, 2 * i + 1, None, "CLIENT"))
            out.append((done, b, u, 2 * i + 2, 2 * i + 1, "SERVER"))
        return [r for r in out if rng.random() > 0.01 and self.shows(r[1], r[0]) >= self.shows(r[1], r[2])]

    def shows(self, name, t):
        c = self.clocks[name]
        return c.exact(t) // c.tick * c.tick

    def both(self, r):
        return self.shows(r[1], r[2]), self.shows(r[1], r[0])

    def spans_of(self, suffix, text, rows):
        """Files of calls, as text writes some of them."""
        out = []
        for i, part in enumerate(self.groups(self.calls(rows))):
            path = f"spans{i}.{suffix}"
            with open(path, "w", encoding="utf-8") as f:
                f.write(text(part))
            self.truth[path] = [x for r in part for x in ((r[1], self.shows(r[1], r[2]), r[2]), (r[1], self.shows(r[1], r[0]), r[0]))]
            out.append(path)
        return out, []

    def otlp(self):
        number = {"SERVER": 2, "CLIENT": 3}

        def line(r):
            begin, end = self.both(r)
            s = {"traceId": f"{(r[3] + 1) // 2:032x}", "spanId": f"{r[3]:016x}", "name": "op", "kind": number[r[5]],
                 "startTimeUnixNano": str(begin), "endTimeUnixNano": str(end)} | ({"parentSpanId": f"{r[4]:016x}"} if r[4] else {})
            where = [{"key": "host.name", "value": {"stringValue": r[1]}}, {"key": "service.name", "value": {"stringValue": "s" + r[1]}}]
            return json.dumps({"resourceSpans": [{"resource": {"attributes": where}, "scopeSpans": [{"spans": [s]}]}]}) + "\n"
        return self.spans_of("jsonl", lambda part: "".join(map(line, part)), self.rows)

    def jaeger(self):
        def text(part):
            data = {}
            for r in part:
                begin, end = self.both(r)
                trace = f"{(r[3] + 1) // 2:032x}"
                d = data.setdefault(trace, {"traceID": trace, "spans": [], "processes": {}})
                d["processes"][r[1]] = {"serviceName": "s" + r[1], "tags": [{"key": "hostname", "type": "string", "value": r[1]}]}
                d["spans"].append({"traceID": trace, "spanID": f"{r[3]:016x}", "operationName": "op", "startTime": begin // 1000,
                                   "duration": (end - begin) // 1000, "processID": r[1],
                                   "tags": [{"key": "span.kind", "type": "string", "value": r[5].lower()}],
                                   "references": [{"refType": "CHILD_OF", "traceID": trace, "spanID": f"{r[4]:016x}"}] if r[4] else []})
            return json.dumps({"data": list(data.values())})
        return self.spans_of("json", text, self.rows)

    def zipkin(self):
        def text(part):
            out = []
            for r in part:
                begin, end = self.both(r)
                s = {"traceId": f"{(r[3] + 1) // 2:032x}", "id": f"{r[3]:016x}", "name": "op", "timestamp": begin // 1000,
                     "duration": max((end - begin) // 1000, 1), "kind": r[5], "localEndpoint": {"serviceName": r[1]}}
                out.append(s | ({"parentId": f"{r[4]:016x}"} if r[4] else {}))
            return json.dumps(out)
        return self.spans_of("json", text, self.rows)

    def spans(self, rows=None):
        def text(part):
            rows = ["trace,span,parent,clock,start_ns,end_ns,name,kind"]
            rows += [f"{(r[3] + 1) // 2},{r[3]},{r[4] or ''},{r[1]},{','.join(map(str, self.both(r)))},op,{r[5]}" for r in part]
            return "\n".join(rows) + "\n"
        return self.spans_of("csv", text, rows or self.rows)

    def mixed(self):
        """Calls of some messages, events of the others."""
        calls = [r for r in self.rows if self.rng.random() < 0.5]
        self.rows = [r for r in self.rows if r not in calls]
        return self.spans(calls)[0] + self.events()[0], []

    # ---- others

    def collectives(self):
        rng, parts, out = self.rng, [], []
        for i, (t, a, b, _) in enumerate(self.rows):
            who = [a, b] + [n for n in self.clocks if n not in (a, b) and rng.random() < 0.3]
            enter = {n: t + rng.randint(0, 5 * self.delay) for n in who}
            for n in who:
                leaves = max(enter.values()) + self.delay + int(rng.expovariate(1 / self.delay))
                parts.append((leaves, n, enter[n], i))
        for i, part in enumerate(self.groups(parts)):
            path = f"collectives{i}.csv"
            forms.table(path, ["collective", "kind", "clock", "enter_ns", "exit_ns"],
                        ((r[3], "allreduce", r[1], *self.both(r)) for r in part))
            self.truth[path] = [x for r in part for x in ((r[1], self.shows(r[1], r[2]), r[2]), (r[1], self.shows(r[1], r[0]), r[0]))]
            out.append(path)
        return out, []

    def sides(self):
        """(clock, number, records (true time, kind, id)) of each trace, in none of which the clock falls."""
        for n, c in self.clocks.items():
            seen = [(t, 0, i) for i, (t, a, _, _) in enumerate(self.rows) if a == n]
            seen += [(u, 1, i) for i, (_, _, b, u) in enumerate(self.rows) if b == n]
            number = 0
            for part in self.cut(sorted(seen)):
                falls = [0] + [i for i in range(1, len(part)) if c.exact(part[i][0]) < c.exact(part[i - 1][0])] + [len(part)]
                for a, b in zip(falls, falls[1:]):
                    yield n, number, part[a:b]
                    number += 1

    def ctf(self):
        out = []
        for n, number, part in self.sides():
            path, c = f"{n}-{number}", self.clocks[n]
            os.mkdir(path)
            with open(os.path.join(path, "metadata"), "w", encoding="ascii") as f:
                f.write(METADATA)
            stamps = [c.exact(t) for t, _, _ in part]
            data = b"".join(struct.pack("<IQQ", kind, x, i) for x, (_, kind, i) in zip(stamps, part))
            size = 8 * (40 + len(data))
            with open(os.path.join(path, "stream"), "wb") as f:
                f.write(struct.pack("<IIQQQQ", 0xC1FC1FC1, 0, size, size, stamps[0], stamps[-1]) + data)
            self.truth[path] = [(n, x, t) for x, (t, _, _) in zip(stamps, part)]
            out.append(f"{n}={path}")
        return out, RULES

    def tracecmd(self):
        out = []
        for n, number, part in self.sides():
            path, c = f"{n}-{number}.dat", self.clocks[n]
            with open(path, "wb") as f:
                f.write(trace_dat.trace([SENT, GOT], [[(c.exact(t), (SENT, GOT)[kind].data(0, 9, i)) for t, kind, i in part]]))
            self.truth[path] = [(n, c.exact(t), t) for t, _, _ in part]
            out.append(f"{n}={path}")
        return out, RULES

    # ---- what apply wrote

    def stamps(self, path):
        """None: it has a form of which only convert is asked."""
        if self.form == "otlp":
            with open(path, encoding="utf-8") as f:
                return [int(x) for x in re.findall(r'"(?:startTimeUnixNano|endTimeUnixNano)": ?"(\d+)"', f.read())]
        if path.endswith(".csv"):
            return rotated.columns(path, ("start_ns", "end_ns", "enter_ns", "exit_ns", "time_ns"))
        return None


if __name__ == "__main__":
    sys.exit(rotated.main(Case, 2))  # the order of spans and collectives tells no epochs
