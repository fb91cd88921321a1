#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readings.py UNSKEW [FIRST [COUNT]] - machines that only asked servers which nobody recorded, held against the truth

Captures of two or three machines, none of which talks to another: they ask NTP, PTP and HTTP servers, which answer late,
not at all, twice, or by stamps that are coarse. Whatever packets hold, bands by --readings hold the truth, of the
machines and of the servers' clocks. Clocks have constant rates; one may be stepped forward once, and then only what
lies outside the bracket that is told is judged. Shares nothing with the simulator. A case is made by its seed alone.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run
from part import part

SECOND = 10**9
START = 1_700_000_000 * SECOND
UNIX = 2_208_988_800  # from the beginning of NTP's time to that of Unix


class Clock:
	def __init__(self, draw, name, tick=1):
		self.name, self.tick = name, tick
		self.rate = draw.randint(-150_000, 150_000)  # ppb
		self.offset = draw.randint(-3 * SECOND, 3 * SECOND)
		self.at, self.by = None, 0

	def exact(self, t):
		return START + self.offset + t + t * self.rate // 10**9 + (self.by if self.at is not None and t >= self.at else 0)

	def read(self, t):
		return self.exact(t) // self.tick * self.tick


class Case:
	def __init__(self, seed):
		draw = self.draw = random.Random(seed)
		self.span = draw.choice([30, 300]) * SECOND
		self.clients = [Clock(draw, n, draw.choice([1, 1000])) for n in 'abc'[:draw.choice([2, 2, 3])]]
		self.least = draw.choice([20_000, 2_000_000])
		self.mean = draw.choice([1000, 100_000, 5_000_000])
		self.servers = []
		for i in range(draw.choice([1, 1, 2])):
			kind = draw.choice(['ntp', 'ntp', 'http', 'ptp'])
			precision = draw.choice([-25, -20, -10]) if kind == 'ntp' else 0
			name = f'{kind}:192.0.2.{i + 1}' if kind != 'ptp' else f'ptp:02000000000000{i + 1:02x}'
			s = Clock(draw, name, {'ntp': max(draw.choice([1, 1000]), SECOND >> -precision), 'http': SECOND, 'ptp': 1}[kind])
			s.precision, s.kind, s.number = precision, kind, i + 1
			self.servers.append(s)
		if draw.random() < 0.3:
			c = draw.choice(self.clients + self.servers)
			c.at, c.by = draw.randint(self.span // 4, self.span * 3 // 4), draw.choice([10**6, 10**8, 5 * SECOND])
		self.packets = {c.name: [] for c in self.clients}
		self.stamps = {c.name: [] for c in self.clients + self.servers}
		for c in self.clients:
			for s in self.servers:
				for n in range(draw.choice([5, 60])):
					self.ask(c, s, draw.randint(0, self.span), n)

	def wait(self):
		return self.least + int(self.draw.expovariate(1 / self.mean))

	def see(self, c, t, packet):
		self.packets[c.name].append((t, packet))
		self.stamps[c.name].append(t)

	def ask(self, c, s, sent, number):
		draw = self.draw
		arrived = sent + self.wait()
		received = arrived + draw.randint(0, 100_000)
		answered = received + draw.choice([1000, 10**6, 10**8])
		left = answered + draw.randint(0, 100_000)
		back = left + self.wait()
		if s.kind == 'ptp':
			self.ptp(c, s, sent, arrived, left, back, number)
			return
		question, answer = (self.ntp if s.kind == 'ntp' else self.http)(c, s, received, answered, number)
		self.see(c, sent, question)
		self.stamps[s.name] += [received, answered]
		for _ in range(draw.choice([0, 1, 1, 1, 1, 1, 1, 2])):
			self.see(c, back, answer)
			back += 1000

	def ntp(self, c, s, received, answered, number):
		asked = self.draw.getrandbits(64)
		question = struct.pack('>BBBbIII4Q', 0x23, 0, 6, -20, 0, 0, 0, 0, 0, 0, asked)
		answer = struct.pack('>BBBbIII4Q', 0x24, self.draw.choice([1, 2, 3]), 6, s.precision, 0, 0, 0,
			self.stamp(s.read(answered - SECOND)), asked, self.stamp(s.read(received)), self.stamp(s.read(answered)))
		port = 40000 + number
		return self.udp(c, s, port, 123, question, False), self.udp(c, s, 123, port, answer, True)

	@staticmethod
	def stamp(ns):
		return ((ns // SECOND + UNIX) << 32 | (ns % SECOND << 32) // SECOND) % 2**64

	def ptp(self, c, s, sent, arrived, left, back, number):
		"""A request and its response, a sync and what follows it, stamped where they pass the server's card."""
		own, its = bytes([2, 0, 0, 0, 0, 0, 1, ord(c.name)]), bytes([2, 0, 0, 0, 0, 0, 0, s.number])
		def message(kind, clock, flags, body):
			head = struct.pack('>BBHBBHQI', kind, 2, 34 + len(body), 0, 0, flags, 0, 0) + clock + struct.pack('>HHBB', 1, number, 0, 0)
			return head + body
		def stamp(t):
			ns = s.read(t)
			return struct.pack('>HII', ns // SECOND >> 32, ns // SECOND & 0xffffffff, ns % SECOND)
		self.stamps[s.name] += [arrived, left]
		self.see(c, sent, self.udp(c, s, 319, 319, message(1, own, 0, bytes(10)), False))
		self.see(c, arrived + self.wait(), self.udp(c, s, 320, 320, message(9, its, 0, stamp(arrived) + own + b'\0\1'), True))
		self.see(c, back, self.udp(c, s, 319, 319, message(0, its, 0x200, bytes(10)), True))
		self.see(c, back + self.wait(), self.udp(c, s, 320, 320, message(8, its, 0, stamp(left)), True))

	def http(self, c, s, received, answered, number):
		date = time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime(s.read(self.draw.randint(received, answered)) // SECOND))
		question = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
		answer = f'HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n'.encode()
		port, seq, ack = 40000 + number, self.draw.getrandbits(31), self.draw.getrandbits(31)
		return (self.tcp(c, s, port, 80, seq, ack, question, False),
			self.tcp(c, s, 80, port, ack, seq + len(question), answer, True))

	def ip(self, c, s, protocol, body, back):
		own, other = bytes([192, 0, 2, 100 + ord(c.name)]), bytes([192, 0, 2, s.number])
		head = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(body), self.draw.getrandbits(16), 0, 64, protocol, 0)
		return bytes(12) + b'\x08\x00' + head + (other + own if back else own + other) + body

	def udp(self, c, s, source, target, data, back):
		return self.ip(c, s, 17, struct.pack('>HHHH', source, target, 8 + len(data), 0) + data, back)

	def tcp(self, c, s, source, target, seq, ack, data, back):
		return self.ip(c, s, 6, struct.pack('>HHIIBBHHH', source, target, seq, ack, 0x50, 0x18, 1000, 0, 0) + data, back)

	def write(self):
		for c in self.clients:
			with open(c.name + '.pcap', 'wb') as f:
				f.write(struct.pack('<IHHiIII', 0xa1b23c4d if c.tick == 1 else 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
				for t, packet in sorted(self.packets[c.name]):
					ns = c.read(t)
					f.write(struct.pack('<IIII', ns // SECOND, ns % SECOND // c.tick, len(packet), len(packet)) + packet)


def told(case, entry, t):
	"""Is a step told in an entry, and true time t outside of all that it says of it?"""
	clock = next(c for c in case.clients + case.servers if c.name == entry['name'])
	at = next(c.at for c in case.clients + case.servers if c.at is not None)
	brackets = [(int(j['after_local_ns']), int(j['before_local_ns'])) for j in entry['jumps']]
	holds = any(a <= clock.exact(at) and clock.exact(at - 1) <= b for a, b in brackets)
	return holds and not any(a <= clock.read(t) <= b for a, b in brackets)


def judge(unskew, seed):
	"""How many stamps were held against the truth; raises what is wrong."""
	case = Case(seed)
	case.write()
	reference = case.draw.choice(case.clients)
	r = run(unskew, 'sync', *(c.name + '.pcap' for c in case.clients), '--readings', 'ntp,ptp,http', '--reference', reference.name,
		'-o', 'clocks.json', '--force')
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: status {r.returncode}: {r.stderr[:300]}')
	with open('clocks.json') as f:
		answer = {e['name']: e for e in json.load(f)['clocks']}
	asked = []
	stepped = [c for c in case.clients + case.servers if c.at is not None]
	if stepped and stepped[0] is not reference and not answer.get(stepped[0].name, {}).get('jumps'):
		return 0  # nothing shows it, and all bounds assume that there was none
	for c in case.clients + case.servers:
		e = answer.get(c.name)
		if c is reference or not e or e['quality'] != 'bounded' or e['reference'] != reference.name:
			continue
		for t in case.draw.sample(case.stamps[c.name], min(20, len(case.stamps[c.name]))):
			if not stepped or (c is not stepped[0] and reference is not stepped[0]) or told(case, e, t):
				asked.append((c, t, c.read(t)))
	if not asked:
		return 0
	r = run(unskew, 'convert', 'clocks.json', '--', *(f'{c.name}:{x}' for c, _, x in asked))
	lines = r.stdout.splitlines()
	if len(lines) != len(asked):
		raise AssertionError(f'convert refuses what sync wrote: {r.stderr[:300]}')
	for (c, t, x), line in zip(asked, lines):
		_, middle, lo, hi = (None if f == '-' else int(f) for f in line.split('\t'))
		true = reference.exact(t)  # at most a tick after it showed exactly that
		late = c.tick + c.tick // 1000 if c.tick > 1 else 0
		if (lo is not None and true < lo - 2) or (hi is not None and true > hi + 2 + late):
			raise AssertionError(f'false band: {c.name} {line} truth {true}')
		if (lo is not None and lo > middle) or (hi is not None and hi < middle):
			raise AssertionError(f'estimate outside its band: {line}')
	return len(asked)


def main():
	unskew = os.path.abspath(sys.argv[1])
	first, count = (int(x) for x in (sys.argv[2:] + ['0', '60'][len(sys.argv) - 2:])[:2])
	first, count = part(first, count)
	failed = held = 0
	with tempfile.TemporaryDirectory() as folder:
		os.chdir(folder)
		for seed in range(first, first + count):
			try:
				held += judge(unskew, seed)
			except (AssertionError, subprocess.TimeoutExpired) as e:
				failed += 1
				print(f'seed {seed}: {e}')
		os.chdir('/')
	print(f'{count} cases from seed {first} on, {failed} failed; {held} stamps held against the truth')
	return failed > 0 or not held


if __name__ == '__main__':
	sys.exit(main())
