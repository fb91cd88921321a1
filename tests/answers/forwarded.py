# SPDX-License-Identifier: MIT
"""forwarded.py - what a machine captures that passes packets on: each twice, by two devices, with a hop less or as it was, before and after NAT"""
import struct

import interfaces

SLL2 = 276
NS = 0xa1b23c4d


def address(data, at):
	return data[at:at + 4]


def by(data, hops, nat, out):
	"""The packet with fewer hops left; behind NAT it has another address and port, on its way out as sender, else as receiver."""
	at = 26 if out else 30
	data = data[:22] + bytes([max(1, data[22] - hops)]) + data[23:]
	if nat and data[23] in (6, 17):
		port = 34 if out else 36
		data = data[:port] + struct.pack('>H', struct.unpack_from('>H', data, port)[0] ^ 0x4000) + data[port + 2:]
	return data[:at] + bytes([198, 51, 100, 7]) + data[at + 4:] if nat else data


def cooked(data, device, kind):
	"""As `tcpdump -i any` writes it."""
	return data[12:14] + struct.pack('>HIHBB', 0, device, 1, kind, 6) + data[6:12] + bytes(2) + data[14:]


def write(draw, path, to):
	"""Of a capture of ns (pcap, Ethernet) what its next hop has of the same packets, by a clock of its own; False: there is no IPv4 in it."""
	_, rows = interfaces.records(path)
	rows = [r for r in rows if r[1][12:14] == b'\x08\0' and len(r[1]) >= 38 and r[1][14] == 0x45]
	if not rows:
		return False
	me = interfaces.own_address(rows)
	ahead, rate, delay = draw.randrange(-10**9, 10**9), draw.uniform(-2e-5, 2e-5), draw.choice([2000, 50_000])
	hops, nat, sides = draw.choice([0, 1, 1]), draw.random() < 0.3, draw.choice(['both', 'both', 'both', 'near', 'far'])
	link, longer, out = draw.choice([1, SLL2, SLL2]), draw.choice([1000, 30_000, 2_000_000]), []
	for ns, data, wire in rows:
		leaves = address(data, 26) == me
		wait, inside = delay + int(draw.expovariate(1 / delay)), draw.randrange(300, longer)
		near, far = (ns + wait, ns + wait + inside) if leaves else (ns - wait, ns - wait - inside)
		for at, is_near in ((near, True), (far, False)):
			if sides == ('far' if is_near else 'near') or draw.random() < 0.01:
				continue
			now = data if is_near else by(data, hops if leaves else -hops, nat, leaves)
			came = is_near == leaves
			shown = at + ahead + int((at - rows[0][0]) * rate)
			out.append((shown, now if link == 1 else cooked(now, 2 if is_near else 3, draw.choice([0, 0, 3]) if came else 4), wire))
	with open(to, 'wb') as f:
		f.write(struct.pack('<IHHiIII', NS, 2, 4, 0, 0, 65535, link))
		for ns, data, wire in sorted(out, key=lambda r: r[0]):
			f.write(struct.pack('<IIII', ns // 10**9, ns % 10**9, len(data), max(wire, len(data))) + data)
	return True
