#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alike.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of clocks of which several are set, or slewed, at one time.

In    nothing: messages in both directions of three to five clocks in a chain or a tree, which take as long everywhere or twenty
      times as long to c0; one of them and most of what it ties to the others are set, or slewed, by as much, up to a second later
Out   cases in which a band excludes the truth by more than messages hide; of all together how many moments bands exclude, and how
      many clocks have a band
Why   guests of one host, or clients of one server, are set together: the messages between them then tell nothing of it
Not   moments at which some of them are set and others not yet. Shares nothing with the simulator
"""
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import trials
from slewed import S, Clock, ask, messages

SECONDS = 10


def some_behind(draw, pairs, first):
	"""That clock and most of those that it ties to c0, as far as what ties them is one of these, too."""
	chosen = {first}
	for a, b in pairs:
		if a in chosen and draw.random() < 0.8:
			chosen.add(b)
	return sorted(chosen)


def make(draw):
	"""Clocks; when not to judge, as some are set and others not yet; what messages hide; options. Writes messages.csv."""
	n, period = draw.choice([3, 4, 5]), draw.choice([10, 50, 250]) * 10**6
	least = int(10**draw.uniform(4.3, 5.7))
	delays = least, int(least * draw.uniform(1.1, 3))
	clocks = [Clock(draw.randrange(-S, S), draw.randrange(-50_000, 50_000)) for _ in range(n)]
	chain = draw.random() < 0.7
	pairs = [(k - 1 if chain else draw.randrange(k), k) for k in range(1, n)]
	begin, by = int(draw.uniform(0.2, 0.7) * SECONDS * S), draw.choice([-1, 1]) * int(delays[1] * 10**draw.uniform(0.5, 2))
	far = draw.choice([1, 1, 20])
	later = draw.choice([0, 2 * period, S])
	rate = draw.choice([0, 10**6, 10**7])
	times = []
	near = [b for a, b in pairs if a] if far > 1 else []  # what is far hides it
	for k in some_behind(draw, pairs, draw.choice(near or range(1, n))):
		at = begin + int(draw.uniform(0, later))
		if rate:
			clocks[k].slew(at, by, rate)
		else:
			clocks[k].step(at, by)
			times.append(at)
	between = [tuple(ns * far for ns in delays) if a == 0 else delays for a, _ in pairs]
	messages(draw, clocks, pairs, SECONDS, period, between)
	unjudged = [t + about for t in times for about in (-3 * period, 3 * period)]
	hidden = n * (2 * far * delays[1] + 4 * period * rate // S)
	return clocks, unjudged, hidden, ['-r', 'c0'] if far > 1 else []


def judge(unskew, seed):
	clocks, times, hidden, options = make(random.Random(f'alike {seed}'))
	_, missed, asked = ask(unskew, clocks, SECONDS, lambda t: not times or not min(times) <= t <= max(times), options)
	worst = max((worst for _, worst in missed), default=0)
	why = f'a band excludes the truth by {worst / 1e6} ms; messages hide {hidden / 1e6} ms' if worst > hidden else None
	return why, sum(some for some, _ in missed), asked, len(missed), len(clocks) - 1


if __name__ == '__main__':
	few = lambda cases, missed, asked, bounded, clocks: cases >= 40 and (1000 * missed > asked or 100 * bounded < 95 * clocks)
	sys.exit(trials(judge, 100, 'moments outside of bands', 'moments', 'clocks have a band', 'clocks', wrong=few))
