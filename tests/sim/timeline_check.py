#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timeline_check.py UNSKEW CLOCKS TIMELINE MESSAGES EVENTS [STATES] - is it a timeline of these clocks?

Chrome trace JSON as its format is documented, read by the JSON of Python with decimal numbers:
every event has the fields of its kind; numbers of processes and threads are one clock's alone;
each arrow begins and ends at a slice of its own message, in two processes, and none goes back in
time; slices of a thread overlap only where they begin together; every time, counted from the
origin, is what `unskew convert` says of the stamp as recorded; counters are the band's half width
at every knot. A thread of a kernel is in one state at a time, and a processor runs one thread. MESSAGES,
EVENTS, STATES (0 unless told): how many there have to be; "-": any number, but some; "all": as
many as the table of clocks says that its traces hold.
"""
import gzip
import json
import subprocess
import sys
from collections import defaultdict
from decimal import Decimal

NEEDED = {
    "M": {"name", "pid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "cat", "pid", "tid", "ts", "s", "args"},
    "s": {"name", "cat", "pid", "tid", "ts", "id"},
    "f": {"name", "cat", "pid", "tid", "ts", "id", "bp"},
}


def wrong(sentence):
    sys.exit("timeline_check: " + sentence)


def ns(text):
    t = Decimal(text) * 1000
    if t != int(t):
        wrong(f"{text} is no whole number of nanoseconds")
    return int(t)


def load(path):
    read = gzip.open if path.endswith(".gz") else open
    with read(path, "rt", encoding="utf-8") as f:
        return json.load(f, parse_float=Decimal)


def check_form(events):
    for e in events:
        if e["ph"] not in NEEDED or not NEEDED[e["ph"]] <= e.keys():
            wrong(f"fields are missing: {e}")
        if e["ph"] == "X" and e["cat"] == "message" and ns(e["dur"]) != 1:
            wrong(f"a slice that is not 1 ns: {e}")
        if e["ph"] != "M" and e["ts"] < 0:
            wrong(f"before zero: {e}")
        if not isinstance(e["pid"], int) or not isinstance(e.get("tid", 1), int):
            wrong(f"a number that is none: {e}")


def check_names(events):
    """The clock of each process; threads are of one process each."""
    clock, threads = {}, {}
    for e in events:
        if e["ph"] == "M" and e["name"] == "process_name":
            if e["pid"] in clock:
                wrong(f"named twice: {e}")
            clock[e["pid"]] = e["args"]["name"]
        if "tid" in e and threads.setdefault(e["tid"], e["pid"]) != e["pid"]:
            wrong(f"a thread of two processes: {e}")
    if len(set(clock.values())) != len(clock):
        wrong("two processes of one name")
    for e in events:
        if e["pid"] not in clock or e.get("tid") in clock:
            wrong(f"a process without a name, or a thread with a process's number: {e}")
    return clock


def check_arrows(events):
    slices = defaultdict(list)
    ends = defaultdict(dict)
    for e in events:
        if e["ph"] == "X" and e["cat"] == "message":
            slices[e["pid"], e["tid"], e["ts"]].append(e["args"]["message"])
        elif e["ph"] in "sf":
            if e["ph"] in ends[e["id"]]:
                wrong(f"a second end of one arrow: {e}")
            ends[e["id"]][e["ph"]] = e
    backwards = 0
    for number, end in ends.items():
        if set(end) != {"s", "f"} or end["f"]["bp"] != "e":
            wrong(f"arrow {number} has one end, or does not end at the slice around it")
        for e in end.values():
            if number not in slices[e["pid"], e["tid"], e["ts"]]:
                wrong(f"no slice of its message where an arrow is: {e}")
        if end["s"]["pid"] == end["f"]["pid"]:
            wrong(f"arrow {number} stays in its process")
        backwards += end["s"]["ts"] > end["f"]["ts"]
    if sum(map(len, slices.values())) != 2 * len(ends):
        wrong("slices without an arrow")
    if backwards:
        wrong(f"{backwards} arrows go back in time")
    return len(ends)


def check_states(events):
    """Threads of kernels: a thread does one thing at a time, a processor runs one thread."""
    rows, ends = defaultdict(list), 0
    for e in events:
        if e["ph"] == "X" and e["cat"] == "state":
            rows[e["pid"], e["tid"], None].append(e)
            if e["name"] == "running":
                rows[e["pid"], None, e["args"].get("cpu", -1)].append(e)
    for (_, tid, cpu), row in rows.items():
        row.sort(key=lambda e: e["ts"])
        for a, b in zip(row, row[1:]):
            if a["ts"] + a["dur"] > b["ts"]:
                wrong(f"two at a time, on a row or processor {cpu}: {a} {b}")
        ends += tid is not None and len(row)
    return ends


def convert(unskew, clocks, clock, epoch, stamps):
    """Reference time and half width of each stamp."""
    p = subprocess.run([unskew, "convert", "-q", clocks, "-c", clock, "--epoch", str(epoch)],
                       input="".join(f"{s}\n" for s in stamps), capture_output=True, text=True)
    if p.returncode:
        wrong(f"convert of {clock}, epoch {epoch}: {p.stderr}")
    rows = [list(map(int, line.split("\t"))) for line in p.stdout.splitlines()]
    return {r[0]: (r[1], -((r[2] - r[3]) // 2)) for r in rows}


def check_times(unskew, path, events, clock, origin):
    with open(path, encoding="utf-8") as f:
        clocks = {c["name"]: c for c in json.load(f)["clocks"]}
    reference = {name: c["reference"] for name, c in clocks.items()}
    drawn = defaultdict(list)
    width = defaultdict(dict)
    for e in events:
        name = clock[e["pid"]]
        if e["ph"] in "Xi":
            drawn[name].append((int(e["args"]["recorded_ns"]), ns(e["ts"])))
        elif e["ph"] == "C" and e["name"] == "error bound":
            width[name][ns(e["ts"])] = e["args"]["ns"]
    for name, rows in drawn.items():
        zero = int(origin[reference[name]])
        if clocks[name]["quality"] not in ("reference", "bounded"):
            if any(recorded != zero + drawn_ns for recorded, drawn_ns in rows):
                wrong(f"{name}, which is not bounded, is not drawn as recorded")
            continue
        last = max(k.get("epoch", 0) for k in clocks[name]["knots"])
        answers = [convert(unskew, path, name, epoch, sorted({r[0] for r in rows}))
                   for epoch in range(last + 1)]
        for recorded, drawn_ns in rows:
            if not any(a[recorded][0] == zero + drawn_ns for a in answers):
                wrong(f"{name}: {recorded} is drawn at {zero + drawn_ns}, but it is "
                      f"{[a[recorded][0] for a in answers]}")
        if clocks[name]["quality"] == "reference":
            continue
        for k in clocks[name]["knots"]:
            at = int(k["local_ns"]) + int(k["offset_ns"]) - zero
            half = -((int(k["lo_ns"]) - int(k["hi_ns"])) // 2)
            if width[name].get(at) != half and not clocks[name]["jumps"]:
                wrong(f"{name}: no counter of {half} ns at {at} but {width[name].get(at)}")


def main():
    unskew, clocks, path, messages, events = sys.argv[1:6]
    states = sys.argv[6] if len(sys.argv) > 6 else 0
    if events == "all":
        with open(clocks, encoding="utf-8") as f:
            events = sum(t["events"] for t in json.load(f)["traces"])
    d = load(path)
    if set(d) != {"traceEvents", "displayTimeUnit", "otherData"} or d["displayTimeUnit"] != "ns":
        wrong(f"{path}: {list(d)}")
    all_events = d["traceEvents"]
    check_form(all_events)
    clock = check_names(all_events)
    arrows = check_arrows(all_events)
    instants = sum(e["ph"] == "i" for e in all_events)
    for what, have, want in (("messages", arrows, messages), ("events", instants, events),
                             ("states", check_states(all_events), states)):
        if not have if want == "-" else have != int(want):
            wrong(f"{path}: {have} {what}, not {want}")
    check_times(unskew, clocks, all_events, clock, d["otherData"]["origin_ns"])
    print(f"{path}: {len(clock)} clocks, {arrows} messages, {instants} events")


main()
