#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: unskew-verify PROOF CLOCKS.JSON TRACE...

Check that the bounds in clocks.json follow from records of the traces, by the steps in the proof that
`unskew sync --proof` wrote. Give the traces in the order in which `sync` had them. Status: 0 all bounds
are proved, 1 a step is false, 2 wrong usage or unreadable, 3 no step is false, but not all is proved."""
import csv, gzip, json, struct, sys
from collections import defaultdict
from decimal import Decimal

E6, E12 = 10**6, 10**12


class False_(Exception):
    """A step that does not follow."""


def ask(true, why):
    if not true:
        raise False_(why)


def opened(path):
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")


# ---- records: all that lie at a stamp that the proof names ----

def pcap(f, magic):
    big = magic[0] == 0xA1
    e, unit = "><"[not big], 1 if (magic if big else magic[::-1]) == b"\xa1\xb2\x3c\x4d" else 1000
    link = struct.unpack(e + "HHiIII", f.read(20))[5] & 0x0FFFFFFF
    while len(head := f.read(16)) == 16:
        s, part, kept, size = struct.unpack(e + "IIII", head)
        yield s * 10**9 + part * unit, link, f.read(kept)


def pcapng(f, head):
    e, links, raw = "<", [], head
    while len(raw := raw + f.read(12 - len(raw))) == 12:
        if raw[:4] == b"\n\r\r\n":
            e, links = "<>"[raw[8:12] == b"\x1a\x2b\x3c\x4d"], []
        kind, size = struct.unpack(e + "II", raw[:8])
        body = raw[8:] + f.read(size - 12)
        if kind == 1:
            unit, base, at = Decimal(10) ** -6, 0, 8
            while at + 4 <= len(body) - 4 and (option := struct.unpack(e + "HH", body[at:at + 4]))[0]:
                value = body[at + 4:at + 4 + option[1]]
                if option[0] == 9:
                    unit = Decimal(2) ** -(value[0] & 127) if value[0] & 128 else Decimal(10) ** -value[0]
                if option[0] == 14:
                    base = struct.unpack(e + "q", value)[0]
                at += 4 + (option[1] + 3) // 4 * 4
            links.append((struct.unpack(e + "H", body[:2])[0], unit, base))
        if kind == 6:
            interface, high, low, kept = struct.unpack(e + "IIII", body[:16])
            link, unit, base = links[interface]
            stamp = (high << 32 | low) * unit * 10**9  # whole ns, rounded down
            yield int(stamp) + base * 10**9, link, body[20:20 + kept]
        raw = b""


LINK = {1: 12, 113: 14, 276: 0, 101: None, 12: None, 14: None, 228: None, 229: None, 0: 0, 108: 0}


def packet(link, data):
    """What of a packet goes its way unchanged: protocol, source, hops left, and its bytes."""
    ask(link in LINK, f"link type {link} is not known to the verifier")
    at = LINK[link]
    if link in (0, 108):
        data = data[4:]
    elif link == 276:
        data = data[20:]
    elif at is not None:
        while data[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
        data = data[at + 2:]
    if not data or data[0] >> 4 not in (4, 6):
        return None
    if data[0] >> 4 == 4:
        head, size = (data[0] & 15) * 4, struct.unpack(">H", data[2:4])[0]
        return data[9], data[12:16], data[8], data[4:8], data[head:size or None], (size or len(data)) - head
    return data[6], data[8:24], data[7], b"", data[40:], struct.unpack(">H", data[4:6])[0]


def tcp(p):
    """Sequence number, length, flags and time stamps; payload as it was kept."""
    seq, ack, off, flags = struct.unpack(">IIBB", p[4][4:14])
    head, options, at = (off >> 4) * 4, b"", 20
    while at + 1 < min(head, len(p[4])) and p[4][at]:
        if p[4][at] == 8:
            options = p[4][at:at + 10]
        at += 1 if p[4][at] == 1 else max(2, p[4][at + 1])
    return seq, p[5] - head, flags & 7, options, p[4][head:], ack


def one_message(p, q):
    """Do the bytes say that q is what p became on its way, or shares some of its data?"""
    if not p or not q or p[0] != q[0] or q[2] > p[2]:
        return False
    if p[0] == 6:
        (s, n, f, o, a, k), (t, m, g, r, b, j) = tcp(p), tcp(q)
        gap = (t - s + 2**31) % 2**32 - 2**31
        a, b = (a[gap:], b) if gap > 0 else (a, b[-gap:])
        common = min(len(a), len(b))
        shared = gap < n and gap > -m if n and m else gap == 0 and n == m and f == g and k == j
        return o == r and shared and a[:common] == b[:common]
    skip = 8 if p[0] == 17 else 4
    a, b = p[4][skip:], q[4][skip:]
    return p[5] == q[5] and p[3][:2] == q[3][:2] and a[:len(b)] == b[:len(a)]


def cell(row, name):
    if row.get(name + "_ns"):
        return int(row[name + "_ns"])
    ask(row.get(name + "_s"), f"a row has no time {name}_ns or {name}_s")
    return int(Decimal(row[name + "_s"]) * 10**9 // 1)


def read_traces(paths, traces, wanted):
    packets, rows = defaultdict(list), set()
    for path, info in zip(paths, traces):
        with opened(path) as f:
            magic = f.read(4)
            if magic in (b"\n\r\r\n", b"\xa1\xb2\x3c\x4d", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1"):
                for stamp, link, data in (pcapng if magic[:1] == b"\n" else pcap)(f, magic):
                    if (info["clock"], stamp) in wanted:
                        packets[info["clock"], stamp].append(packet(link, data))
                continue
        with opened(path) as f:
            events = defaultdict(lambda: ([], []))
            for r in csv.DictReader(line.decode() for line in f if not line.startswith(b"#")):
                if "sender" in r:
                    rows.add((r["sender"], cell(r, "sent"), r["receiver"], cell(r, "received")))
                elif "t1_ns" in r or "t1_s" in r:
                    rows.add((r["a"], cell(r, "t1"), r["b"], cell(r, "t2")))
                    rows.add((r["b"], cell(r, "t3"), r["a"], cell(r, "t4")))
                else:
                    packets[r["clock"], cell(r, "time")].append((r["kind"].lower(), r["id"]))
    return packets, rows


def seen(m, packets, rows):
    if m in rows:
        return True
    for p in packets[m[0], m[1]]:
        for q in packets[m[2], m[3]]:
            if p and q and (p == ("send", q[1]) and q[0] == "recv" if len(p) == 2 else one_message(p, q)):
                return True
    return False


# ---- steps ----

def up(a, b):
    return -(-a // b)


class Proof:
    def __init__(self, clocks):
        self.skew = int(clocks["model"]["max_skew_ppm"] * E12)  # slopes are parts per 10^18
        self.clock, self.fact, self.message = clocks["clocks"], [], []
        for c in self.clock:
            c["w"] = int(Decimal(c["wander"]["used_ppm"]) * E6)
            c["jumped"] = [(int(j["after_local_ns"]), int(j["before_local_ns"])) for j in c["jumps"]]
            c["free"] = c["jumped"] + [(int(d["from_ns"]), int(d["to_ns"])) for d in c["disturbed"]]

    def between(self, c, kind, a, b):
        return not any(x < max(a, b) and min(a, b) < y for x, y in self.clock[c][kind])

    def bound(self, n, side, c):
        """A bound of that side (0: lower ones, sign turned) of a clock's offset: stamp, value."""
        ask(0 <= n < len(self.fact), "it rests on a step that does not come before it")
        f = self.fact[n]
        ask(f[0] == side and f[1] == c and f[2] is not None, "it rests on a step about something else")
        return f[2], f[3]

    def slope(self, text, side, c):
        if text == "skew":
            return self.skew
        f = self.fact[int(text)] if int(text) < len(self.fact) else (None, None, None)
        ask(int(text) >= 0 and f[:3] == (side, c, None), "it rests on a step about something else")
        return f[3]

    def step(self, w):
        rate, side, c = w[0] in ("slow", "fast"), w[0] in ("hi", "fast"), int(w[1])
        sign = 1 if side else -1
        x, at, rule, arg = (None, *w[2:4], w[4:]) if rate else (int(w[2]), *w[3:5], w[5:])
        ask(0 <= c < len(self.clock) and rate == (rule == "pair"), "no rule says so")
        at, wander = sign * int(at), self.clock[c]["w"]
        if rule == "reference":
            ask(self.clock[c]["reference"] == self.clock[c]["name"], "this clock is no reference")
            least = 0
        elif rule == "message":
            ask(0 <= int(arg[0]) < len(self.message), "there is no such message")
            m = self.message[int(arg[0])]
            here, there = (m[:2], m[2:]) if side else (m[2:], m[:2])
            ask(here == (c, x), "the message has another stamp")
            y, least = self.bound(int(arg[1]), side, there[0])
            ask(y == there[1], "the message has another stamp")
            least += (m[3] - m[1]) * E12
        elif rule == "cone":
            y, least = self.bound(int(arg[0]), side, c)
            ask(self.between(c, "jumped" if arg[1] == "skew" else "free", x, y), "the clock was disturbed between")
            least += up(abs(x - y) * self.slope(arg[1], side == (x > y), c), E6)
        elif rule == "chord":
            (y, u), (z, v) = self.bound(int(arg[0]), side, c), self.bound(int(arg[1]), side, c)
            ask(y < x < z and self.between(c, "free", y, z), "the clock was disturbed between")
            least = u + up((x - y) * (v - u + 2 * wander * (z - x)), z - y)
        else:
            ask(rule == "pair", "no rule says so")
            (z, u), (y, v) = self.bound(int(arg[0]), side, c), self.bound(int(arg[1]), not side, c)
            ask(y < z and self.between(c, "free", y, z), "the clock was disturbed between")
            least = up((u + v) * E6, z - y) + 2 * wander * E6
        ask(at >= least, f"the messages and stretches it names imply {sign * least} only")
        self.fact.append((side, c, x, at))
        if rate:
            self.clock[c].setdefault("rate", {})[side] = min(at, self.clock[c].get("rate", {}).get(side, at))

    def band(self, side, steps):
        """Is the published band, a straight line between two knots, outside of what steps imply?"""
        sign, key, done = (1, "hi_ns", 0) if side else (-1, "lo_ns", 0)
        c = self.fact[steps[0]][1]
        knots = [(int(k["local_ns"]), sign * int(k[key])) for k in self.clock[c]["knots"] if k[key]]
        at = 0
        for i, j in zip(steps, steps[1:]):
            (x, u), (y, v) = self.bound(i, side, c), self.bound(j, side, c)
            while at + 1 < len(knots) and knots[at + 1][0] <= x:
                at += 1
            ask(at + 1 < len(knots) and knots[at][0] <= x < y <= knots[at + 1][0], "it is beyond knots")
            (k, a), (n, b) = knots[at], knots[at + 1]
            line = lambda t: a * E12 + (b - a) * E12 * (t - k) // (n - k)
            calm, rate = self.between(c, "free", x, y), self.clock[c].get("rate", {})
            ask(self.between(c, "jumped", x, y), "the clock was set between")
            f, g = [rate.get(s, self.skew) if calm else self.skew for s in (side, not side)]
            bulge = up(self.clock[c]["w"] * (y - x), 2)
            ask(u <= line(x) and v <= line(y), "the band is narrower than that")
            if not (calm and u + bulge <= line(x) and v + bulge <= line(y)):
                meet = ((v - u) * E6 + g * (y - x)) // max(f + g, 1)
                for t in (meet, meet + 1):
                    ask(not 0 < t < y - x or min(u + up(t * f, E6), v + up((y - x - t) * g, E6)) <= line(x + t),
                        "the band is narrower than that in the middle")
            done += y - x
        self.clock[c].setdefault("done", {0: 0, 1: 0})[side] += done


