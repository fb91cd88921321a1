#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bends.py UNSKEW [--count N] [--seed S] [--jobs J]: clocks that are set back by so little that a rate may explain it.

In    nothing: tables of three clocks, of which one, mostly the reference, is set back by 50 us to 2 ms, once or a few times. Two exchange
      messages so seldom that a rate within the skew limit explains the step: the answer shows a bend. To or from the third hundreds
      are sent around the step, mostly in one direction, and a few in both at any time
Out   cases in which a band excludes the truth, though the answer tells of all steps (told.py); how many are judged
Why   a bend may lie anywhere in its bracket and shows stamps twice, and messages in flight say less by it: each event in it has to allow
      for that, and most of them are in no message that shows the bend
Not   steps that no rate explains (networks.c, tables.py); rows in the order of time, which tell that a clock was set back; clocks of which messages go
      one way only (rings.py)
"""
import functools
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import told
from asked import trials
from slewed import S, Clock, write

LIMIT = 0.5e-3  # --max-skew-ppm, which nobody gives
MODELS = [(), (), ('-m', 'segments=auto'), ('-m', 'wander=20')]


def times(draw, until, least, most):
	t = 0
	while t < until:
		yield t
		t += draw.randrange(least, most)


def steps(draw, by, middle):
	"""(when, by how much), in order of time."""
	rows = [(middle, -by)]
	if draw.random() < 0.3:
		near = int(by * 10**draw.uniform(-0.5, 1))
		rows += [(middle + draw.randrange(-2 * near, 2 * near), -int(by * draw.uniform(0.3, 1.5))) for _ in range(draw.choice([1, 2, 3]))]
	return sorted(rows)


def seldom(draw, until, period):
	rows = []
	for t in times(draw, until, period // 2, 3 * period // 2):
		come = t + draw.randrange(20_000, 24_000)
		back = come + draw.randrange(1_000, 50_000)
		rows += [(t, 1, 0, come), (back, 0, 1, back + draw.randrange(20_000, 24_000))]
	return rows


def around(draw, middle):
	"""To or from the third clock, mostly one of these."""
	apart, least = int(10**draw.uniform(4.7, 6)), int(10**draw.uniform(4, 5.2))
	ways, begin = draw.choice([[(1, 2)], [(2, 1)], [(1, 2), (2, 1)], [(0, 2)], [(2, 0)]]), middle - 300 * apart
	return [(begin + t, *draw.choice(ways), begin + t + draw.randrange(least, 11 * least // 10))
	        for t in times(draw, 600 * apart, apart // 2, 3 * apart // 2)]


def anywhere(draw, until):
	rows = []
	for _ in range(draw.choice([8, 20, 60])):
		t, other = draw.randrange(until), draw.choice([1, 1, 0])
		rows += [(t, other, 2, t + 30_000), (t + 200_000, 2, other, t + 230_000)]
	return rows


def make(draw):
	"""Clocks, and moments of each to ask about; writes messages.csv."""
	by = int(10**draw.uniform(4.7, 6.3))
	period = int(by / LIMIT * draw.uniform(1.5, 9))
	until = max(4 * S, 8 * period)
	middle = until // 2 + draw.randrange(-10**7, 10**7)
	clocks = [Clock(draw.randrange(-10**6, 10**6), draw.randrange(-20_000, 20_000)) for _ in range(3)]
	who, set_at = draw.choice([0, 0, 0, 1, 2]), steps(draw, by, middle)
	for step in set_at:
		clocks[who].step(*step)
	rows = [row for row in seldom(draw, until, period) + around(draw, middle) + anywhere(draw, until) if 0 <= row[0] and row[3] < until]
	draw.shuffle(rows)
	write([(t, a, b, clocks[a].at(t), clocks[b].at(come)) for t, a, b, come in rows])
	near = [t + way * int(10**draw.uniform(1, 6.5)) for t, _ in set_at for way in (-1, 1) for _ in range(40)]
	ends = [[row[0] for row in rows if row[1] == k] + [row[3] for row in rows if row[2] == k] for k in range(3)]
	asked = [near + of + [t + draw.randrange(-10**6, 10**6) for t in of] for of in ends]
	return clocks, lambda k: [t for t in asked[k] if 0 <= t < until]


if __name__ == '__main__':
	few = lambda cases, judged, asked: cases >= 40 and 3 * judged < cases
	judge = functools.partial(told.judge_made, 'bends', make, MODELS)
	sys.exit(trials(judge, 100, 'are judged', 'moments', wrong=few))
