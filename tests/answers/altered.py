# SPDX-License-Identifier: MIT
"""altered.py - captures of which some packets are others: cut, with other addresses, numbers, link types

What stands in a packet decides what it is; these have all that a network, a broken stack or an attacker may put there.
"""
import random
import struct

ADDRESSES = [bytes([127, 0, 0, 1]), bytes(4), bytes([224, 0, 0, 1]), bytes([255] * 4), bytes([10, 0, 0, 1]), bytes([169, 254, 1, 1])]
BEHIND = {0x0800: 101, 0x86dd: 101}  # Ethernet's types that may go without it, and the link type for that


def is_ipv4(data):
	return data[12:14] == b'\x08\0' and len(data) >= 34


def cut(draw, data):
	return data[:draw.randrange(len(data))]


def any_byte(draw, data):
	at = draw.randrange(min(len(data), 90))
	return data[:at] + bytes([draw.choice([0, 1, 2, 127, 128, 255, data[at] ^ 1 << draw.randrange(8)])]) + data[at + 1:]


def address(draw, data):
	"""Of IPv4 behind Ethernet, one of both."""
	at = draw.choice([26, 30])
	return data[:at] + draw.choice(ADDRESSES) + data[at + 4:] if is_ipv4(data) else data


def fragment(draw, data):
	return data[:20] + struct.pack('>H', draw.choice([0x2000, 0x2001, 7, 0x4000])) + data[22:] if is_ipv4(data) else data


def as_ipv6(draw, data):
	"""The same payload behind a header of IPv6, and headers that extend it."""
	if not is_ipv4(data):
		return data
	head = 14 + 4 * (data[14] & 15)
	proto, body, more = data[23], data[head:], b''
	for _ in range(draw.choice([0, 1, 1, 2])):
		kind = draw.choice([0, 43, 44, 51, 60, 135, 139, 140])
		size = draw.choice([0, 1]) if kind != 44 else 0
		middle = struct.pack('>HI', draw.choice([0, 0, 1, 8]), 7) if kind == 44 else bytes(6)
		long = (size + 2) * 4 if kind == 51 else (size + 1) * 8
		more = (bytes([proto, size]) + middle + bytes(64))[:long] + more
		proto = kind
	mapped = lambda a: (bytes(15) + b'\1') if draw.random() < 0.1 else bytes([0x20, 1, 0xd, 0xb8]) + bytes(8) + a
	ip = struct.pack('>IHBB', 6 << 28, len(more) + len(body), proto, data[22]) + mapped(data[26:30]) + mapped(data[30:34])
	return data[:12] + b'\x86\xdd' + ip + more + body


def tagged(draw, data):
	return data[:12] + b''.join(struct.pack('>HH', draw.choice([0x8100, 0x88a8, 0x9100]), 7) for _ in range(draw.choice([1, 2, 3]))) + data[12:]


def tunnelled(draw, data):
	"""Within IP, GRE or VXLAN."""
	if not is_ipv4(data):
		return data
	how = draw.choice([4, 47, 17])
	inner = {4: data[14:], 47: struct.pack('>HH', 0, 0x0800) + data[14:],
		17: struct.pack('>HHHHII', 5555, 4789, 16 + len(data), 0, 0x08000000, 7 << 8) + data}[how]
	ip = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(inner), 9, 0, 64, how, 0) + bytes([172, 16, 0, 1, 172, 16, 0, 2])
	return data[:14] + ip + inner


def told_of(draw, data):
	"""An error of ICMP's about it."""
	if not is_ipv4(data):
		return data
	inner = data[14:14 + draw.choice([20, 28, 48, 100])]
	ip = struct.pack('>BBHHHBBH', 0x45, 0, 28 + len(inner), 9, 0, 64, 1, 0) + data[30:34] + data[26:30]
	return data[:14] + ip + bytes([draw.choice([3, 11, 5, 12]), 1, 0, 0, 0, 0, 0, 0]) + inner


def other_protocol(draw, data):
	return data[:23] + bytes([draw.choice([132, 50, 89, 2, 136])]) + data[24:] if is_ipv4(data) else data


HOW = [told_of, other_protocol, cut, any_byte, any_byte, any_byte, address, fragment, as_ipv6, as_ipv6, tagged, tunnelled]


def linked(kind, data):
	"""The packet of an Ethernet frame behind another header; None: there is none for it."""
	proto, body = data[12:14], data[14:]
	family = {b'\x08\0': 2, b'\x86\xdd': 30}.get(proto)
	if kind == 1:
		return data
	if family is None:
		return None
	return {
		101: body, 12: body, 228 if family == 2 else 229: body,
		0: struct.pack('<I', family) + body,
		108: struct.pack('>I', family) + body,
		113: struct.pack('>HHH8s', 0, 1, 6, data[6:12] + b'\0\0') + proto + body,
		276: proto + struct.pack('>HIHBB8s', 0, 1, 1, 4, 6, data[6:12] + b'\0\0') + body,
		9: b'\xff\x03\0' + (b'\x21' if family == 2 else b'\x57') + body,
		50: b'\xff\x03\0' + (b'\x21' if family == 2 else b'\x57') + body,
		51: b'\x11\0' + struct.pack('>HH', 1, len(body) + 2) + b'\0' + (b'\x21' if family == 2 else b'\x57') + body,
		104: b'\x0f\0' + proto + body,
		239: struct.pack('<BBHHHI', family if family == 2 else 10, 0, 0, 8, 3, 5) + struct.pack('<HH', 4 + len(body), 9) + body,
		117: bytes([61, family]) + bytes(62) + body,
		105: b'\x08\x02' + bytes(22) + b'\xaa\xaa\x03\0\0\0' + proto + body,
		127: struct.pack('<BBHI', 0, 0, 8, 0) + b'\x08\x02' + bytes(22) + b'\xaa\xaa\x03\0\0\0' + proto + body,
	}.get(kind)


LINKS = [1, 1, 1, 101, 12, 0, 108, 113, 276, 9, 50, 51, 104, 239, 117, 105, 127]


def alter(seed, path, share, link):
	"""A capture (pcap, little-endian, Ethernet) with that share of packets altered, all captures' alike, behind another link type."""
	with open(path, 'rb') as f:
		data = f.read()
	if data[:4] not in (b'\x4d\x3c\xb2\xa1', b'\xd4\xc3\xb2\xa1') or data[20:24] != b'\1\0\0\0':
		return
	out, at = [data[:20] + struct.pack('<I', link)], 24
	while at + 16 <= len(data):
		s, part, kept, wire = struct.unpack_from('<IIII', data, at)
		packet, at = data[at + 16:at + 16 + kept], at + 16 + kept
		more, draw = wire - kept, random.Random(f'{seed} {packet[12:22].hex()} {packet[34:60].hex()}')
		if packet and draw.random() < share:
			packet = draw.choice(HOW)(draw, packet)
			more = draw.choice([more, 0, 9])
		packet = linked(link, packet)
		if packet and draw.random() < share / 4:  # of the link's header, too
			packet = draw.choice([cut, any_byte])(draw, packet)
		if packet is not None:
			out.append(struct.pack('<IIII', s, part, len(packet), len(packet) + more) + packet)
	with open(path, 'wb') as f:
		f.write(b''.join(out))
