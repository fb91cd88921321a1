#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bend_widths.py UNSKEW [--count N] [--seed S] [--jobs J]: how wide bands are where a bend holds many events.

In    nothing: tables of three clocks. One is slewed one to three times for seconds, by less than the skew limit, and talks to the reference a few times
      a second; the third talks to it ten times as often
Out   cases in which the band of the clock that is slewed is wider somewhere than where its rate may be any within the skew limit, all along, and
      by more than all of its bends show; the mean half widths of both
Why   time in a bend goes on at any rate within the skew limit, but for jumps of at most what the bend shows in all. Each stretch between two
      events may hold that; bounds that let all of them hold it at once are true, and wider by the more the more events there are
Not   whether bands hold the truth (bends.py), but with the skew limit as the only one they have to; answers that ignore outliers, as something
      happened that no entry lists if these are right
"""
import json
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run, trials
from slewed import S, Clock, bounds, write

UNTIL = 10 * S
TIMES = [UNTIL * i // 1000 for i in range(20, 980)]


def make(draw):
	"""Clocks; writes messages.csv."""
	clocks = [Clock(draw.randrange(-S, S), draw.randrange(-50_000, 50_000)) for _ in range(3)]
	t = int(UNTIL * draw.uniform(0.2, 0.3))
	for _ in range(draw.choice([1, 2, 3])):
		rate = draw.randrange(150_000, 350_000)
		t = clocks[1].slew(t, draw.choice([-1, 1]) * int(rate * draw.uniform(0.5, 2)), rate) + int(draw.uniform(0.2, 1) * S)
	least, often, seldom = int(10**draw.uniform(4, 5)), 10**draw.uniform(1.5, 2), 10**draw.uniform(0.3, 1)
	rows = []
	for who, whom, rate in ((0, 1, seldom), (1, 0, seldom), (1, 2, often), (2, 1, often)):
		t = 0
		while t < UNTIL:
			t += int(draw.expovariate(rate) * S) + 1
			rows.append((t, who, whom, t + least + int(draw.expovariate(5 / least))))
	draw.shuffle(rows)
	write([(t, a, b, clocks[a].at(t), clocks[b].at(come)) for t, a, b, come in rows])
	return clocks


def ask(unskew, clocks, *options):
	"""What sync says of the clock that is slewed, in other clocks' entries too, and its bounds."""
	r = run(unskew, 'sync', '-q', 'messages.csv', '-o', 'clocks.json', '-f', '-r', 'c0', *options)
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: {r.stderr.strip()}')
	with open('clocks.json', encoding='utf-8') as f:
		answer = json.load(f)
	brackets = [(c['name'], j) for c in answer['clocks'] for j in c['jumps']]
	found = None if any(p['outliers'] for p in answer['pairs']) else [j for of, j in brackets if 'c1' in (of, j['of'], j.get('or'))]
	return found, bounds(unskew, 1, clocks, TIMES)


def shown(brackets):
	"""By how much bends show that time rises and falls, all together; None: not all say how much."""
	if brackets is None or any(b['kind'] != 'bend' or None in (b['size_lo_ns'], b['size_hi_ns']) for b in brackets):
		return None
	return sum(max(0, int(b['size_hi_ns'])) + max(0, -int(b['size_lo_ns'])) for b in brackets)


def judge(unskew, seed):
	clocks = make(random.Random(f'bend widths {seed}'))
	brackets, found = ask(unskew, clocks)
	_, within = ask(unskew, clocks, '-m', 'wander=500')
	by, half, half_within = shown(brackets), 0, 0
	for t, (lo, hi), (least, most) in zip(TIMES, found, within):
		true = clocks[0].at(t)
		if None in (least, most):
			continue
		if not least - 1 <= true <= most + 1:
			return f'at {t / S} s a band excludes the truth that assumes no more than the skew limit', 0, 0, 0
		# 2 ns: each bound is rounded outwards.
		if by is not None and (None in (lo, hi) or hi - lo > most - least + by + 2):
			return f'at {t / S} s {lo} to {hi}, within the skew limit {least} to {most}; bends show {by} ns in all', 0, 0, 0
		half, half_within = half + (hi - lo) // 2 if by is not None else 0, half_within + (most - least) // 2
	return None, by is not None and len(brackets), half // len(TIMES) // 1000, half_within // len(TIMES) // 1000


if __name__ == '__main__':
	few = lambda cases, bends, half, within: cases >= 40 and bends < cases
	sys.exit(trials(judge, 60, 'bends', 'us half width in all cases', 'us within the skew limit', wrong=few))
