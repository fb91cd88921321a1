# SPDX-License-Identifier: MIT
"""fallen.py - tables whose rows follow one another as they were written, of clocks that are set back on a grid of few stamps

What tells a clock that was set back from rows that were written late are shares of what it fell by: on a grid stamps meet those
shares, and what the clock showed before it fell, exactly. Small falls lie within large ones, rows are late within falls.
"""
import csv
import struct

import interfaces

HEAD = ['sender', 'receiver', 'sent_ns', 'received_ns']


class Clock:
	"""In units: how far it is ahead, and from where to where it fell last."""

	def __init__(self, draw):
		self.draw, self.ahead, self.last, self.high, self.middle, self.by = draw, draw.randrange(4), None, 0, 0, 0
		self.next, self.plan = draw.randrange(2, 9), []

	def turn(self, t):
		"""It may be set before its next row."""
		self.next -= 1
		if self.last is None or self.next > 0:
			return
		draw, what = self.draw, self.plan.pop(0) if self.plan else 'back'
		if what == 'back':
			self.by, self.high = draw.choice([4, 8, 16, 32, 64, 64, 128]), self.last
			self.plan = draw.choice([[], ['forth'], ['less'], ['less', 'forth'], ['less', 'up'], ['less', 'less', 'up'], ['less', 'up', 'less']])
			self.plan += draw.choice([['again'], ['back'], []])
			now = self.last - self.by
		elif what == 'less':
			self.middle = self.last
			now = self.last - max(1, draw.choice([1, self.by // 16, self.by // 8 - 1, self.by // 8 - 1, self.by // 8, self.by // 4]))
		elif what == 'forth':
			now = self.last + draw.choice([self.by // 2, self.by * 3 // 4, self.by * 3 // 4 + 1])
		else:
			now = (self.high if what == 'again' else self.middle) + draw.choice([-1, 0, 0, 1])
		self.ahead = now - t
		self.next = draw.choice([1, 2, 3, 4, 5, 9])


def write(draw, path, base):
	"""By clock: its first stamp and its last."""
	names, column = ['a', 'b', 'c'][:draw.choice([2, 2, 3])], draw.choice([0, 0, 1])
	unit, base = draw.choice([125_000, 250_000, 10**6, 1_000_003]), base + draw.choice([0, 12345])
	clocks, rows, spans, t = {n: Clock(draw) for n in names}, [], {}, 0
	still = draw.choice([None, *names])
	for _ in range(draw.choice([12, 30, 60, 60])):
		t += draw.choice([0, 1, 1, 1, 2])
		who = draw.sample(names, 2)
		if who[column] != still:
			clocks[who[column]].turn(t)
		row = [0, 0]
		for side, at in ((column, t), (1 - column, t + draw.choice([0, 0, 1, 1, 2]) * (1 - 2 * column))):
			row[side] = base + names.index(who[side]) * 5 + unit * (at + clocks[who[side]].ahead)
			lo, hi = spans.get(who[side], (row[side], row[side]))
			spans[who[side]] = min(lo, row[side]), max(hi, row[side])
		clocks[who[column]].last = t + clocks[who[column]].ahead
		rows.append(who + row)
	for _ in range(draw.choice([0, 0, 0, 1, 3])):  # late
		at = draw.randrange(len(rows))
		rows.insert(min(len(rows), at + draw.randrange(1, 9)), rows.pop(at))
	with open(path, 'w', newline='', encoding='utf-8') as f:
		csv.writer(f, lineterminator='\n').writerows([HEAD, *rows])
	return spans


def write_capture(draw, path):
	"""The same of a capture that is there: its records are stamped anew."""
	link, found = interfaces.records(path)
	clock, unit = Clock(draw), draw.choice([250_000, 10**6, 40_000_000, 200_000_000])
	first, out = found[0][0], []
	for ns, data, wire in found:
		t = (ns - first) // unit
		clock.turn(t)
		clock.last = t + clock.ahead
		out.append((first + unit * clock.last + draw.randrange(unit) * draw.choice([0, 0, 0, 1]), data, wire))
	for _ in range(draw.choice([0, 0, 1, 3])):  # late
		at = draw.randrange(len(out))
		out.insert(min(len(out), at + draw.randrange(1, 9)), out.pop(at))
	with open(path, 'wb') as f:
		f.write(struct.pack('<IHHiIII', 0xa1b23c4d, 2, 4, 0, 0, 65535, link))
		for ns, data, wire in out:
			f.write(struct.pack('<IIII', ns // 10**9, ns % 10**9, len(data), wire) + data)


def write_vague(draw, path):
	"""By clock: its first stamp and its last. Bands are narrow, and rows about the moment when a clock was set are written in any order:
	which side of it they are of is likely at most, and what is early by that may be by a coarse stamp alone."""
	names, base, rows, spans, t = ['a', 'b', 'c'][:draw.choice([2, 2, 3])], draw.choice([0, 1_700_000_000 * 10**9]), [], {}, 0
	tick = {n: draw.choice([1, 1, 10**4, 10**5]) for n in names}
	ahead, noise, n, falls = {n: draw.randrange(10**9) for n in names}, draw.choice([1, 5_000, 200_000]), draw.choice([40, 80, 120]), []
	plan = {at: draw.choice(names[1:]) for at in draw.sample(range(8, n - 8), draw.choice([1, 2, 3]))}
	for number in range(n):
		t += draw.choice([draw.randrange(1, 3 * 10**6), draw.randrange(1, 10**5)])
		if number in plan:
			ahead[plan[number]] -= int(10 ** draw.uniform(6, 8.5))
			falls.append(number)
		a, b = draw.sample(names, 2)
		row = [a, b]
		for who, at in zip(row[:], (t, t + 20_000 + draw.randrange(noise))):
			ns = (base + ahead[who] + at) // tick[who] * tick[who]
			lo, hi = spans.get(who, (ns, ns))
			spans[who] = min(lo, ns), max(hi, ns)
			row.append(ns)
		rows.append(row)
	for fall in falls:
		for _ in range(draw.choice([0, 1, 2, 4])):
			at = fall + draw.randrange(-4, 4)
			rows.insert(at + draw.choice([-3, -2, -1, 1, 2, 3]), rows.pop(at))
	with open(path, 'w', newline='', encoding='utf-8') as f:
		csv.writer(f, lineterminator='\n').writerows([HEAD, *rows])
	return spans
