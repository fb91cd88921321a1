#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ring_widths.py UNSKEW [--count N] [--seed S] [--jobs J]: what a clock that only a cycle shows to be set costs all others.

In    nothing: tables of three to six rings of messages that go one way, each from the reference over three clocks back to it; one clock
      of one ring is set back or forward by 30 to 200 ms
Out   how many clocks of other rings have a band that is no wider, wherever it is asked about, than in the same table without that ring
Why   nothing in a cycle says who contradicts it, so it may have been the reference; that other cycles of it show nothing says that it was not
Not   whether bands hold the truth (rings.py), the bands of the ring itself; cycles that last until a recording ends, behind which nothing says that it
      was not the reference
"""
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run, trials
from slewed import S, Clock, bounds, write

UNTIL = 10 * S
TIMES = [UNTIL * i // 40 for i in range(3, 38)]


def sent(draw, clocks, ring, least):
	for a, b in zip([0, *ring], [*ring, 0]):
		t = draw.randrange(S // 10)
		while t < UNTIL:
			come = t + least + int(draw.expovariate(3 / least))
			yield t, a, b, clocks[a].at(t), clocks[b].at(come)
			t += draw.randrange(S // 20, S // 5)


def asked(unskew, clocks, rows, which):
	"""The bounds of those clocks at all moments."""
	write(rows)
	r = run(unskew, 'sync', '-q', 'messages.csv', '-o', 'clocks.json', '-f', '-r', 'c0')
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: {r.stderr.strip()}')
	return {k: bounds(unskew, k, clocks, TIMES) for k in which}


def is_kept(found, alone):
	"""A band is as wide as it was but for where knots are, or there was none."""
	return None in alone or (None not in found and found[1] - found[0] <= (alone[1] - alone[0]) * 1.02 + 2)


def judge(unskew, seed):
	draw = random.Random(f'ring widths {seed}')
	rings = [range(3 * i + 1, 3 * i + 4) for i in range(draw.randrange(3, 7))]
	clocks = [Clock(draw.randrange(-10**6, 10**6), draw.randrange(-20_000, 20_000)) for _ in range(3 * len(rings) + 1)]
	clocks[draw.choice(rings[0])].step(draw.randrange(3 * UNTIL // 10, 7 * UNTIL // 10), draw.choice([-1, -1, 1]) * int(10**draw.uniform(7.5, 8.3)))
	rows = [list(sent(draw, clocks, ring, int(10**draw.uniform(4.5, 6)))) for ring in rings]
	others = [k for ring in rings[1:] for k in ring]
	alone = asked(unskew, clocks, sum(rows[1:], []), others)
	found = asked(unskew, clocks, sum(rows, []), others)
	return None, sum(all(is_kept(*both) for both in zip(found[k], alone[k])) for k in others), len(others)


if __name__ == '__main__':
	few = lambda cases, kept, clocks: cases >= 10 and 4 * kept < clocks
	sys.exit(trials(judge, 40, 'bands are as without the ring', 'clocks', wrong=few))
