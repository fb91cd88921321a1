# SPDX-License-Identifier: MIT
"""far.py - tables of clocks that are set by years, up to the ends of what a stamp can be

Sums of such stamps leave 64 bits, and time that goes on where a clock was set back leaves what can be told: what is cut off there
must be cut off on the safe side, and the same each time.
"""
import csv

MOST = 1 << 62


class Clock:
	def __init__(self, draw):
		self.draw, self.ahead, self.left = draw, draw.choice([0, draw.randrange(MOST // 2), MOST // 2, MOST - 10**10]), draw.randrange(2, 12)

	def shows(self, t):
		self.left -= 1
		if not self.left:
			now, years = self.ahead + t, int(10 ** self.draw.uniform(10, 18.6))
			self.ahead = max(0, min(MOST - 10**10, now + self.draw.choice([-1, -1, 1]) * years)) - t
			self.left = self.draw.choice([3, 6, 6, 12])
		return self.ahead + t


def write(draw, path):
	"""By clock: its first stamp and its last."""
	clocks = {n: Clock(draw) for n in ['a', 'b', 'c'][:draw.choice([2, 2, 3])]}
	still, rows, spans, t = draw.choice([None, 'a', 'a', 'a']), [], {}, 0
	if still:
		clocks[still].left = -1
	for _ in range(draw.choice([12, 30, 60])):
		t += draw.randrange(1, draw.choice([10, 10**6]) * 1000)
		row = [*draw.sample(sorted(clocks), 2)]
		row += [clocks[row[0]].shows(t), clocks[row[1]].shows(t + draw.randrange(100, 2000))]
		rows.append(row)
		for who, ns in zip(row, row[2:]):
			lo, hi = spans.get(who, (ns, ns))
			spans[who] = min(lo, ns), max(hi, ns)
	with open(path, 'w', newline='', encoding='utf-8') as f:
		csv.writer(f, lineterminator='\n').writerows([['sender', 'receiver', 'sent_ns', 'received_ns'], *rows])
	return spans
