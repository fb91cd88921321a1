#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: unskew-verify PROOF CLOCKS.JSON TRACE...
Check that the bounds in clocks.json follow from records of the traces by the steps of the proof that
`unskew sync --proof` wrote (doc/proof.md). Give the traces in the order in which sync had them. Status: 0,
all is proved; 3, a part of it; 1, a step is false; 2, wrong usage, or a file cannot be read."""
import bisect, csv, gzip, json, re, struct, sys
from collections import defaultdict
from decimal import Decimal
E6, E12 = 10**6, 10**12  # bounds are offsets in 10^-12 ns, slopes parts per 10^18
class FalseStep(Exception): pass
def ask(true, why):
    if not true: raise FalseStep(why)
def opened(path): return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
def pcap(f, magic):  # its records: stamp, link type, bytes
    e, unit = "><"[magic[0] != 0xA1], 1 if b"\x3c" in magic else 1000
    link = struct.unpack(e + "HHiIII", f.read(20))[5] & 0x0FFFFFFF
    while len(head := f.read(16)) == 16:
        s, part, kept, _ = struct.unpack(e + "IIII", head)
        yield s * 10**9 + part * unit, link, f.read(kept)
def pcapng(f, raw):
    e, links = "<", []
    while len(raw := raw + f.read(12 - len(raw))) == 12:
        if raw[:4] == b"\n\r\r\n": e, links = "<>"[raw[8:] == b"\x1a\x2b\x3c\x4d"], []
        kind, size = struct.unpack(e + "II", raw[:8])
        body, raw = raw[8:] + f.read(size - 12), b""
        if kind == 1:
            unit, base, at = Decimal(1000), 0, 8
            while at + 8 <= len(body) and (option := struct.unpack(e + "HH", body[at:at + 4]))[0]:
                v = body[at + 4:at + 4 + option[1]]
                if option[0] == 9: unit = 10**9 / (Decimal(2) ** (v[0] & 127) if v[0] > 127 else Decimal(10) ** v[0])
                if option[0] == 14: base = struct.unpack(e + "q", v)[0]
                at += 4 + (option[1] + 3) // 4 * 4
            links.append((struct.unpack(e + "H", body[:2])[0], unit, base))
        if kind == 6:
            interface, high, low, kept, _ = struct.unpack(e + "IIIII", body[:20])
            link, unit, base = links[interface]
            yield int((high << 32 | low) * unit) + base * 10**9, link, body[20:20 + kept]
AT = {0: 4, 108: 4, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0, 1: 14, 113: 16, 276: 20}  # where IP begins
def packet(link, data):  # what goes its way unchanged: protocol, hops left, IP-ID, length and bytes behind IP's header
    at = AT[link] if link in AT else ask(False, f"this verifier does not know link type {link}")
    while link == 1 and data[at - 2:at] in (b"\x81\x00", b"\x88\xa8"): at += 4
    if not (d := data[at:]) or d[0] >> 4 not in (4, 6): return None
    if d[0] >> 4 == 6: return d[6], d[7], b"", struct.unpack(">H", d[4:6])[0], d[40:]
    head, size = (d[0] & 15) * 4, struct.unpack(">H", d[2:4])[0]
    return d[9], d[8], d[4:6], (size or len(d)) - head, d[head:size or None]
def tcp(size, d):  # where its data begin, how many they are, flags, ACK, time stamps, and the data that were kept
    seq, ack, head, flags = struct.unpack(">IIBB", d[4:14])
    head = (head >> 4) * 4
    return seq, size - head, flags & 7, ack, re.findall(rb"\x08\x0a.{8}", d[20:head], re.S), d[head:]
def one_message(p, q):  # do the bytes say that q is what p became on its way, or that it has some of its data?
    if not p or not q or len(p) == 2: return p and q and (p[0], *q) == ("send", "recv", p[1])
    if p[0] != q[0] or q[1] > p[1]: return False
    a, b = [x[4][8 if x[0] == 17 else 4:] for x in (p, q)]
    if p[0] != 6: return p[2:4] == q[2:4] and a[:len(b)] == b[:len(a)]
    (s, n, *f, a), (t, m, *g, b) = tcp(*p[3:]), tcp(*q[3:])
    gap = (t - s + 2**31) % 2**32 - 2**31
    a, b = (a[gap:], b) if gap > 0 else (a, b[-gap:])
    shared = -m < gap < n if n and m else gap == 0 and n == m and f == g
    return f[2] == g[2] and shared and a[:len(b)] == b[:len(a)]
def cell(row, name): return int(row.get(name + "_ns") or Decimal(row[name + "_s"]) * 10**9 // 1)
def read_traces(paths, clocks, clock, wanted):  # records by clock and stamp: packets, or kind and id of events; rows
    found, rows = defaultdict(list), set()
    for path, of in zip(paths, (clock.get(t["clock"]) for t in clocks["traces"])):
        with opened(path) as f:
            magic, high, epoch = f.read(4), 0, 0
            if sorted(magic) in ([10, 10, 13, 13], sorted(b"\xa1\xb2\x3c\x4d"), sorted(b"\xa1\xb2\xc3\xd4")):
                for stamp, link, data in (pcapng if magic[:1] == b"\n" else pcap)(f, magic) if of else ():
                    high = max(high, stamp)
                    if high >= of["fell"][epoch][0] and stamp == of["fell"][epoch][1]: high, epoch = stamp, epoch + 1
                    if (end := (of["name"], stamp + of["lifted"][epoch])) in wanted: found[end].append(packet(link, data))
                continue
            f.seek(0)
            for r in csv.DictReader(line.decode() for line in f if not line.startswith(b"#")):
                if "sender" in r: rows.add((r["sender"], cell(r, "sent"), r["receiver"], cell(r, "received")))
                elif "kind" in r: found[r["clock"], cell(r, "time")].append((r["kind"], r["id"]))
                else: rows |= {(r["a"], cell(r, "t1"), r["b"], cell(r, "t2")), (r["b"], cell(r, "t3"), r["a"], cell(r, "t4"))}
    return found, rows
def up(a, b): return -(-a // b)
def falls(jump): return jump["kind"] == "jump" and int(jump["size_hi_ns"] or 1) <= 0  # did the offset fall, and never rise?
class Proof:  # side 0, lower bounds, has its sign turned, so that less says more on both
    def __init__(self, clocks):
        model, self.clock, self.fact, self.message = clocks["model"], clocks["clocks"], [], []
        self.least = {(d["sender"], d["receiver"]): int(d["ns"]) for d in model.get("min_delays", [])}
        self.skew = int(model["max_skew_ppm"] * E12)
        for c in self.clock:
            c["fell"], c["lifted"] = [(int(f["from_ns"]), int(f["to_ns"])) for f in c.get("set_back", [])] + [(0, None)], [0]
            for a, b in c["fell"][:-1]: c["lifted"].append(c["lifted"][-1] + a - b + 10**8)  # its time goes on, instead
            at = lambda x, key, epoch="epoch": int(x[key]) + c["lifted"][x.get(epoch, 0)]
            c["set"] = [(at(j, "after_local_ns"), at(j, "before_local_ns", "end_epoch"), falls(j)) for j in c["jumps"]]
            c["back"] = [e[:2] for e, j in zip(c["set"], c["jumps"]) if c["reference"] in (j["of"], j.get("or")) and int(j["size_lo_ns"] or -1) < 0]
            c["fall"] = 2 * sum(max(-int(j["size_lo_ns"] or -10**20), 0) for j in c["jumps"])  # the reference's, or its own steps forward
            c["free"] = c["set"] + [(at(d, "from_ns"), at(d, "to_ns"), False) for d in c["disturbed"]]
            c["runs"] = sorted(y for _, y, _ in c["free"]) if model["name"] == "segments" else []  # behind each another rate begins
            c["band"] = [[(at(k, "local_ns"), k[key] and sign * (int(k[key]) - c["lifted"][k.get("epoch", 0)]))
                          for k in c["knots"]] for key, sign in (("lo_ns", -1), ("hi_ns", 1))]
            c.update(w=int(c["wander"]["used_ppm"] * E6), rate=defaultdict(lambda: [self.skew] * 2), done=[0, 0], end=[-10**20] * 2)
    def between(self, c, kind, a, b, over=False): return not any(x < max(a, b) and min(a, b) < y and not (over and f) for x, y, f in self.clock[c][kind])
    def beside(self, c, x, sent): return c["name"] != c["reference"] and not any(a - sent * c["fall"] < x < b + (not sent) * c["fall"] for a, b in c["back"])
    def run(self, c, *stamps): return (bisect.bisect_right(self.clock[c]["runs"], min(stamps)),)
    def given(self, n, side, c, run=None):  # an earlier step, about this side and clock, or its rate in a run: stamp or run, value
        f = self.fact[int(n)]  # there are no later ones yet
        ask(f[:2] == (side, c) and (f[2] == run if run else isinstance(f[2], int)), "it rests on a step about something else")
        return f[2:]
    def summed(self, side, c, x, scale, *terms):  # messages, each so often: what they leave but θ(x) has bounds
        left, bounds, total = defaultdict(lambda: defaultdict(int)), defaultdict(list), 0
        left[c][x] = scale if side else -scale
        for m, often in (map(abs, map(int, t.split(":"))) for t in terms if ":" in t):
            a, s, b, r, gap = self.message[m]
            for clock, stamp, n in ((a, s, -often), (b, r, often)): left[clock][stamp] += n
            total += often * gap * E12
        for f in (self.fact[int(t)] for t in terms if ":" not in t): bounds[f[1]].append(f)
        for k, weight in left.items():
            of, stamps = self.clock[k], [t for t, n in weight.items() if n]
            ask(of["reference"] == self.clock[c]["reference"], "these have two references")
            if not stamps or of["name"] == of["reference"]: continue
            (p, _, y, u), *_, (q, _, z, v) = bounds[k] * 2 or ask(False, "the message has another stamp")
            straight = y < z and not of["w"] and self.between(k, "free", min(y, *stamps), max(z, *stamps))
            late = sum(n * (t - y) for t, n in weight.items())  # over z - y, as all of these are on one line
            early = sum(weight.values()) * max(z - y, 1) - late
            ask((straight or stamps == [y]) and early * (2 * p - 1) >= 0 <= late * (2 * q - 1), "other offsets are left")
            total += up(abs(early) * u + abs(late) * v, max(z - y, 1))
        return up(total, scale)
    def implied(self, rule, arg, side, c, x):
        if rule == "reference": return ask(self.clock[c]["reference"] == self.clock[c]["name"], "this clock is no reference") or 0
        if rule == "message": return self.summed(side, c, x, 1, arg[0] + ":1", arg[1])
        if rule == "sum": return self.summed(side, c, x, abs(int(arg[0])), *arg[1:])
        if rule == "cone":
            y, u = self.given(arg[0], side, c)
            ask(self.between(c, *(("set", x, y, side == (y < x)) if arg[1] == "skew" else ("free", x, y))), "the clock was disturbed between")
            return u + up(abs(x - y) * (self.skew if arg[1] == "skew" else self.given(arg[1], side == (x > y), c, self.run(c, x, y))[1]), E6)
        (y, u), (z, v) = self.given(arg[0], side, c), self.given(arg[1], side if rule == "chord" else not side, c)
        ask(self.between(c, "free", y, z), "the clock was disturbed between")
        ask(y < x < z if rule == "chord" else rule == "pair" and z < y, "stamps are in another order")
        if rule == "chord": return u + up((x - y) * (v - u + 2 * self.clock[c]["w"] * (z - x)), z - y)
        self.of = self.run(c, y, z)
        return up((u + v) * E6, y - z) + 2 * self.clock[c]["w"] * E6
    def band(self, side, steps):  # is the published band, a straight line between knots, outside of what steps imply, everywhere?
        n, at = self.fact[int(steps[0])][1], 0
        c, knots = self.clock[n], self.clock[n]["band"][side]
        for (x, u), (y, v) in ((self.given(i, side, n), self.given(j, side, n)) for i, j in zip(steps, steps[1:])):
            while at + 2 < len(knots) and knots[at + 1][0] <= x: at += 1
            (k, a), (l, b) = knots[at:at + 2]
            ask(c["end"][side] <= x < y and k <= x and y <= l and self.between(n, "set", x, y), "stamps are not as they should be")
            line = lambda t: a * E12 + (b - a) * E12 * (t - k) // (l - k)
            ask(u <= line(x) and v <= line(y), "the band is narrower than what steps imply")
            calm, bulge = self.between(n, "free", x, y), up(c["w"] * (y - x), 2)
            f, g = [c["rate"][self.run(n, x)][s] if calm else self.skew for s in (side, not side)]
            if not (calm and u + bulge <= line(x) and v + bulge <= line(y)):
                meet = ((v - u) * E6 + g * (y - x)) // max(f + g, 1)
                ask(all(not 0 < t < y - x or min(u + up(t * f, E6), v + up((y - x - t) * g, E6)) <= line(x + t)
                        for t in (meet, meet + 1)), "the band is narrower than what steps imply in the middle")
            c["done"][side], c["end"][side] = c["done"][side] + y - x, y
    def line(self, what, *rest):
        if what == "band": return self.band(["lo", "hi"].index(rest[0]), rest[1:])
        if what == "message":
            a, s, b, r = map(int, rest)
            m = self.clock[a]["name"], s, self.clock[b]["name"], r
            if self.clock[b]["resolution_ns"] != "1": r += int(self.clock[b]["resolution_ns"])
            ask(self.beside(self.clock[a], s, True) or self.beside(self.clock[b], r, False), "the reference may have been set back meanwhile")
            self.message.append((a, s, b, r, r - s - self.least.get(m[::2], 0)))
            return m
        rate, side, c = what in ("slow", "fast"), what in ("hi", "fast"), int(rest[0])
        x, (at, rule, *arg) = (None, rest[1:]) if rate else (int(rest[1]), rest[2:])
        ask(rate == (rule == "pair") and 0 <= c < len(self.clock) and (rate or what in ("lo", "hi")), "no rule says so")
        at, least = int(at) if side else -int(at), self.implied(rule, arg, side, c, x)
        ask(at >= least, f"the messages and stretches it names imply {least if side else -least} only")
        self.fact.append((side, c, self.of if rate else x, at))
        if rate: self.clock[c]["rate"][self.of][side] = min(at, self.clock[c]["rate"][self.of][side])
def verify(path, clocks, paths):
    proof, raw, whole = Proof(clocks), [], True
    with opened(path) as f: head, *lines = f.read().decode().splitlines()
    ask(head == "unskew-proof 1", "line 1: this is no proof")
    for number, line in enumerate(lines, 2):
        try:
            if m := proof.line(*line.split(" ")): raw.append((number, m))
        except (ValueError, LookupError, TypeError, ArithmeticError): raise FalseStep(f"line {number} is not understood: {line[:99]}")
        except FalseStep as e: raise FalseStep(f"line {number}: {e}: {line[:99]}")
    wanted = {end for _, m in raw for end in (m[:2], m[2:])}
    found, rows = read_traces(paths, clocks, {c["name"]: c for c in proof.clock}, wanted)
    for n, m in raw:
        ask(m in rows or any(one_message(p, q) for p in found[m[:2]] for q in found[m[2:]]),
            f"line {n}: no records show that {m[0]} sent at {m[1]} what {m[2]} received at {m[3]}")
    print(f"{len(raw)} messages are in the traces, {len(proof.fact)} steps follow from them.")
    for c in (c for c in proof.clock if c["quality"] != "reference"):
        span = c["band"][0][-1][0] - c["band"][0][0][0] - sum(b - a for a, b, _ in c["set"]) if c["knots"] else 0
        share = ["proved" if span and d == span else f"proved for {100 * d / max(span, 1):.4g} % of the time" for d in c["done"]]
        print(f"{c['name']}: lower bounds are {share[0]}, upper bounds {share[1]}.")
        whole = whole and share == ["proved"] * 2
    return 0 if whole else 3
def main(args):
    if len(args) < 3: return print(__doc__, file=sys.stderr if args != ["--help"] else sys.stdout) or 2 * (args != ["--help"])
    try:
        with opened(args[1]) as f: clocks = json.loads(f.read(), parse_float=Decimal)
        ask(len(args) - 2 == len(clocks["traces"]), "give as many traces as sync had, in their order")
        return verify(args[0], clocks, args[2:])
    except FalseStep as e: return print(f"unskew-verify: {e}", file=sys.stderr) or 1
    except (OSError, EOFError, ValueError, LookupError, TypeError, ArithmeticError, struct.error) as e:
        return print(f"unskew-verify: cannot read: {e}", file=sys.stderr) or 2
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
