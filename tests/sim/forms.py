# SPDX-License-Identifier: MIT
"""forms.py - messages whose true times are known, as traces of any form: what a user may have of them

In    rows (sent, who, whom, received) in true time, clocks by name that read() a true time, with their tick
Out   files in the working folder, and how the command names them
Why   what a band promises must not hang on the form that messages came in

A message is a row of a table, two rows of event tables, half an exchange, or a packet in two captures, of which
some are lost, sent through a NAT, or recorded by several interfaces in one file.
"""
import csv
import struct

SECOND = 10**9
FORMS = ("messages", "messages", "events", "exchanges", "captures", "captures", "interfaces")


def cut(rng, rows, few=8):
    """One trace, or several: one after the other, or side by side."""
    if rng.random() < 0.5 or len(rows) < few:
        return [rows]
    if rng.random() < 0.5:
        at = rng.randint(len(rows) // 4, len(rows) * 3 // 4)
        return [rows[:at], rows[at:]]
    side = [rng.random() < 0.5 for _ in rows]
    return [[r for r, s in zip(rows, side) if s == which] for which in (False, True)]


def table(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(head)
        w.writerows(rows)


def messages(rng, clocks, rows):
    by = rng.choice([0, 3])
    rows = sorted(rows, key=lambda r: r[by])
    # Which epoch a table begins in that goes on behind another one, nothing tells.
    back = any(clocks[n].goes_back() for r in rows for n in r[1:3])
    parts = [rows] if back else cut(rng, rows, 200)
    for i, part in enumerate(parts):
        table(f"messages{i}.csv", ["sender", "receiver", "sent_ns", "received_ns"],
              ((a, b, clocks[a].read(t), clocks[b].read(u)) for t, a, b, u in part))
    return [f"messages{i}.csv" for i in range(len(parts))], []


def events(rng, clocks, rows):
    """Each clock's own tables, in the order in which things happened there."""
    out = []
    for number, (name, clock) in enumerate(clocks.items()):
        seen = [(t, "send", i) for i, (t, a, _, _) in enumerate(rows) if a == name]
        seen += [(u, "recv", i) for i, (_, _, b, u) in enumerate(rows) if b == name]
        for i, part in enumerate([sorted(seen)] if clock.goes_back() else cut(rng, sorted(seen), 200)):
            out.append(f"events{number}-{i}.csv")
            table(out[-1], ["clock", "time_ns", "kind", "id"], ((name, clock.read(t), kind, k) for t, kind, k in part))
    rng.shuffle(out)
    return out, []


def exchanges(rng, clocks, rows):
    """A question and the next answer, where there is one; the rest as messages."""
    open_, pairs, used = {}, [], set()
    for i, (t, a, b, u) in sorted(enumerate(rows), key=lambda r: r[1][0]):
        asked = open_.get((b, a))
        if asked is not None and rows[asked][3] <= t:
            pairs.append((rows[asked], rows[i]))
            used |= {asked, i}
            del open_[b, a]
        else:
            open_[a, b] = i
    table("exchanges.csv", ["a", "b", "t1_ns", "t2_ns", "t3_ns", "t4_ns"],
          ((x[1], x[2], clocks[x[1]].read(x[0]), clocks[x[2]].read(x[3]), clocks[x[2]].read(y[0]), clocks[x[1]].read(y[3]))
           for x, y in pairs))
    left = [r for i, r in enumerate(rows) if i not in used]
    return ["exchanges.csv"] * bool(pairs) + (messages(rng, clocks, left)[0] if left else []), []


# ---- captures --------------------------------------------------------------------------------------


def packet(number, name, source, target):
    """A datagram whose content is its own."""
    data = struct.pack(">IIQ", 1, number, number * 0x9E3779B97F4A7C15 % 2**64) * 3
    udp = struct.pack(">HHHH", 4000 + name, 4001, 8 + len(data), 0) + data
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), number % 65536, 0, 64, 17, 0) + source + target
    return bytes(12) + b"\x08\x00" + ip + udp


def sightings(rng, clocks, rows):
    """What each clock's machine saw, [(true time, packet)]; of some machines others see a NAT's address."""
    index = {n: i for i, n in enumerate(clocks)}
    inner = {n: bytes([10, 0, 0, i + 1]) for n, i in index.items()}
    nat = rng.random() < 0.3
    outer = {n: bytes([192, 0, 2, i + 1]) if nat and rng.random() < 0.5 else inner[n] for n, i in index.items()}
    lost = rng.choice([0, 0, 0.03, 0.3])
    seen = {n: [] for n in clocks}
    for number, (t, a, b, u) in enumerate(rows):
        if rng.random() >= lost:
            seen[a].append((t, packet(number, index[a], inner[a], outer[b])))
        if rng.random() >= lost:
            seen[b].append((u, packet(number, index[a], outer[a], inner[b])))
    local = rng.random() < 0.5 or nat
    return seen, [x for n in clocks if local for x in ("--local", f"{n}={'.'.join(map(str, inner[n]))}")]


def pcap(path, clock, packets):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B23C4D if clock.tick == 1 else 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for t, p in packets:
            ns = clock.read(t)
            f.write(struct.pack("<IIII", ns // SECOND, ns % SECOND // clock.tick, len(p), len(p)) + p)


def captures(rng, clocks, rows):
    seen, more = sightings(rng, clocks, rows)
    out = []
    for name, clock in clocks.items():
        for i, part in enumerate(cut(rng, sorted(seen[name]))):
            pcap(f"{name}-{i}.pcap", clock, part)
            out.append(f"{name}={name}-{i}.pcap")
    rng.shuffle(out)
    return out, more


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def pcapng(path, clocks, names, records):
    """One interface for each clock; records are (true time, clock, packet)."""
    with open(path, "wb") as f:
        f.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        for n in names:
            digits = 9 if clocks[n].tick == 1 else 6
            name = struct.pack("<HH", 2, len(n)) + n.encode() + bytes(-len(n) % 4)
            f.write(block(1, struct.pack("<HHI", 1, 0, 65535) + name + struct.pack("<HHBxxx", 9, 1, digits) + bytes(4)))
        for t, n, p in records:
            at = clocks[n].read(t) // clocks[n].tick
            f.write(block(6, struct.pack("<IIIII", names.index(n), at >> 32, at & 0xFFFFFFFF, len(p), len(p)) + p))


def pcapng_stamps(data):
    """Of packets, by interfaces of ns, in the order of the file."""
    out, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", data, at + 12)
            out.append(high << 32 | low)
        at += size
    return out


def interfaces(rng, clocks, rows):
    """Captures of several interfaces, each of which has a clock of its own."""
    seen, more = sightings(rng, clocks, rows)
    names, out = list(clocks), []
    rng.shuffle(names)
    while names:
        those = [names.pop() for _ in range(min(rng.choice([1, 2, 2, 3]), len(names)))]
        file = f"file{len(out)}"
        pcapng(file + ".pcapng", clocks, those, sorted((t, n, p) for n in those for t, p in seen[n]))
        out.append(f"{file}.pcapng")
        for i, n in enumerate(those):
            more += ["--clock-of", f"{file}/{rng.choice([n, i])}={n}"]
    return out, more


def write(rng, clocks, rows, form):
    """(operands, options) that say all of it."""
    return globals()[form](rng, clocks, rows)
