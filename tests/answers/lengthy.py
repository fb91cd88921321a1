# SPDX-License-Identifier: MIT
"""lengthy.py - tables of clocks in long rows, and of clocks that are nearly straight: what few messages each way leave open only all together close"""
import csv

SECOND = 10**9


class World:
	def __init__(self, draw, n, edges, span, bends):
		self.draw, self.n, self.edges, self.span = draw, n, edges, span
		self.least, self.noise = draw.choice([300, 20_000]), draw.choice([0, 500, 20_000])
		self.clocks = [(draw.randrange(-10**8, 10**8), draw.uniform(-2e-5, 2e-5)) for _ in range(n)]
		self.bend = {i: (draw.randrange(span), draw.uniform(-1, 1) * bends * self.least / span) for i in range(n)} if bends else {}
		self.set = {i: (draw.randrange(span), draw.choice([-1, 1]) * int(10 ** draw.uniform(5, 9))) for i in range(n) if draw.random() < 0.03} if not bends else {}
		self.rows, self.spans = [], {}

	def shows(self, i, t):
		offset, drift = self.clocks[i]
		since, rate = self.bend.get(i, (0, 0))
		at, by = self.set.get(i, (t + 1, 0))
		return 10**18 + offset + t + int(t * drift) + int(max(0, t - since) * rate) + (by if t >= at else 0)

	def send(self, a, b, t):
		stamps = self.shows(a, t), self.shows(b, t + self.least + int(self.draw.expovariate(1) * self.noise))
		for name, ns in zip((f'n{a}', f'n{b}'), stamps):
			lo, hi = self.spans.get(name, (ns, ns))
			self.spans[name] = min(lo, ns), max(hi, ns)
		self.rows.append((t, f'n{a}', f'n{b}', *stamps))

	def write(self, path, each):
		for a, b in self.edges:
			for k in range(each):
				t = self.span * k // each + self.draw.randrange(self.span // each)
				self.send(a, b, t)
				self.send(b, a, t + self.draw.randrange(self.span // each))
		with open(path, 'w', newline='', encoding='utf-8') as f:
			out = csv.writer(f, lineterminator='\n')
			out.writerow(['sender', 'receiver', 'sent_ns', 'received_ns'])
			out.writerows(row[1:] for row in sorted(self.rows))


def row(draw):
	"""Many clocks, each of which knows the next one, and now and then another."""
	n = draw.choice([40, 70, 140, 200])
	edges = [(i, i + 1) for i in range(n - 1)] + [tuple(draw.sample(range(n), 2)) for _ in range(draw.choice([0, 0, 1, 5]))]
	return World(draw, n, edges, draw.choice([2, 60]) * SECOND, 0), draw.choice([1, 2, 3])


def bent(draw):
	"""Few clocks, whose rates change a little."""
	n = draw.choice([3, 3, 4, 5])
	edges = [(i, (i + 1) % n) for i in range(n)] + ([(0, 2)] if n > 3 and draw.random() < 0.5 else [])
	return World(draw, n, edges, draw.choice([2, 60, 600]) * SECOND, draw.choice([1, 3, 10])), draw.choice([2, 2, 3, 4])
