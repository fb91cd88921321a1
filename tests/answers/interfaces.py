# SPDX-License-Identifier: MIT
"""interfaces.py - pcapng of several interfaces, written as others do: either order of bytes, units of time, blocks and options of all kinds"""
import collections
import struct

SECOND = 10**9


class Writer:
	"""One section."""

	def __init__(self, draw):
		self.draw, self.order, self.out, self.n = draw, draw.choice('<<>'), [], 0
		self.units = []
		self.block(0x0a0d0d0a, self.pack('IHHq', 0x1a2b3c4d, 1, 0, -1) + self.options([(3, b'Linux'), (4, b'something else')]))

	def pack(self, form, *values):
		return struct.pack(self.order + form, *values)

	def block(self, kind, body):
		body += bytes(-len(body) % 4)
		self.out.append(self.pack('II', kind, 12 + len(body)) + body + self.pack('I', 12 + len(body)))

	def options(self, found, share=0.6):
		"""Some of these, or none."""
		some = [o for o in found if self.draw.random() < share]
		one = b''.join(self.pack('HH', code, len(value)) + value + bytes(-len(value) % 4) for code, value in some)
		return one + (self.pack('HH', 0, 0) if some and self.draw.random() < 0.8 else b'')

	def interface(self, name, link=1, own=b''):
		"""Its unit: 10^-n s, or 2^-n s. own: its address, if it is to be said."""
		code, hz = self.draw.choice([(None, 10**6), (6, 10**6), (9, SECOND), (9, SECOND), (3, 1000), (0x80 | 30, 2**30), (0x80 | 20, 2**20)])
		late = self.draw.choice([0, 0, 0, 3600])
		said = [(2, name.encode())] + ([(9, bytes([code]))] if code is not None else []) + ([(14, self.pack('q', -late))] if late else [])
		said += [(4, own + bytes([255, 255, 255, 0])), (5, bytes([0xfe, 0x80]) + bytes(13) + b'\1\x40')] if own else []
		fixed = b''.join(self.pack('HH', c, len(v)) + v + bytes(-len(v) % 4) for c, v in said)
		more = self.options([(3, b'uplink'), (1, b'a comment'), (13, bytes(4)), (11, b'\0tcp'), (0x8001, b'own')], 0.3)
		self.block(1, self.pack('HHI', link, 0, 0) + fixed + more)
		self.units.append((hz, late))
		return len(self.units) - 1

	def ticks(self, interface, ns):
		hz, late = self.units[interface]
		at = (ns + late * SECOND) * hz // SECOND
		return self.pack('II', at >> 32, at & 0xffffffff)

	def packet(self, interface, ns, data, wire):
		draw = self.draw
		kind = draw.choice([6, 6, 6, 6, 6, 2])
		head = self.pack('I', interface) if kind == 6 else self.pack('HH', interface, 0xffff)
		flags = self.options([(2, self.pack('I', 0)), (1, b'seen'), (4, self.pack('Q', 0))], 0.5)
		self.block(kind, head + self.ticks(interface, ns) + self.pack('II', len(data), wire) + data + bytes(-len(data) % 4) + flags)
		self.n += 1
		if draw.random() < 0.05:
			self.other(interface, ns)

	def other(self, interface, ns):
		how = self.draw.choice(['statistics', 'names', 'custom', 'secrets', 'unknown'])
		if how == 'statistics':
			at = self.ticks(interface, ns)
			said = self.options([(2, self.ticks(interface, ns - SECOND)), (3, at), (4, self.pack('Q', self.n)), (1, b'so far')])
			self.block(5, self.pack('I', interface) + self.draw.choice([at, at, bytes(8)]) + said)
		elif how == 'names':
			self.block(4, self.pack('HH', 1, 6) + b'\x0a\0\0\1a\0' + bytes(2) + self.pack('HH', 0, 0))
		else:
			self.block({'custom': 0xbad, 'secrets': 10, 'unknown': 0x40}[how], self.pack('I', 32473) + b'whatever')


def records(path):
	"""[(stamp, packet, its length on the wire)] of a pcap of ns, or of us."""
	with open(path, 'rb') as f:
		data = f.read()
	unit = 1 if data[:4] == b'\x4d\x3c\xb2\xa1' else 1000
	out, at = [], 24
	while at + 16 <= len(data):
		s, part, kept, wire = struct.unpack_from('<IIII', data, at)
		out.append((s * SECOND + part * unit, data[at + 16:at + 16 + kept], wire))
		at += 16 + kept
	return struct.unpack_from('<I', data, 20)[0], out


def own_address(found):
	"""Of IPv4 behind Ethernet: what most packets have."""
	seen = collections.Counter(data[at:at + 4] for _, data, _ in found if data[12:14] == b'\x08\0' for at in (26, 30))
	return seen.most_common(1)[0][0] if seen else b''


def on_one_link(data):
	"""No router took a hop from it."""
	return data[:22] + b'\x40' + data[23:24] + bytes(2) + data[26:] if data[12:14] == b'\x08\0' else data


def write(draw, path, parts, addressed=False, linked=None):
	"""Captures, [(name of the interface, path of a pcap)], as one of as many interfaces, in the order of their stamps or one after the other.
	linked: the only one's address, on a link of all."""
	w, rows = Writer(draw), []
	for name, part in parts:
		link, found = records(part)
		found = [(ns, on_one_link(data), wire) for ns, data, wire in found] if linked else found
		own = linked or own_address(found)
		number = w.interface(name, link, own if addressed and link == 1 else b'')
		rows += [(ns, number, data, wire) for ns, data, wire in found]
	if draw.random() < 0.7:
		rows.sort(key=lambda r: r[:2])
	for ns, number, data, wire in rows:
		w.packet(number, ns, data, wire)
	with open(path, 'wb') as f:
		f.write(b''.join(w.out))
