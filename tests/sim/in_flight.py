#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""in_flight.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of a clock that is set several times while messages are in flight.

In    nothing: one table of messages of two to four clocks that take 5 ms to 50 ms, or twice and more; one clock, which mostly is the reference, is
      set two to eight times, mostly back, by three to twelve times of that, so soon that messages are in flight over several
Out   cases in which a band excludes the truth, though the answer names every step (captured.py); how many clocks have a band
Why   such messages say of the other clock's time that less passed than did, and so does each of several steps
Not   steps by more, and further apart (often.py)
"""
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import tables
from asked import trials


def steps(draw, us, seconds):
	at, by = seconds * draw.uniform(0.2, 0.6), 1_000 * us * 10**draw.uniform(0.45, 0.8)
	rows = []
	for _ in range(draw.choice([2, 3, 5, 8])):
		ns = int(by * 10**draw.uniform(0, 0.3))
		rows.append((0, at, -ns if draw.random() < 0.9 else ns))
		at += ns * 10**draw.uniform(0.1, 1.2) / 10**9
	return [row for row in rows if row[1] < 0.9 * seconds]


def judge(unskew, seed):
	draw = random.Random(f'in flight {seed}')
	clocks, us, seconds = draw.choice([2, 3, 4]), draw.choice([5_000, 20_000, 50_000]), draw.choice([5, 20])
	tables.simulate(unskew, draw, seed, clocks, us, seconds, [50, 200], lambda: steps(draw, us, seconds))
	held, excused, clocks = tables.judged(unskew, draw, draw.choice(list(tables.ORDERS)), 1000 * us, often_asked=0.8)
	bounded = sum(c['quality'] == 'bounded' for c in clocks)
	return None, held, excused, bounded, len(clocks) - 1


if __name__ == '__main__':
	few = lambda cases, held, excused, bounded, clocks: cases >= 40 and (10 * held < 7 * clocks or 4 * bounded < 3 * clocks)
	sys.exit(trials(judge, 100, 'bands hold the truth', 'do not, as a step is not named', 'clocks have a band', 'clocks', wrong=few))