def verify(proof_path, clocks, paths):
    proof, raw = Proof(clocks), []
    name = [c["name"] for c in proof.clock]
    with opened(proof_path) as f:
        lines = f.read().decode().split("\n")
    ask(lines[0] == "unskew-proof 1", "line 1: this is no proof")
    for number, line in enumerate(lines[1:], 2):
        word = line.split(" ")
        try:
            if word[0] == "message":
                a, s, b, r = map(int, word[1:])
                ask(0 <= a < len(name) and 0 <= b < len(name), "there is no such clock")
                raw.append((number, (name[a], s, name[b], r)))
                q = int(proof.clock[b]["resolution_ns"])
                proof.message.append((a, s, b, r + (q if q > 1 else 0)))
            elif word[0] == "band":
                ask(len(word) > 2 and word[1] in ("lo", "hi"), "it is not understood")
                proof.band(word[1] == "hi", list(map(int, word[2:])))
            elif line:
                proof.step(word)
        except (ValueError, IndexError, KeyError, TypeError):
            raise False_(f"line {number}: it is not understood: {line[:100]}") from None
        except False_ as e:
            raise False_(f"line {number}: {e}: {line[:100]}") from None
    wanted = {end for _, m in raw for end in (m[:2], m[2:])}
    packets, rows = read_traces(paths, clocks["traces"], wanted)
    for number, m in raw:
        ask(seen(m, packets, rows), f"line {number}: no two records say that {m[0]} sent at {m[1]} what {m[2]} received at {m[3]}")
    whole = True
    print(f"{len(raw)} messages are in the traces, {len(proof.fact)} steps follow from them.")
    for c in proof.clock:
        if c["quality"] == "reference":
            continue
        span = int(c["knots"][-1]["local_ns"]) - int(c["knots"][0]["local_ns"]) if c["knots"] else 0
        lo, hi = [c.get("done", {}).get(s, 0) for s in (0, 1)]
        whole = whole and span and lo == hi == span
        share = lambda d: "all" if span and d == span else f"{100 * d / max(span, 1):.4g} % of the time"
        print(f"{c['name']}: lower bounds: {share(lo)}; upper bounds: {share(hi)}.")
    return 0 if whole else 3


def main(args):
    if len(args) < 3 or args[0].startswith("-"):
        print(__doc__, file=sys.stderr if args[:1] != ["--help"] else sys.stdout)
        return 0 if args[:1] == ["--help"] else 2
    try:
        with opened(args[1]) as f:
            clocks = json.load(f, parse_float=Decimal)
        ask(len(args) - 2 == len(clocks["traces"]), "give as many traces as sync had, in their order")
        return verify(args[0], clocks, args[2:])
    except False_ as e:
        print(f"unskew-verify: {e}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError, IndexError, struct.error) as e:
        print(f"unskew-verify: cannot read: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
