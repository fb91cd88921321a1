#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""epochs.py UNSKEW [FIRST [COUNT]] - rows of clocks that were stepped backward are put where they were made

Random tables between a true clock and others that are stepped, each of them with at least NEED messages
sent and NEED received before, between and after its steps, and of which the answer tells. The truth, and
the stamp that apply writes, lie in the band of the epoch in which the stamp was made. Shares nothing with
the simulator. A case is made by its seed alone.
"""
import bisect
import collections
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

START = 1700000000 * 10**9
NEED = 5
NEVER = 2**63
SKEW = 500  # ppm that rates may differ by beside a knot

Row = collections.namedtuple('Row', 'a b sent received')


class Clock:
	def __init__(self, draw, length, sizes, steady):
		most = 10 ** draw.choice([6, 9, 10])
		self.offset = 0 if steady else draw.randrange(-most, most)
		self.skew = 0 if steady else draw.uniform(-3e-5, 3e-5)
		steps = [] if steady else [(draw.randrange(length), draw.choice([1, 1, 1, -1]) * draw.choice(sizes))
			for _ in range(draw.choice([0, 1, 1, 2]))]
		self.steps = sorted(steps)

	def shows(self, t):
		"""size: by so much it is stepped backward."""
		back = sum(size for when, size in self.steps if t >= when)
		return START + t + int(t * self.skew) + self.offset - back

	def told(self, set_backs):
		"""When it was stepped backward, of those steps that the answer tells of."""
		out, left = [], iter(self.steps)
		for fell in set_backs:
			out += [next((when for when, size in left if size > 0 and
				int(fell['from_ns']) <= self.shows(when - 1) and self.shows(when) <= int(fell['to_ns'])),
				NEVER)]
		return out

	def stretch(self, t):
		return bisect.bisect([when for when, _ in self.steps], t)


def case(seed):
	draw = random.Random(seed)
	n, messages = draw.choice([2, 2, 3, 4]), draw.choice([100, 300, 600])
	gap = 10 ** draw.choice([5, 6, 7])
	length = messages * gap
	sizes = [7 * 10**6, 10**9, 3 * 10**8, 5 * 10**9, length // 3 + 1, 2 * length]
	clocks = [Clock(draw, length, sizes, not i) for i in range(n)]
	rows = []
	for i in range(messages):
		a, b = draw.sample(range(n), 2)
		sent = i * gap + draw.randrange(gap)
		slow = draw.choice([0.1, 0.1, 3])
		rows.append(Row(a, b, sent, sent + 20000 + int(draw.expovariate(1 / (gap * slow)))))
	by = draw.choice(["sent", "received", "received"])
	rows.sort(key=lambda row: getattr(row, by))
	return clocks, rows


def is_clear(clocks, rows):
	for number, clock in enumerate(clocks):
		count = collections.Counter()
		for row in rows:
			if row.a == number:
				count['sent', clock.stretch(row.sent)] += 1
			if row.b == number:
				count['received', clock.stretch(row.received)] += 1
		stretches = range(len(clock.steps) + 1) if clock.steps else []
		if any(count[end, i] < NEED for end in ('sent', 'received') for i in stretches):
			return False
	return any(size > 0 for clock in clocks for _, size in clock.steps)


def longest(clocks, rows):
	"""The longest delay of a message that was not under way when one of its clocks was stepped."""
	return max((row.received - row.sent for row in rows if not crosses(clocks, row)), default=0)


def crosses(clocks, row):
	return any(clocks[i].stretch(row.sent) != clocks[i].stretch(row.received) for i in (row.a, row.b))


def band(knots, stamp):
	"""What bounds the offset of a stamp, from the knots beside it; None: nothing, on that side."""
	at = bisect.bisect([int(knot['local_ns']) for knot in knots], stamp)
	beside = knots[max(at - 1, 0):at + 1]
	spare = 2 + sum(abs(stamp - int(knot['local_ns'])) for knot in beside) * SKEW // 10**6
	lo, hi = ([knot[side] for knot in beside] for side in ('lo_ns', 'hi_ns'))
	return (None if not lo or None in lo else min(map(int, lo)) - spare,
		None if not hi or None in hi else max(map(int, hi)) + spare)


def outside(limits, offset):
	lo, hi = limits
	return (lo is not None and offset < lo) or (hi is not None and offset > hi)


def judge(unskew, clocks, rows):
	"""How many stamps were looked at, and what is wrong; '' if nothing is."""
	with open('table.csv', 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		for row in rows:
			f.write(f'c{row.a},c{row.b},{clocks[row.a].shows(row.sent)},{clocks[row.b].shows(row.received)}\n')
	sync = subprocess.run([unskew, 'sync', 'table.csv', '-f', '-r', 'c0', '-o', 'clocks.json'],
		capture_output=True, text=True)
	if sync.returncode not in (0, 3):
		return 0, f'sync: status {sync.returncode}: {sync.stderr}'
	apply = subprocess.run([unskew, 'apply', 'clocks.json', 'table.csv', '-f', '-o', 'now.csv'],
		capture_output=True, text=True)
	if apply.returncode:
		return 0, '' if 'no chain of messages' in apply.stderr or \
			'so its stamps cannot' in apply.stderr else f'apply: status {apply.returncode}: {apply.stderr}'
	knots, ends, brackets = collections.defaultdict(list), {}, {}
	with open('clocks.json') as f:
		for clock in json.load(f)['clocks']:
			number = int(clock['name'][1:])
			ends[number] = clocks[number].told(clock.get('set_back', []))
			brackets[number] = [((j['epoch'], int(j['after_local_ns'])), (j['end_epoch'], int(j['before_local_ns'])))
				for j in clock['jumps']]
			for knot in clock['knots']:
				knots[number, knot.get('epoch', 0)].append(knot)
	# Too few rows behind a step for their order to tell of it (doc/guarantees.md).
	if any(sum(at < NEVER for at in ends.get(i, [])) < sum(size > 0 for _, size in clock.steps)
		for i, clock in enumerate(clocks)):
		return 0, ''
	with open('now.csv') as f:
		now = list(csv.DictReader(f))
	looked, most = 0, longest(clocks, rows)
	for row, out in zip(rows, now):
		# Over a step nothing tells of it if no other took as long (doc/guarantees.md).
		if crosses(clocks, row) and row.received - row.sent > most:
			continue
		for number, t, key in ((row.a, row.sent, 'sent'), (row.b, row.received, 'received')):
			clock = clocks[number]
			stamp, here = clock.shows(t), int(out[key + '_ns'])
			epoch = bisect.bisect(ends[number], t)
			# In the bracket of a step nothing is promised.
			if any(first < (epoch, stamp) < last for first, last in brackets[number]):
				continue
			limits = band(knots[number, epoch], stamp)
			looked += clock.steps != []
			if clock.steps and outside(limits, START + t - stamp):
				return looked, f'c{number} at {stamp}: the truth is outside of {limits}'
			if clock.steps and outside(limits, here - stamp):
				return looked, f'c{number} at {stamp}: apply writes {here - START - t} ns beside the truth'
	return looked, ''


def main():
	unskew = os.path.abspath(sys.argv[1])
	first, count = (int(x) for x in (sys.argv[2:] + ['0', '150'][len(sys.argv) - 2:])[:2])
	first, count = part(first, count)
	failed = clear = stamps = 0
	with tempfile.TemporaryDirectory() as folder:
		os.chdir(folder)
		for seed in range(first, first + count):
			clocks, rows = case(seed)
			if not is_clear(clocks, rows):
				continue
			looked, why = judge(unskew, clocks, rows)
			clear += looked > 0
			stamps += looked
			failed += why != ''
			if why:
				print(f'seed {seed}: {why}')
		os.chdir('/')
	print(f'{count} cases, {clear} of them clear, {stamps} stamps, {failed} failed')
	return failed > 0 or (count >= 50 and not clear)


if __name__ == '__main__':
	sys.exit(main())
