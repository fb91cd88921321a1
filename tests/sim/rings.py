#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rings.py UNSKEW [--count N] [--seed S] [--jobs J]: clocks that are set where messages between any two of them go one way.

In    nothing: tables of three or four clocks in a ring, each of which sends to the next one, and some to another; one of them, mostly
      the reference, is set by 0.1 ms to 1 s, mostly back, once or a few times. Messages are under way for 20 us to 100 ms
Out   cases in which a band excludes the truth, though the answer tells of all steps (told.py); how many are judged
Why   no pair shows anything: only cycles of messages do, and nothing but what clocks went on by says by how much one was set
Not   pairs that show it by themselves (bends.py, lan_wan.py); what it costs clocks that have nothing to do with it (ring_widths.py)
"""
import functools
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import told
from asked import trials
from slewed import S, Clock, write

MODELS = [(), (), ('-m', 'segments=auto'), ('-m', 'wander=20')]


def steps(draw, by, middle, until):
	"""(when, by how much), in order of time."""
	way = draw.choice([-1, -1, -1, 1])
	rows = [(middle, way * by)]
	if draw.random() < 0.3:
		rows += [(draw.randrange(until // 10, 9 * until // 10), draw.choice([-1, 1]) * int(by * draw.uniform(0.3, 3)))]
	return sorted(rows)


def sent(draw, a, b, until, apart, least):
	t = draw.randrange(apart)
	while t < until:
		yield t, a, b, t + least + int(draw.expovariate(3 / least))
		t += draw.randrange(apart // 2, 3 * apart // 2)


def make(draw):
	"""Clocks, and moments of each to ask about; writes messages.csv."""
	n, until = draw.choice([3, 3, 4]), draw.choice([1, 4, 20]) * S
	apart = int(until / draw.uniform(30, 400))
	by, least = int(10**draw.uniform(5, 9)), int(10**draw.uniform(4.3, 8))
	middle = draw.randrange(until // 10, 9 * until // 10)
	clocks = [Clock(draw.randrange(-10**6, 10**6), draw.randrange(-20_000, 20_000)) for _ in range(n)]
	who = draw.choice([0, 0, 0, 1, 2])
	for step in steps(draw, by, middle, until):
		clocks[who].step(*step)
	ways = [(k, (k + 1) % n) for k in range(n)]
	if draw.random() < 0.4:
		ways.append(draw.choice(ways)[::-1] if draw.random() < 0.5 else (0, 2))
	rows = [row for a, b in ways for row in sent(draw, a, b, until, apart, least) if row[3] < until]
	draw.shuffle(rows)
	write([(t, a, b, clocks[a].at(t), clocks[b].at(come)) for t, a, b, come in rows])
	near = [t + way * int(10**draw.uniform(1, 9)) for t, _ in clocks[who].steps for way in (-1, 1) for _ in range(60)]
	asked = [near + [draw.randrange(until) for _ in range(100)] for _ in clocks]
	return clocks, lambda k: [t for t in asked[k] if 0 <= t < until]


if __name__ == '__main__':
	few = lambda cases, judged, asked: cases >= 40 and 4 * judged < cases
	judge = functools.partial(told.judge_made, 'rings', make, MODELS)
	sys.exit(trials(judge, 100, 'are judged', 'moments', wrong=few))
