# SPDX-License-Identifier: MIT
"""ctf.py - CTF traces of machines that send each other messages, in packets, by counters of their own"""
import os
import struct

METADATA = '''/* CTF 1.8 */
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
env { hostname = "%s"; };
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = c; freq = %d; offset_s = %d; offset = %d; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
stream {
	id = 0;
	packet.context := struct { u64 content_size; u64 packet_size; stamp timestamp_begin; stamp timestamp_end; u64 events_discarded; u16 cpu_id; };
	event.header := struct { u16 id; stamp timestamp; };
};
event { id = 0; name = "app:tx"; stream_id = 0; fields := struct { string to; u32 number; u32 bytes; }; };
event { id = 1; name = "app:rx"; stream_id = 0; fields := struct { string me; u32 number; }; };
event { id = 2; name = "app:idle"; stream_id = 0; fields := struct { u16 level; }; };
'''


def packets(draw, text):
	"""Metadata in packets, as tracers write it."""
	out, size = b'', draw.choice([300, 4000])
	for at in range(0, len(text), size):
		part, more = text[at:at + size], draw.choice([0, 0, 64])
		bits = (37 + len(part)) * 8
		out += struct.pack('<I16sIIIBBBBB', 0x75d11d57, bytes(16), 0, bits, bits + more * 8, 0, 0, 0, 1, 8) + part + bytes(more)
	return out


class Machine:
	metadata = METADATA

	def __init__(self, draw, name):
		self.name, self.hz = name, draw.choice([10**9, 10**9, 24_000_000, 2_400_000_000])
		self.seconds, self.part = 1_700_000_000 + draw.randrange(-5, 5), draw.randrange(self.hz)
		self.begun, self.drift = draw.randrange(10**12), draw.uniform(-4e-5, 4e-5)
		self.events = [[], []]

	def stamp(self, t):
		return self.begun + (t + int(t * self.drift)) * self.hz // 10**9

	def log(self, cpu, t, number, payload):
		self.events[cpu].append((self.stamp(t), struct.pack('<HQ', number, self.stamp(t)) + payload))

	def write(self, draw):
		os.mkdir(self.name)
		text = (self.metadata % (self.name, self.hz, self.seconds, self.part)).encode()
		with open(f'{self.name}/metadata', 'wb') as f:
			f.write(packets(draw, text) if draw.random() < 0.4 else text)
		for cpu, events in enumerate(self.events):
			events.sort()
			with open(f'{self.name}/stream_{cpu}', 'wb') as f:
				lost = 0
				while events:
					size = draw.choice([1, 30, 100])
					part, events = events[:size], events[size:]
					body = b''.join(e for _, e in part)
					bits, more = (8 + 42 + len(body)) * 8, draw.choice([0, 0, 40])
					lost += draw.choice([0, 0, 0, 7])
					f.write(struct.pack('<IIQQQQQH', 0xc1fc1fc1, 0, bits, bits + more * 8, part[0][0], part[-1][0], lost, cpu) + body + bytes(more))


def write(draw):
	"""(names of the folders, what has to be said of them)"""
	machines = [Machine(draw, name) for name in 'abc'[:draw.choice([2, 2, 3])]]
	least = draw.choice([3000, 200_000])
	for number in range(draw.choice([30, 200])):
		x, y = draw.sample(machines, 2)
		t = number * 10**7 + draw.randrange(10**7)
		to = f'{y.name}'.encode() + b'\0'
		x.log(draw.randrange(2), t, 0, to + struct.pack('<II', number, draw.choice([64, 1500])))
		y.log(draw.randrange(2), t + least + int(draw.expovariate(1 / least)), 1, to + struct.pack('<I', number))
		if draw.random() < 0.3:
			x.log(draw.randrange(2), t + 5000, 2, struct.pack('<H', number))
	for m in machines:
		m.write(draw)
	return [m.name for m in machines], ['--send', 'app:tx{to,number}', '--recv', 'app:rx{me,number}']


def as_session(draw, name):
	"""A trace's streams as traces of their own, where LTTng puts those of its domains; and what belongs to none."""
	os.rename(name, 'whole')
	places = draw.sample(['kernel', 'ust/uid/1000/64-bit', 'ust/pid/app-7-20261128', 'archives/0-1/ust/uid/1000/64-bit'], 2)
	places += draw.sample(['a/b/c/d/e/f/g', 'a/b/c/d/e/f/g/h', '.hidden/kernel'], draw.choice([0, 0, 1]))
	for number, place in enumerate(places):
		os.makedirs(f'{name}/{place}')
		with open('whole/metadata', 'rb') as f, open(f'{name}/{place}/metadata', 'wb') as copy:
			copy.write(f.read())
		if number < 2:
			os.rename(f'whole/stream_{number}', f'{name}/{place}/stream_{number}')
	if draw.random() < 0.15:
		with open(f'{name}/notes.txt', 'w', encoding='utf-8') as f:
			f.write('of a person\n')
	os.unlink('whole/metadata')
	os.rmdir('whole')
