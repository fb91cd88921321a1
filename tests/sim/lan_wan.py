#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lan_wan.py UNSKEW [--count N] [--seed S] [--jobs J]: a reference that is set back while messages from far away are in flight.

In    nothing: tables of three clocks. One talks to the reference over a LAN, by which it is beyond doubt when the reference was set back, to some
      20 ms, and by how much. The other does over a WAN, in which messages of the one direction are under way for half of that or more, those of
      the other for all of it or more
Out   cases in which a band excludes the truth
Why   by the reference's clock such a message took less time than it did, so that what it says of its own pair's clock is too much; the pair
      may show nothing of the step itself, or not by as long as its messages are in flight
Not   clocks all of whose pairs take as long, set several times (in_flight.py)
"""
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import told
from asked import trials
from slewed import S, Clock, write

MS = 10**6


def one_way(draw, who, whom, until, least, tail, rate):
	rows, t = [], 0
	while t < until:
		t += int(draw.expovariate(rate) * S) + 1
		come = t + least + int(draw.expovariate(1 / tail))
		if come < until:
			rows.append((t, who, whom, come))
	return rows


def make(draw):
	"""Clocks, and moments of each to ask about; writes messages.csv."""
	until = draw.choice([3, 6]) * S
	at, by = int(until * draw.uniform(0.3, 0.7)), draw.randrange(20 * MS, 200 * MS)
	clocks = [Clock(draw.randrange(-S, S), draw.randrange(-50_000, 50_000)) for _ in range(3)]
	clocks[0].step(at, -by)
	tail, rate = draw.choice([MS // 10, MS]), draw.choice([5, 30, 100])
	rows = []
	for who, whom in ((1, 0), (0, 1)):
		rows += one_way(draw, who, whom, until, MS // 10, MS // 10, 50)
	for (who, whom), share in zip(draw.sample([(2, 0), (0, 2)], 2), (draw.uniform(0.5, 0.8), draw.uniform(1, 1.2))):
		rows += one_way(draw, who, whom, until, int(by * share), tail, rate)
	draw.shuffle(rows)
	write([(t, a, b, clocks[a].at(t), clocks[b].at(come)) for t, a, b, come in rows])
	near = [at + int(way * by * 1.5**i) for i in range(-12, 13) for way in (-1, 1)]
	ends = [[row[0] for row in rows if row[1] == k] + [row[3] for row in rows if row[2] == k] for k in range(3)]
	return clocks, lambda k: [t for t in near + draw.sample(ends[k], min(1000, len(ends[k]))) if 0 <= t < until]


def judge(unskew, seed):
	clocks, moments = make(random.Random(f'lan and wan {seed}'))
	_, why, asked = told.held(unskew, clocks, moments, '-r', 'c0', sure=True)
	return why, asked


if __name__ == '__main__':
	few = lambda cases, asked: cases >= 40 and asked < 200 * cases
	sys.exit(trials(judge, 100, 'moments', wrong=few))
