#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readings.py UNSKEW [FIRST [COUNT]] - machines that only asked servers which nobody recorded, held against the truth

Captures of two or three machines, none of which talks to another: they ask NTP, PTP (over UDP and Ethernet, one and two step),
HTTP, Kerberos, SMB2 and RTCP, which answer late, not at all, twice, or by stamps that are coarse; some of the servers are
recorded, too. Whatever packets hold, bands by --readings hold the truth, of the machines and of the servers' clocks, and what
`before` says is so. Clocks have constant rates, or wander within what is assumed; one may be stepped once, forward or back,
and then only what lies outside the bracket that is told is judged. Shares nothing with the simulator. A case is made by its
seed alone.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import order, run
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
		self.swing = draw.choice([0, 0, 5000, 100_000])  # to and fro by so much, in ns
		self.slow = draw.choice([60, 120]) * SECOND if self.swing > 5000 else 20 * SECOND

	def exact(self, t):
		"""Its rate wanders by 2 ppm at most."""
		out = START + self.offset + t + t * self.rate // 10**9 + (self.by if self.at is not None and t >= self.at else 0)
		return out + int(self.swing * math.sin(t / self.slow)) if self.swing else out

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
			kind = draw.choice(['ntp', 'ntp', 'http', 'ptp', 'ptp', 'krb5', 'smb2', 'rtcp'])
			precision = draw.choice([-25, -20, -10]) if kind == 'ntp' else 0
			name = f'{kind}:192.0.2.{i + 1}'
			tick = {'ntp': max(draw.choice([1, 1000]), SECOND >> -precision), 'http': SECOND, 'ptp': 1, 'rtcp': draw.choice([1, 1000, 10**6, SECOND // 64]),
				'krb5': draw.choice([1000, SECOND // 64, SECOND]), 'smb2': draw.choice([100, SECOND // 64])}[kind]
			domain = draw.choice([0, 0, 5])
			if kind == 'ptp':
				name = f'ptp:02000000000000{i + 1:02x}' + f'/{domain}' * bool(domain)
			s = Clock(draw, name, tick)
			s.precision, s.kind, s.number, s.domain = precision, kind, i + 1, domain
			s.frames, s.one_step, s.residence = draw.random() < 0.5, draw.random() < 0.5, draw.choice([0, 0, 10**5])
			self.servers.append(s)
		if draw.random() < 0.4:
			c = draw.choice(self.clients + self.servers)
			back = -1 if c in self.servers and draw.random() < 0.4 else 1
			c.at, c.by = draw.randint(self.span // 4, self.span * 3 // 4), back * draw.choice([10**6, 10**8, 5 * SECOND])
		# A server that is recorded as well, by the clock that it tells.
		self.recorded = draw.choice(self.servers) if draw.random() < 0.3 else None
		self.packets = {c.name: [] for c in self.clients}
		if self.recorded:
			self.packets['server'] = []
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
		question, answer = getattr(self, s.kind)(c, s, received, answered, number, sent)
		self.see(c, sent, question)
		if self.recorded is s:
			self.packets['server'] += [(arrived, question), (left, answer)]
		self.stamps[s.name] += [received, answered]
		for _ in range(draw.choice([0, 1, 1, 1, 1, 1, 1, 2])):
			self.see(c, back, answer)
			back += 1000

	def ntp(self, c, s, received, answered, number, _):
		asked = self.draw.getrandbits(64)
		question = struct.pack('>BBBbIII4Q', 0x23, 0, 6, -20, 0, 0, 0, 0, 0, 0, asked)
		answer = struct.pack('>BBBbIII4Q', 0x24 | self.draw.choice([0, 0, 0x40, 0x80]), self.draw.choice([1, 2, 3]), 6, s.precision, 0, 0, 0,
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
			head = struct.pack('>BBHBBHQI', kind, 2, 34 + len(body), s.domain, 0, flags, s.residence << 16, 0) + clock
			return head + struct.pack('>HHBB', 1, number, 0, 0) + body
		def stamp(t):
			ns = s.read(t)
			return struct.pack('>HII', ns // SECOND >> 32, ns // SECOND & 0xffffffff, ns % SECOND)
		def see(t, port, data, from_server):
			if s.frames:
				tag = b'\x81\x00\x00\x07' * (number % 2)
				self.see(c, t, b'\x01\x1b\x19\0\0\0' + bytes(6) + tag + b'\x88\xf7' + data)
			else:
				self.see(c, t, self.udp(c, s, port, port, data, from_server))
		self.stamps[s.name] += [arrived, left]
		see(sent, 319, message(1, own, 0, bytes(10)), False)
		if number % 3 == 0:  # of peers: nobody asks for these
			see(sent + 1, 319, message(2, own, 0, bytes(20)), False)
			see(back, 319, message(3, its, 0x200, stamp(left) + own + b'\0\1'), True)
		see(arrived + self.wait(), 320, message(9, its, 0, stamp(arrived) + own + b'\0\1'), True)
		if s.one_step:
			see(back, 319, message(0, its, 0, stamp(left)), True)
			return
		if self.draw.random() < 0.9:
			see(back, 319, message(0, its, 0x200, self.draw.choice([bytes(10), stamp(left - SECOND // 2)])), True)
		if self.draw.random() < 0.9:
			see(back + self.wait(), 320, message(8, its, 0, stamp(left)), True)

	def krb5(self, c, s, received, answered, number, _):
		ns = s.read(self.draw.randint(received, answered))
		us = b'' if s.tick == SECOND else (ns % SECOND // 1000).to_bytes(4, 'big').lstrip(b'\0')
		us = (b'\0' if not us or us[0] & 0x80 else b'') + us
		time_ = time.strftime('%Y%m%d%H%M%SZ', time.gmtime(ns // SECOND)).encode()
		body = b'\xa0\3\2\1\5\xa1\3\2\1\x1e' + b'\xa4\x11\x18\x0f' + time_ + bytes([0xa5, 2 + len(us), 2, len(us)]) + us + b'\xa6\3\2\1\x19'
		error = bytes([0x7e, 2 + len(body), 0x30, len(body)]) + body
		asks = b'\x6a\x10' + self.draw.getrandbits(128).to_bytes(16, 'big')
		if number % 2:
			return self.udp(c, s, 40000 + number, 88, asks, False), self.udp(c, s, 88, 40000 + number, error, True)
		seq, ack = self.draw.getrandbits(31), self.draw.getrandbits(31)
		ask = struct.pack('>I', 18) + asks
		return (self.tcp(c, s, 40000 + number, 88, seq, ack, ask, False),
			self.tcp(c, s, 88, 40000 + number, ack, seq + len(ask), struct.pack('>I', len(error)) + error, True))

	def smb2(self, c, s, received, answered, number, _):
		ns = s.read(self.draw.randint(received, answered))
		def message(flags, body):
			head = b'\xfeSMB' + struct.pack('<HHIHHIIQ', 64, 0, 0, 0, 1, flags, 0, 0) + bytes(32)
			return struct.pack('>I', len(head) + len(body)) + head + body
		ask = message(0, struct.pack('<HH', 36, 1) + bytes(32))
		answer = message(1, struct.pack('<HH', 65, 0) + bytes(36) + struct.pack('<QQ', ns // 100 + 116444736000000000, 0) + bytes(8))
		seq, ack, port = self.draw.getrandbits(31), self.draw.getrandbits(31), 40000 + number
		return self.tcp(c, s, port, 445, seq, ack, ask, False), self.tcp(c, s, 445, port, ack, seq + len(ask), answer, True)

	def rtcp(self, c, s, received, answered, number, sent):
		"""A report of each, the second of which names the first."""
		def report(source, of, ns, last, since):
			ntp = self.stamp(ns)
			sr = struct.pack('>BBHIQIII', 0x81, 200, 12, source, ntp, 0, 0, 0) + struct.pack('>IIIIII', of, 0, 0, 0, last, since)
			return ntp, sr + struct.pack('>BBHIBBxx', 0x81, 202, 2, source, 1, 0)
		ntp, ask = report(1000 + ord(c.name), 7, c.exact(sent) - 1, 0, 0)
		ns = s.read(answered)
		_, answer = report(7, 1000 + ord(c.name), ns, ntp >> 16 & 0xffffffff, (s.read(answered) - s.read(received)) * 65536 // SECOND)
		return self.udp(c, s, 5005, 5005, ask, False), self.udp(c, s, 5005, 5005, answer, True)

	def http(self, c, s, received, answered, number, _):
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
		"""What is recorded on a server has the finest stamps, whatever it tells."""
		for name, seen in self.packets.items():
			c = next((c for c in self.clients if c.name == name), self.recorded)
			tick = 1000 if c.tick == 1000 and c in self.clients else 1
			with open(name + '.pcap', 'wb') as f:
				f.write(struct.pack('<IHHiIII', 0xa1b23c4d if tick == 1 else 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
				for t, packet in sorted(seen):
					ns = c.exact(t) // tick * tick
					f.write(struct.pack('<IIII', ns // SECOND, ns % SECOND // tick, len(packet), len(packet)) + packet)


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
	r = run(unskew, 'sync', *(name + '.pcap' for name in case.packets), '--readings', 'all', '--reference', reference.name,
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
	# What a server stamps elsewhere, in its log, need not be as coarse as what it tells.
	pairs = sorted(((c.name, x if c in case.clients else c.exact(t), t) for c, t, x in asked), key=lambda e: e[2])
	order(unskew, 'clocks.json', list(zip(pairs, pairs[1:])) + [tuple(case.draw.sample(pairs, 2)) for _ in range(50) if len(pairs) > 1])
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
