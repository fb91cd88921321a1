#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""often.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of clocks that are set every few seconds.

In    nothing: one table of messages of two to four clocks, of which one or two are set four to twelve times by 10 ms to 400 ms, back, forward
      or both; three of four in the order of time, the others as tables.py has them
Out   cases in which a band excludes the truth, though the answer names every step (captured.py); clocks that have no band
Why   messages at stamps that are shown twice look like wrong ones: with every step there are more of them
Not   one or two steps, and larger ones (tables.py)
"""
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


def judge(unskew, seed):
	draw = random.Random(f'often {seed}')
	clocks, us, seconds = draw.choice([2, 2, 3, 4]), draw.choice([100, 1_000, 5_000]), draw.choice([20, 60])
	tables.simulate(unskew, draw, seed, clocks, us, seconds, [10, 20, 50], lambda: steps(draw, clocks, seconds))
	order = 'recorded' if draw.random() < 0.75 else draw.choice(list(tables.ORDERS))
	held, excused, clocks = tables.judged(unskew, draw, order, 1000 * us)
	bounded = sum(c['quality'] == 'bounded' for c in clocks)
	return None, held, excused, bounded, len(clocks) - 1


if __name__ == '__main__':
	few = lambda cases, held, excused, bounded, clocks: cases >= 40 and (held < cases or 100 * bounded < 99 * clocks)
	sys.exit(trials(judge, 150, 'bands hold the truth', 'do not, as a step is not named', 'clocks have a band', 'clocks', wrong=few))
