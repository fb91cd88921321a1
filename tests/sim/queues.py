#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""queues.py UNSKEW [--count N] [--seed S] [--jobs J]: captures whose records are in the order of several queues, against truth.

In    nothing: networks whose clocks are never set; which records of a capture are late, and how they come
Out   cases in which a band excludes the truth
Why   late records look like a clock that was set back, and where fewer come than were under way meanwhile nothing tells one from the
      other: then the band has to hold both
Not   clocks that are set (reordered.py)

Queues are directions, flows, or a share of all packets. Batches of a queue come late once, at the beginning, at the end, or over and
over. A case is made by its seed alone; --keep FOLDER writes those that fail.
"""
import os
import random
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run, trials

SECOND = 10**9


def read(path):
	"""The head of a capture, and its records: (stamp, bytes of it)."""
	with open(path, 'rb') as f:
		data = f.read()
	out, at = [], 24
	while at < len(data):
		s, ns, n, _ = struct.unpack_from('<IIII', data, at)
		out.append((s * SECOND + ns, data[at:at + 16 + n]))
		at += 16 + n
	return data[:24], out


def ends(record):
	"""Addresses and ports of an Ethernet frame with IPv4."""
	ip = record[16 + 14:]
	ports = ip[20:24]
	return ip[12:16], ip[16:20], ports[:2], ports[2:]


def own(records):
	"""The address that every packet has, of a host that forwards nothing."""
	both = [set(ends(r)[:2]) for _, r in records]
	return set.intersection(*both)


def queue_of(draw, records):
	"""Of each record: whether it is of the queue that is late."""
	kind = draw.choice(['sent', 'received', 'flow', 'peer', 'share'])
	mine, chosen = own(records), {}
	share = draw.choice([0.1, 0.5, 0.9])

	def late(r):
		src, dst, p, q = ends(r)
		if kind in ('sent', 'received'):
			return (src in mine) == (kind == 'sent')
		key = {'flow': frozenset(((src, p), (dst, q))), 'peer': frozenset((src, dst)), 'share': r}[kind]
		return chosen.setdefault(key, draw.random() < (share if kind == 'share' else 0.5))

	return kind, [late(r) for _, r in records]


def recorded(records):
	"""When each was recorded: as long after the one before as its stamp is, but where the clock was set."""
	out = [records[0][0]]
	for (a, _), (b, _) in zip(records, records[1:]):
		out.append(out[-1] + (b - a if 0 <= b - a < SECOND else SECOND // 1000))
	return out


def reorder(draw, records):
	"""Batches of one queue come after what the other one has of the same time."""
	kind, late = queue_of(draw, records)
	when = recorded(records)
	first, last = when[0], when[-1]
	length = int(10 ** draw.uniform(6.3, 9.7))
	how = draw.choice(['begin', 'end', 'end', 'once', 'few', 'always'])
	spans = [(first, first + length)] if how == 'begin' else [(last - length, last + 1)] if how == 'end' else \
		[(t, t + length) for t in (draw.randrange(first, last) for _ in range(draw.randrange(2, 7) if how == 'few' else 1))]

	def place(i):
		t = when[i]
		if how == 'always':
			return t // length, late[i], t
		for a, b in spans:
			if a <= t < b:
				return a, late[i], t
		return t, False, t

	# A batch is where it begins, and nothing of its time is elsewhere.
	order = sorted(range(len(records)), key=place)
	return f'{kind} {how} {length / 1e6:.3f} ms', [records[i] for i in order]


def network(unskew, draw, seed, more=lambda n: []):
	"""Its captures, and how long messages are under way at least."""
	n = draw.choice([2, 2, 3, 4])
	delay, rate = draw.choice([100e-6, 1e-3, 5e-3, 20e-3, 50e-3]), draw.choice([3, 20, 100])
	words = ['--hosts', str(n), '--seconds', str(draw.choice([10, 30])), '--rate', str(rate), '--seed', str(seed),
		'--dmin', f'{delay * 1e6:.0f}us', '--tail', f'{delay * draw.choice([10, 100, 1000]) * 1e3:.0f}us',
		'--proto', draw.choice(['tcp', 'udp', 'mix']), '--connections', str(draw.choice([1, 4])),
		'--offset', ','.join(f'{draw.randrange(-10**6, 10**6)}us' for _ in range(n)),
		'--drift-ppm', ','.join(str(draw.randrange(-50, 50)) for _ in range(n))]
	words += draw.choice([[], ['--asym', f'{delay * draw.uniform(0, 5) * 1e6:.0f}us']])
	words += draw.choice([[], ['--loss', '1%']]) + more(n)
	r = run(unskew, 'simulate', '-q', '-o', 'in', *words)
	if r.returncode:
		raise AssertionError(f'simulate: {r.stderr[:200]}')
	return [f'in/host{i}.pcap' for i in range(n)], delay


def write(path, head, records):
	with open(path, 'wb') as f:
		f.write(head + b''.join(r for _, r in records))


def judged(unskew, traces, said):
	"""What the answer's bands are said to be, against truth: of all clocks, and of those that miss it."""
	r = run(unskew, 'sync', *traces, '--truth', 'in/truth.json', '-o', 'clocks.json')
	if r.returncode not in (0, 3):
		raise AssertionError(f'{said}: refused: {r.stderr.strip()[:200]}')
	truth = [line for line in r.stdout.splitlines() if line.startswith('Truth:')]
	return truth, [line for line in truth if 'MISSES' in line]


def judge(unskew, seed):
	draw, said = random.Random(f'queues {seed}'), []
	traces, delay = network(unskew, draw, seed)
	n = len(traces)
	for path in draw.sample(traces, draw.choice([1, 1, n])):
		head, records = read(path)
		what, records = reorder(draw, records)
		said.append(f'{path}: {what}')
		write(path, head, records)
	truth, missed = judged(unskew, traces, '; '.join(said))
	if missed:
		raise AssertionError(f'delay {delay * 1e3} ms, {"; ".join(said)}: {" ".join(missed)}')
	return None, sum('holds the truth' in line for line in truth)


if __name__ == '__main__':
	sys.exit(trials(judge, 60, 'bands hold the truth'))
