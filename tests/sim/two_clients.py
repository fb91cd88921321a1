#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""two_clients.py UNSKEW [--count N] [--seed S] [--jobs J]: datagrams of the same contents, one packet each, or two?

Clients of one server count alike: their datagrams differ by addresses alone, as one does before and after NAT. Of a
case either two clients are captured, which share no packet, or a client, and what a gateway sends on, or the server
gets, of the same. Of the first nothing may be said that is wrong; of the second everything has to be found.
A case is made by its seed alone; --keep FOLDER keeps the captures of those that fail.
"""
import json
import random
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import asked

START = 1_700_000_000 * 10**9
CLIENT, OTHER, SERVER = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)), bytes((10, 9, 9, 9))
UDP, ICMP = 17, 1


def datagram(kind, src, dst, ttl, number, ask, payload):
	"""A frame: the client's port is 4000, the server's 5000; of a ping, the identifier differs as NAT changes it."""
	if kind == UDP:
		inner = struct.pack('>HHHH', *((4000, 5000) if ask else (5000, 4000)), 8 + len(payload) + 4, 0)
	else:
		inner = struct.pack('>BBHH', 8 if ask else 0, 0, 0, src[3] if ask else dst[3])
	inner += (struct.pack('>HH', number >> 16, number & 0xffff) if kind == UDP else struct.pack('>H', number & 0xffff)) + payload
	head = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(inner), 0, 0x4000, ttl, kind, 0, src, dst)
	return b'\2\0\0\0\0\1\2\0\0\0\0\2\x08\0' + head + inner


def write(path, frames):
	with open(path, 'wb') as f:
		f.write(struct.pack('<IHHIIII', 0xa1b23c4d, 2, 4, 0, 0, 96, 1))
		for ns, data in sorted(frames, key=lambda x: x[0]):
			f.write(struct.pack('<IIII', ns // 10**9, ns % 10**9, len(data), len(data)) + data)


class Case:
	def __init__(self, seed):
		draw = random.Random(seed)
		self.same = draw.random() < 0.4  # packets of one client, before and after NAT
		self.ahead = draw.randrange(-10**9, 10**9)  # of the second capture's clock
		self.frames = [], []
		kind, period, payload = draw.choice([UDP, UDP, ICMP]), draw.choice([10**7, 10**8, 10**9]), draw.choice([b'abcdefgh' * 4, b'' if not self.same else b'!?'])
		began = draw.choice([64, 128, 255]), draw.choice([64, 64, 128])
		hops, trip, apart = (draw.randrange(1, 20), draw.randrange(1, 20)), draw.choice([10**5, 10**7]), draw.choice([0, 10**5, 10**7])
		loss = draw.choice([0, 0, 0.05])
		between = draw.randrange(1, 6)  # hops to the gateway's far side, or to the server
		for number in range(draw.choice([20, 200])):
			ns, ask, answer = START + number * period, number, payload[::-1]  # of nothing, an echo
			if self.same:
				there = ns + trip // 10 + draw.randrange(trip)
				back = there + draw.randrange(1, 10 * trip)
				home = back + trip // 10 + draw.randrange(trip)
				seen = [[(ns, CLIENT, SERVER, began[0], True), (home, SERVER, CLIENT, began[1] - hops[0] % 8 - between, False)],
					[(there + self.ahead, OTHER, SERVER, began[0] - between, True),
					(back + self.ahead, SERVER, OTHER, began[1] - hops[0] % 8, False)]]
			else:
				seen = []
				for me, (who, ttl) in enumerate(((CLIENT, began[0]), (OTHER, began[0]))):
					at = ns + me * (self.ahead + draw.randrange(apart + 1))
					answered = at + (1 + me) * trip // 10 + draw.randrange(trip)
					seen.append([(at, who, SERVER, ttl, True), (answered, SERVER, who, 64 - hops[me], False)])
			for me in range(2):
				self.frames[me].extend((at, datagram(kind, src, dst, ttl, ask, asks, payload if asks else answer))
					for at, src, dst, ttl, asks in seen[me] if draw.random() >= loss)

	def judge(self, unskew):
		for name, frames in zip(('a.pcap', 'b.pcap'), self.frames):
			write(name, frames)
		r = asked.run(unskew, 'sync', '-q', 'a.pcap', 'b.pcap', '-o', 'c.json')
		with open('c.json', encoding='utf-8') as f:
			found = json.load(f)
		clock = found['clocks'][1]
		matched = found['messages']['matched']
		if not self.same and matched:
			raise AssertionError(f'{matched} packets of two clients are taken for messages')
		if self.same and (clock['quality'] != 'bounded' or r.returncode):
			raise AssertionError(f'behind NAT: {clock["quality"]}, {matched} messages')
		for knot in clock.get('knots', []):
			if not int(knot['lo_ns']) <= -self.ahead <= int(knot['hi_ns']):
				raise AssertionError(f'a false band: {knot}, the truth is {-self.ahead}')
		return matched


def judge(unskew, seed):
	return None, Case(seed).judge(unskew)


if __name__ == '__main__':
	sys.exit(asked.trials(judge, 100, 'messages'))
