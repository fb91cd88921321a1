#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""converted.py UNSKEW [--count N] [--seed S] [--jobs J]: stamps on standard input against the same ones as operands.

In    nothing: answers for the tables of second.py, stamps in every notation, garbage
Out   cases in which two ways to ask get two answers, a stamp is read as another one, or garbage gets an answer
Why   who has millions of stamps asks by standard input, or has them in lines of text, and sees none of the answers

What a notation means is computed here, in exact fractions. Lines end with LF or CRLF, the last one perhaps with neither;
between them are empty ones. What is no stamp ends the command in the same sentence both ways, behind the same answers.
A case is made by its seed alone; --keep FOLDER writes those that fail.
"""
import datetime
import fractions
import json
import math
import random
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import second
from asked import demand_whole, run, trials

DAY = 86400
GARBAGE = [
    "", " ", "x", "-", "+", ".", "1.5", "1e9", "0x10", "12 ", " 12", "1_000", "12,5s", "1.5S", "5min", "1h", "9" * 19, "9" * 40,
    "-" + "9" * 25, "4611686018427387905", "1.5.5s", "1..5s", "s", "ns", "1s2", "--5", "+-5", "2026-11-22", "2026-11-22T10:00:00",
    "2026-02-30T10:00:00Z", "2026-11-22T24:00:00Z", "2026-11-22T10:00:00,5Z", "2026-11-22T10:00:00.Z", "2026-11-22T10:00:00+0100",
    "2026-11-22T10:00:00+24:00", "99999-11-22T10:00:00Z", "0000-01-01T00:00:00Z", "1600-01-01T00:00:00Z", "\u0664\u0662", "1\u00a0s", "NaN", "inf",
    "18446744073709551616", "18446744073709551617", "1\t2", "1;2", "1700000000s.5", "\u202e12",
]


def decimal(ns, shift, rng):
    """ns in a unit of 10^shift ns, with digits that are too fine for it now and then."""
    whole, rest = divmod(abs(ns), 10**shift)
    text = f"{whole}.{rest:0{shift}d}"
    if rng.random() < 0.3:
        text += "".join(rng.choice("0000123456789") for _ in range(rng.randint(1, 12)))
    elif rng.random() < 0.5:
        text = text.rstrip("0").rstrip(".")
    return "-" * (ns < 0) + rng.choice(["", "", "0", "000"]) * (rng.random() < 0.1) + text


def value(text, unit):
    return math.floor(fractions.Fraction(text) * 10 ** {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit])


def date(ns, rng):
    """(what is written, what it means)"""
    seconds, rest = divmod(ns, 10**9)
    east = rng.choice([0, 0, 60, -570, 839, -839])
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds + 60 * east)
    digits = rng.choice([0, 3, 6, 9, 12])
    fraction = f"{rest:09d}000"[:digits]
    text = when.strftime("%Y-%m-%d").zfill(10) + rng.choice("TTt ") + when.strftime("%H:%M:%S") + ("." + fraction) * bool(digits)
    zone = f"{'-' if east < 0 else '+'}{abs(east) // 60:02d}:{abs(east) % 60:02d}" if east else rng.choice(["Z", "z", "+00:00"])
    return text + zone, seconds * 10**9 + int(f"{fraction:0<9}"[:9] if digits else 0)


def notation(ns, rng):
    """(what is written, what it means)"""
    kind = rng.choice(["ns", "ns", "plain", "plain", "s", "ms", "us", "date", "date"])
    if kind == "date" and abs(ns) < 10**9 * DAY * 365 * 100:
        return date(ns, rng)
    if kind in ("plain", "ns", "date"):
        return ("-" * (ns < 0) + rng.choice(["", "", "", "00"]) + str(abs(ns)) + ("ns" if kind == "ns" else "")), ns
    text = decimal(ns, {"s": 9, "ms": 6, "us": 3}[kind], rng)
    return text + kind, value(text, kind)


def ask(unskew, more, lines=None):
    """Status, what it printed, what it complained of."""
    data = None if lines is None else lines
    r = subprocess.run([unskew, "convert", "c.json", *more], input=data, capture_output=True, timeout=120)
    said = r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")
    demand_whole("convert", r.returncode, said[1])
    return r.returncode, *said


def ended(rng, lines):
    """Bytes of these lines, empty ones between them."""
    out = b""
    for i, line in enumerate(lines):
        end = rng.choice([b"\n", b"\n", b"\r\n"])
        if rng.random() < 0.1:
            out += rng.choice([b"\n", b"\r\n"])
        out += line.encode() + (end if i + 1 < len(lines) or rng.random() < 0.5 else b"")
    return out


def notes(text):
    return [x for x in text.splitlines() if "note:" in x]


def both_ways(unskew, rng, clock, tokens, more):
    """Whole stamps: as operands, as lines, as fields of lines."""
    whole = tokens if clock else [t for t in tokens]
    a = ask(unskew, [*more, "--", *whole])
    b = ask(unskew, more, ended(rng, whole))
    if a[:2] != b[:2] or notes(a[2]) != notes(b[2]):
        raise AssertionError(f"operands {a[0]} {a[2][-200:]!r}, lines {b[0]} {b[2][-200:]!r}")
    rows = a[1].splitlines()
    separator = rng.choice([",", ";", "|", "\t", "x"])
    if not any(separator in t or "\r" in t for t in whole):
        name = "tab" if separator == "\t" else separator
        text = [separator.join(["q 7", t, "", "\u00e4"]) for t in whole]
        head = rng.random() < 0.5
        c = ask(unskew, [*more, "--field", "2", "--separator", name], "\n".join(["a,when".replace(",", separator)] * head + text).encode())
        told = c[1].splitlines()
        if head and (not told or not told[0].endswith("hi_ns")):
            raise AssertionError(f"the first line names columns: {told[:1]} {c[2]}")
        want = [t + separator + separator.join(r.split("\t")[1:]) for t, r in zip(text, rows)]
        if c[0] != a[0] or told[head:] != want:
            raise AssertionError(f"fields {c[0]} {c[2][-200:]!r}: {told[head:][:1]} {want[:1]}")
    return rows


def refused(unskew, rng, good, bad, more):
    """Some stamps, then one that is none."""
    some = rng.sample(good, min(len(good), 3))
    a = ask(unskew, [*more, "--", *some, bad])
    b = ask(unskew, more, "\n".join([*some, bad]).encode() + rng.choice([b"", b"\n", b"\r\n", b"\nmore"]))
    if bad == "" and not more[1:]:
        if a[0] not in (1, 2):
            raise AssertionError(f"an empty operand gets {a}")
        return
    if a[0] not in (1, 2) or b[0] not in (1, 2):
        raise AssertionError(f"{bad!r} gets an answer: {a} {b}")
    last = [x[2].strip().splitlines()[-1].removeprefix("unskew: ") for x in (a, b)]
    if a[1] != b[1] or last[1] not in (last[0], f"line {len(some) + 1}: {last[0]}"):
        raise AssertionError(f"{bad!r}: operands say {last[0]!r}, lines {last[1]!r}; {a[1] == b[1]}")


def zulu(ns):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10**9)).strftime("%Y-%m-%dT%H:%M:%S") + f".{ns % 10**9:09d}Z"


def logs(unskew, rng, clock, stamps, told):
    """A log by that clock: what `convert` says of each stamp stands there, and nothing else is changed."""
    text, want = "", ""
    for ns, row in zip(stamps, told):
        end = rng.choice(["\n", "\n", "\r\n"])
        what = rng.choice([" ok", "", " \u00e4 \u0000\x1b[m", " 12:00:00 17", ' {"a": 1}'])
        middle = row.split("\t")[1]
        text += zulu(ns) + what + end
        want += zulu(ns if middle == "-" else int(middle)) + what + end
        if rng.random() < 0.2:
            more = rng.choice(["\tat f()", "", "-- ", "\x7f"]) + end
            text, want = text + more, want + more
    if rng.random() < 0.5 and text.endswith("\n"):
        text, want = text.rstrip("\r\n"), want.rstrip("\r\n")
    with open("log", "wb") as f:
        f.write(text.encode())
    a = ask(unskew, ["--log", "--clock", clock], text.encode())
    b = ask(unskew, ["--log", "--clock", clock, "--", "log"])
    if a[:2] != b[:2] or (a[0] in (0, 3) and a[1] != want):
        raise AssertionError(f"a log: {a[0]} {b[0]} {a[2]} {a[1][:200]!r} {want[:200]!r}")
    if a[0] not in (0, 3):
        raise AssertionError(f"a log is refused: {a[2]}")


def judge(unskew, seed):
    rng = random.Random(seed)
    clocks, rows = second.make(rng)
    second.write_table("t.csv", rows)
    r = run(unskew, "sync", "t.csv", "-o", "c.json", "--json", "-q")
    if r.returncode not in (0, 3):
        return None, 0
    answer = json.loads(r.stdout)
    known = {c.name: c for c in clocks}
    usable = [e["name"] for e in answer["clocks"] if e["knots"]]
    if not usable:
        return None, 0
    one = rng.choice(usable) if rng.random() < 0.5 else None
    more = ["--clock", one] if one else []
    tokens, means = [], []
    for _ in range(rng.choice([1, 10, 100])):
        name = one or rng.choice(usable)
        text, ns = notation(known[name].exact(rng.randint(-(10**9), second.SPAN)), rng)
        tokens.append(text if one else f"{name}:{text}")
        means.append(ns)
    if abs(means[0]) < 2**62:
        told = both_ways(unskew, rng, one, tokens, more)
        for text, ns, row in zip(tokens, means, told):
            if int(row.split("\t")[0]) != ns:
                raise AssertionError(f"{text!r} is {ns}, and was read as {row}")
        if len(told) != len(tokens):
            raise AssertionError(f"{len(told)} answers to {len(tokens)}: {ask(unskew, [*more, '--', *tokens])[2][-300:]}")
        recent = [(m, r) for m, r in zip(means, told) if m > 10**18]
        if one and recent and means[0] < 3 * 10**18:
            logs(unskew, rng, one, *zip(*recent))
    for bad in rng.sample(GARBAGE, 4):
        if bad == "" and one:
            continue  # an empty line asks nothing
        refused(unskew, rng, tokens, bad if one else rng.choice([f"{usable[0]}:{bad}", f"{usable[0]}{bad}", bad]) or "x", more)
    nul = (f"{usable[0]}\0z:" if not one else "\0") + tokens[0].rsplit(":", 1)[-1]
    b = ask(unskew, more, nul.encode() + b"\n")
    if b[0] not in (1, 2) or b[1]:
        raise AssertionError(f"a zero byte gets an answer: {b}")
    return None, len(tokens)


if __name__ == "__main__":
    sys.exit(trials(judge, 60, "stamps asked for"))
