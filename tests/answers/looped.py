# SPDX-License-Identifier: MIT
"""looped.py - tables of clocks in rings and meshes, of which every pair goes with itself and a loop may not

What is wrong shows only where paths meet again: single messages that are early, an edge of another clock or rate, clocks that
are set while few messages say so, stamps that are coarse, messages that are passed on by the very stamp by which they came.
Bands are narrow, so that little contradicts.
"""
import csv

SECOND = 10**9


class World:
	def __init__(self, draw):
		self.draw, self.n = draw, draw.choice([3, 3, 3, 4, 5, 7])
		self.base = draw.choice([0, 1_700_000_000 * SECOND + 12345])
		self.span = draw.choice([2, 60, 600]) * SECOND
		self.least, self.noise = draw.choice([300, 20_000]), draw.choice([0, 50, 3000])
		self.clocks = [(draw.randrange(-10**8, 10**8), draw.choice([0, draw.uniform(-2e-5, 2e-5)]), draw.choice([1] * 8 + [1000, 10**6])) for _ in range(self.n)]
		self.set = {i: (draw.randrange(self.span), draw.choice([-1, 1]) * int(10 ** draw.uniform(3.5, 9))) for i in range(self.n) if draw.random() < 0.15}
		self.wrong = draw.choice(['edge', 'rate', 'early', 'set', 'relay', 'all', 'all', 'all'])
		self.set = self.set if self.wrong in ('set', 'all') else {}
		self.edges = self.shape()
		self.rows, self.spans, self.order = [], {}, None

	def shape(self):
		draw, ring = self.draw, [(i, (i + 1) % self.n) for i in range(self.n)]
		mesh = [(a, b) for a in range(self.n) for b in range(a)]
		return draw.choice([ring, ring, mesh, ring + draw.sample(mesh, min(2, len(mesh)))])

	def shows(self, i, t):
		offset, drift, tick = self.clocks[i]
		at, by = self.set.get(i, (0, 0))
		return (self.base + offset + t + int(t * drift) + by * (i in self.set and t >= at)) // tick * tick

	def wait(self):
		return self.least + int(self.draw.expovariate(1) * self.noise)

	def send(self, a, b, t, late=0):
		self.row(a, b, t, self.shows(a, t), self.shows(b, t + self.wait()) + late)

	def row(self, a, b, t, sent, received):
		for name, ns in ((f'n{a}', sent), (f'n{b}', received)):
			lo, hi = self.spans.get(name, (ns, ns))
			self.spans[name] = min(lo, ns), max(hi, ns)
		self.rows.append((t, f'n{a}', f'n{b}', sent, received))

	def relay(self):
		"""Once around, and back to who began."""
		t, late = self.draw.randrange(self.span), self.draw.choice([0, 0, -1]) * self.draw.randrange(3 * self.least * self.n)
		first = sent = self.shows(0, t)
		for i in range(1, self.n):
			t += self.wait()
			received = self.shows(i, t)
			self.row(i - 1, i, t, sent, received)
			sent = received
		self.row(self.n - 1, 0, t, sent, max(first - 10**6, self.shows(0, t + self.wait()) + late))

	def make(self):
		draw = self.draw
		for _ in range(draw.choice([1, 3, 10]) if self.wrong in ('relay', 'all') else 0):
			self.relay()
		by, since = draw.choice([-1, 1] if self.wrong == 'edge' else [0, 0, -1, 1] if self.wrong == 'all' else [0]) * int(10 ** draw.uniform(3, 8)), draw.choice([0, 0, self.span // 2])
		ppm = draw.choice([-1, 1]) * draw.uniform(1, 60) if self.wrong == 'rate' else 0
		for number, (a, b) in enumerate(self.edges):
			one_way, many = draw.random() < 0.3, draw.choice([2, 8, 8, 40])
			early = {draw.randrange(many) for _ in range(draw.choice([0, 0, 0, 1, 1, 3]) if self.wrong in ('early', 'all') else 0)}
			for k in range(many):
				t = self.span * k // many + draw.randrange(self.span // many)
				x, y = (a, b) if one_way or draw.random() < 0.5 else (b, a)
				more = by * (t >= since) + int(t * ppm / 10**6) if not number else 0
				off = more if x == a else -more
				if k in early:  # by no more than its way back leaves open
					off -= int(self.least * draw.choice([0.7, 1, 1.3, 1.9]))
				self.send(x, y, t, off)

	def write(self, path):
		self.make()
		with open(path, 'w', newline='', encoding='utf-8') as f:
			out = csv.writer(f, lineterminator='\n')
			out.writerow(['sender', 'receiver', 'sent_ns', 'received_ns'])
			out.writerows(row[1:] for row in sorted(self.rows, key=self.order))


def twice(draw):
	"""Some clocks are set back in rows whose order does not tell: what they showed twice, and a loop that goes through it."""
	w = World(draw)
	w.wrong, w.order = 'all', draw.choice([None, lambda row: row[3], lambda row: row[1:3]])
	w.set = {i: (draw.randrange(w.span), -int(w.span * draw.choice([0.003, 0.03, 0.1, 0.3]))) for i in range(w.n) if draw.random() < 0.6}
	return w
