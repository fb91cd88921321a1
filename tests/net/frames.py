# SPDX-License-Identifier: MIT
"""frames.py - what a capture holds, told apart by whole contents

In    a pcap file of whole packets: Ethernet, cooked (1, 2), raw IP
Out   {identity: [stamps in ns]}, the identity being all that survives forwarding and NAT
Why   says which packets two captures both hold, and shares no code or thought with the matcher
Not   fragments; what NAT does to anything but TCP, UDP and echoes; tunnels but VXLAN
"""
import struct

LINKS = {1: (14, 12), 113: (16, 14), 276: (20, 0)}  # bytes before IP, where the protocol stands
VXLAN = 4789


def payload_of_link(link, frame):
    """The IP packet, or nothing."""
    if link in (12, 101):
        return frame
    head, at = LINKS[link]
    kind = int.from_bytes(frame[at:at + 2], "big")
    while kind in (0x8100, 0x88A8):
        kind = int.from_bytes(frame[head + 2:head + 4], "big")
        head += 4
    return frame[head:] if kind in (0x0800, 0x86DD) else b""


def transport(p):
    """Protocol, IP-ID, what it carries."""
    if p[0] >> 4 == 4:
        size, at = int.from_bytes(p[2:4], "big"), (p[0] & 15) * 4
        return p[9], p[4:6], p[at:size or len(p)]
    return p[6], b"", p[40:40 + (int.from_bytes(p[4:6], "big") or len(p))]


def identity(p):
    """Of an IP packet, or of the one it carries. NAT writes addresses, ports, an echo's id and checksums anew."""
    proto, number, b = transport(p)
    if proto == 6 and len(b) >= 20:
        return proto, number, bytes(b[4:16]), bytes(b[18:])
    if proto == 17 and len(b) >= 8:
        inner = payload_of_link(1, b[16:]) if int.from_bytes(b[2:4], "big") == VXLAN and len(b) > 30 else b""
        return identity(inner) if inner else (proto, number, bytes(b[8:]))
    if proto in (1, 58) and len(b) >= 8 and b[0] in (0, 8, 128, 129):
        return proto, number, bytes(b[:2]), bytes(b[6:])
    return proto, number, bytes(b)


def read(path):
    found = {}
    with open(path, "rb") as f:
        d = f.read()
    magic, link = struct.unpack_from("<I", d)[0], struct.unpack_from("<I", d, 20)[0] & 0xFFFF
    assert magic == 0xA1B23C4D, path + " has no nanoseconds"
    at = 24
    while at + 16 <= len(d):
        s, ns, n, whole = struct.unpack_from("<IIII", d, at)
        assert n == whole, path + " has packets that are cut"
        p = payload_of_link(link, d[at + 16:at + 16 + n])
        if p:
            found.setdefault(identity(p), []).append(s * 10**9 + ns)
        at += 16 + n
    return found


def snap(path, to, n):
    """The same capture with n bytes of each packet."""
    with open(path, "rb") as f:
        d = f.read()
    out, at = [d[:16] + struct.pack("<I", n) + d[20:24]], 24
    while at + 16 <= len(d):
        s, ns, has, whole = struct.unpack_from("<IIII", d, at)
        kept = min(has, n)
        out.append(struct.pack("<IIII", s, ns, kept, whole) + d[at + 16:at + 16 + kept])
        at += 16 + has
    with open(to, "wb") as f:
        f.write(b"".join(out))
