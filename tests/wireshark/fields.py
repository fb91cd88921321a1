#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fields.py UNSKEW unskew.lua: what tshark shows of packets on the reference's clock

In    simulated captures of two hosts, one of which drifts, is stepped and set back
Out   0 if unskew.time is within 1 ns of what `unskew apply` writes for each packet, earliest and
      latest of what `unskew convert` says, and one-way delays lie within their bounds; the same of
      merged files and captures that were re-timed, with comments or without, by what their interfaces
      say; and if what cannot be read, or was corrected by another answer, is said
Why   the script computes in doubles, without our library
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

UNSKEW, SCRIPT = (str(Path(a).resolve()) for a in sys.argv[1:3])
SLACK = 1  # ns
wrong = 0


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def expect(holds, *what):
    global wrong
    if not holds:
        wrong += 1
        print("wrong:", *what)


def ns_of(text):
    """Of seconds, or of a date as tshark shows it in UTC."""
    whole, fraction = text.split(".")
    sign = -1 if whole.startswith("-") else 1
    return int(whole) * 10**9 + sign * int(fraction.ljust(9, "0"))


def shown(path, fields, *preferences):
    """Rows of fields; dates as seconds since 1970."""
    command = ["tshark", "-X", f"lua_script:{SCRIPT}", "-r", str(path), "-T", "json"]
    for p in preferences:
        command += ["-o", f"unskew.{p}"]
    for f in fields:
        command += ["-e", f]
    rows = []
    for packet in json.loads(run(*command)):
        layers = packet["_source"]["layers"]
        rows.append([layers.get(f, [None])[0] for f in fields])
    return rows


def date_ns(text):
    import calendar
    import time
    if text is None:
        return None
    head, rest = text.split(".")
    digits = rest.split()[0]
    return calendar.timegm(time.strptime(head, "%b %d, %Y %H:%M:%S")) * 10**9 + int(digits)


def check(directory, name, steps):
    sim = directory / name
    run(UNSKEW, "simulate", "-q", "-f", "-o", str(sim), "--hosts", "2", "--seconds", "9", "--seed", "7",
        "--format", "pcap", "--resolution", "ns", "--rate", "40", *steps)
    clocks, table, merged = sim / "clocks.json", sim / "m.csv", sim / "merged.pcapng"
    captures = [str(sim / "host0.pcap"), str(sim / "host1.pcap")]
    run(UNSKEW, "sync", "-q", *captures, "-r", "host0", "-o", str(clocks), "--messages", str(table),
        "--merge", str(merged))
    applied = sim / "applied"
    run(UNSKEW, "apply", "-q", str(clocks), "-o", str(applied), *captures)
    tell = (f"clocks:{clocks}", f"messages:{table}")
    fields = ["frame.time_epoch", "unskew.time", "unskew.earliest", "unskew.latest", "unskew.delay",
              "unskew.delay.least", "unskew.delay.most", "unskew.clock"]
    one = shown(captures[1], fields, *tell, "clock:host1")
    right = run("tshark", "-r", str(applied / "host1.pcap"), "-T", "fields", "-e", "frame.time_epoch").split()
    expect(len(one) == len(right) > 200, name, len(one), "packets, not", len(right))
    for row, corrected in zip(one, right):
        expect(row[7] == "host1" and abs(date_ns(row[1]) - ns_of(corrected)) <= SLACK, name, row, corrected)
    delays = 0
    for row in one:
        if row[4] is not None:
            delays += 1
            expect(ns_of(row[5]) <= ns_of(row[4]) <= ns_of(row[6]), name, row)
            expect(ns_of(row[4]) >= -SLACK, name, "received before sent", row)
    expect(delays > 100 or "--step" in steps, name, delays, "delays")
    check_moved(directory, name, clocks, captures, merged, fields, tell, one)
    return clocks, one


def check_moved(directory, name, clocks, captures, merged, fields, tell, one):
    """Files whose stamps were moved show of each packet what the capture as recorded does."""
    apply = (UNSKEW, "apply", "-q", "-f", str(clocks))
    check_same(name, "merged", merged, fields, tell, one)
    told = directory / "told.pcapng"
    run(*apply, *captures, "--merge", str(told), "--comments", "all")
    check_same(name, "merged, all", told, fields, tell, one)
    # Wireshark's own tools keep what an interface says.
    part = directory / "part.pcapng"
    run("tshark", "-r", str(merged), "-Y", 'frame.interface_name == "host1"', "-w", str(part))
    check_same(name, "part of merged", part, fields, tell, one)
    run("editcap", "-F", "pcapng", captures[1], str(part))
    # Without comments nothing tells apart what fell together in the bracket of a step.
    for comments in ("changed", "needed" if name == "stepped" else "none"):
        retimed = directory / "retimed.pcapng"
        run(*apply, f"host1={part}", "-o", str(retimed), "--comments", comments)
        check_same(name, f"re-timed, {comments}", retimed, fields, tell, one)


def check_same(name, what, path, fields, tell, one):
    rows = [row for row in shown(path, fields, *tell) if row[7] == "host1"]
    expect(len(rows) == len(one), name, what, len(rows), "packets of host1, not", len(one))
    for is_, was in zip(rows, one):
        near = all(is_[i] == was[i] or abs(date_ns(is_[i]) - date_ns(was[i])) <= SLACK for i in (1, 2, 3))
        near = near and all(is_[i] == was[i] or abs(ns_of(is_[i]) - ns_of(was[i])) <= SLACK for i in (4, 5, 6))
        expect(near and abs(date_ns(is_[1]) - ns_of(is_[0])) <= SLACK, name, what, is_, was)


def check_band(clocks, rows):
    stamps = [str(ns_of(row[0])) for row in rows[::17]]
    told = run(UNSKEW, "convert", str(clocks), "--clock", "host1", *stamps).split("\n")
    for row, line in zip(rows[::17], told):
        cells = line.split("\t")
        lo, hi = int(cells[-2]), int(cells[-1])
        expect(abs(date_ns(row[2]) - lo) <= SLACK and abs(date_ns(row[3]) - hi) <= SLACK, row, line)


def main():
    if subprocess.run(["sh", "-c", "command -v tshark"], capture_output=True).returncode:
        print("no tshark")
        return 77
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        clocks, rows = check(directory, "drifts", ["--offset", "0ns,-1234567890123ns", "--drift-ppm", "0,180"])
        check_band(clocks, rows)
        stepped, _ = check(directory, "stepped", ["--step", "host1@5s:70ms"])
        rows = shown(directory / "drifts/merged.pcapng", ["unskew.clock", "unskew.wrong"], f"clocks:{stepped}")
        expect({bool(clock) != bool(why and "another answer" in why) for clock, why in rows} == {True} and
               any(why for _, why in rows), "by another answer", rows[:3])
        check(directory, "back", ["--step", "host1@5s:-3333ms"])
        bad = directory / "bad.json"
        bad.write_text('{"clocks": [')
        for path, word in ((bad, "is no clocks.json"), (directory / "none.json", "none.json")):
            row = shown(directory / "drifts/host1.pcap", ["unskew.wrong"], f"clocks:{path}", "clock:host1")[0]
            expect(row[0] and word in row[0], path, row)
        row = shown(directory / "drifts/host1.pcap", ["unskew.wrong"], f"clocks:{clocks}", "clock:host9")[0]
        expect(row[0] and "no clock host9" in row[0], row)
    print(wrong, "wrong")
    return wrong > 0


sys.exit(main())
