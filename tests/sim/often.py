#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""often.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of clocks that are set every few seconds.

In    nothing: one table of messages of two to four clocks, of which one or two are set four to twelve times by 10 ms to 400 ms, back, forward
      or both; three of four in the order of time, the others as tables.py has them; in every second one stamps of up to 8 messages are wrong
Out   cases in which a band excludes the truth, though the answer names every step (captured.py), and every message that is wrong; clocks
      that have no band
Why   messages at stamps that are shown twice look like wrong ones: with every step there are more of them, and a wrong one looks as if the
      clock had been set there and back
Not   one or two steps, and larger ones (tables.py)
"""
import bisect
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'answers'))

import tables
from asked import trials


def steps(draw, clocks, seconds):
	signs, n = draw.choice([[1], [-1], [1, -1]]), draw.choice([4, 8, 12])
	hosts = [draw.randrange(clocks) for _ in range(draw.choice([1, 1, 2]))]
	return [(draw.choice(hosts), seconds * (k + draw.uniform(0.3, 0.9)) / n, draw.choice(signs) * int(10**draw.uniform(7, 8.6)))
		for k in range(n)]


def mistake(draw, n, us):
	"""Of n messages the send was later than its clock showed, or the receipt earlier, by less than half of the time to its neighbours, but
	more than any is under way for: else nothing would tell."""
	with open('in/messages.csv', encoding='utf-8') as f:
		head, *rows = [line.split(',') for line in f.read().splitlines()]
	shown = {}
	for row in rows:
		for end in (0, 1):
			shown.setdefault(row[end], []).append(int(row[2 + end]))
	shown = {clock: sorted(stamps) for clock, stamps in shown.items()}
	wrong = []
	for row in draw.sample(rows, min(n, len(rows))):
		end = draw.randrange(2)
		stamps, stamp = shown[row[end]], int(row[2 + end])
		i = bisect.bisect(stamps, stamp)
		far = min([abs(stamp - other) for other in stamps[max(0, i - 2):i - 1] + stamps[i:i + 1]], default=0)
		by = int(far * draw.uniform(0.05, 0.45))
		if by > 12_000 * us:
			row[2 + end] = str(stamp + (-by if end else by))
			wrong.append(tuple(row[:4]))
	with open('in/messages.csv', 'w', encoding='utf-8') as f:
		f.write('\n'.join([*(','.join(row) for row in [head, *rows]), '']))
	return wrong


def judge(unskew, seed):
	draw = random.Random(f'often {seed}')
	clocks, us, seconds = draw.choice([2, 2, 3, 4]), draw.choice([100, 1_000, 5_000]), draw.choice([20, 60])
	tables.simulate(unskew, draw, seed, clocks, us, seconds, [10, 20, 50], lambda: steps(draw, clocks, seconds))
	wrong = mistake(draw, draw.choice([0, 0, 2, 8]), us)
	order = 'recorded' if draw.random() < 0.75 else draw.choice(list(tables.ORDERS))
	held, excused, clocks = tables.judged(unskew, draw, order, 1000 * us, wrong)
	bounded = sum(c['quality'] == 'bounded' for c in clocks)
	return None, held, excused, bounded, len(clocks) - 1


if __name__ == '__main__':
	few = lambda cases, held, excused, bounded, clocks: cases >= 40 and (held < cases or 100 * bounded < 99 * clocks)
	sys.exit(trials(judge, 150, 'bands hold the truth', 'do not, as a step is not named', 'clocks have a band', 'clocks', wrong=few))
