# SPDX-License-Identifier: MIT
"""tiny.py - tables of few messages on a grid of few stamps, where all that can be equal is equal now and then

Bounds that meet, stamps of one instant, lines of one point, clocks that stand still or run backwards, messages that
contradict each other: what inputs of many digits never have.
"""
import csv

HEADS = {'messages': ['sender', 'receiver', 'sent_ns', 'received_ns'], 'exchanges': ['a', 'b', 't1_ns', 't2_ns', 't3_ns', 't4_ns'],
	'events': ['clock', 'time_ns', 'kind', 'id']}


class Grid:
	def __init__(self, draw):
		self.draw = draw
		self.names = ['a', 'b', 'c', 'd'][:draw.choice([2, 2, 3, 4])]
		self.unit = draw.choice([1, 1, 1, 3, 1001, 10**6, 40_000_001, 10**9])
		self.base = draw.choice([0, 0, -5 * self.unit, 10**18 + 1, 1_700_000_000 * 10**9])
		self.size = draw.choice([4, 9, 30])
		self.off = {n: draw.randrange(-3, 4) for n in self.names}
		self.pace = {n: draw.choice([1] * 9 + [0, 2, -1]) for n in self.names} if draw.random() < 0.4 else {}
		self.step = (draw.choice(self.names), draw.randrange(self.size), draw.choice([-4, -1, 1, 5])) if draw.random() < 0.4 else None
		self.true = draw.random() < 0.75  # else stamps are any
		self.rows, self.spans = [], {}

	def stamp(self, name, t):
		x = self.off[name] + t * self.pace.get(name, 1)
		if self.step and name == self.step[0] and t >= self.step[1]:
			x += self.step[2]
		ns = self.base + self.unit * (x if self.true else self.draw.randrange(self.size))
		lo, hi = self.spans.get(name, (ns, ns))
		self.spans[name] = min(lo, ns), max(hi, ns)
		return ns

	def write(self, path):
		draw, form = self.draw, self.draw.choice(['messages', 'messages', 'exchanges', 'events'])
		sized, rows = draw.random() < 0.4, []
		for number in range(draw.choice([1, 2, 3, 5, 9, 20, 40])):
			a, b = draw.sample(self.names, 2)
			t = [draw.randrange(self.size)]
			for _ in range(3):
				t.append(t[-1] + draw.choice([0, 0, 1, 1, 2, 5]))
			size = [draw.choice([0, 1, 100, 1500])] if sized else []
			if form == 'exchanges':
				rows.append([a, b, *(self.stamp(n, at) for n, at in zip((a, b, b, a), t))] + size)
			elif form == 'messages':
				rows.append([a, b, self.stamp(a, t[0]), self.stamp(b, t[1])] + size)
			else:
				number %= draw.choice([50, 50, 50, 3])
				rows.append([a, self.stamp(a, t[0]), 'send', number] + size)
				rows.append([b, self.stamp(b, t[1]), 'recv', number] + size)
		if draw.random() < 0.5:
			rows.sort(key=lambda r: r[1:3])
		with open(path, 'w', newline='', encoding='utf-8') as f:
			csv.writer(f, lineterminator='\n').writerows([HEADS[form] + ['bytes'] * sized, *rows])


def write(draw, path):
	"""(names of clocks, their first and last stamps, what no message takes less than)"""
	g = Grid(draw)
	g.write(path)
	return sorted(g.spans), g.spans, 2 * g.unit
