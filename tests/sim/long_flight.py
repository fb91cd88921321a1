#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""long_flight.py UNSKEW [--count N] [--seed S] [--jobs J]: a message is under way for almost as long as the reference is set back by meanwhile.

In    nothing: one table, sorted by the time of sending as it was recorded, of messages of two to four clocks that take 1 ms to 20 ms, or two or
      three times of that once one clock, which mostly is the reference, was set back by two to ten times of all that; as long before that all
      are silent, but one to four messages are under way meanwhile for nearly as long as it was set back by
Out   cases in which a band excludes the truth, though the step is told and no message is left out
Why   by what is known behind the step such a message looks like a short one, and says more than is true
Not   many steps, and messages that are merely slow (in_flight.py)
"""
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run, trials

MS, START, LENGTH = 10**6, 10**12, 2_000 * 10**6


class Case:
	def __init__(self, seed):
		draw = random.Random(f'long flight {seed}')
		self.clocks = 'abcd'[:draw.choice([2, 2, 3, 4])]
		before = draw.randrange(1, 20) * MS
		behind, tail, gap = before * draw.choice([1, 2, 3]), draw.choice([0, 1, 5]) * MS, draw.choice([15, 30, 60])
		self.size = int(draw.uniform(2, 10) * (before + behind + 2 * tail))
		self.at, self.who = draw.randrange(500, 1500) * MS, draw.choice(self.clocks)
		self.reference = self.who if draw.random() < 0.8 else draw.choice(self.clocks)
		self.messages = []
		for x in self.clocks:
			for y in self.clocks.replace(x, ''):
				for _ in range(LENGTH // MS // gap):
					sent = draw.randrange(LENGTH)
					took = (before if sent < self.at else behind) + int(draw.expovariate(1) * tail)
					if sent >= self.at or sent + took < self.at - self.size:
						self.messages.append((x, y, sent, sent + took))
		for _ in range(draw.choice([1, 1, 2, 4])):
			took = int(self.size * draw.uniform(0.7, 1))
			sent = self.at - draw.randrange(1, took)
			self.messages.append((*draw.sample(self.clocks, 2), sent, sent + took))
		self.messages.sort(key=lambda m: self.shows(m[0], m[2]))

	def shows(self, clock, t):
		return START + t - (self.size if clock == self.who and t >= self.at else 0)


def told(unskew, case):
	"""Of each event of another clock than the reference: the clock, when it was, what bounds are said of it."""
	events = [(k, t) for x, y, *times in case.messages for k, t in zip((x, y), times) if k != case.reference]
	r = run(unskew, 'convert', 'clocks.json', '--', *(f'{k}:{case.shows(k, t)}' for k, t in events))
	if len(r.stdout.splitlines()) != len(events):
		raise AssertionError(f'convert: {r.stderr.strip()}')
	bounds = (line.split('\t')[2:4] for line in r.stdout.splitlines())
	return [(k, t, *map(int, at)) for (k, t), at in zip(events, bounds) if len(at) == 2 and '-' not in at]


def judge(unskew, seed):
	case = Case(seed)
	with open('in.csv', 'w', encoding='utf-8') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		for x, y, sent, received in case.messages:
			f.write(f'{x},{y},{case.shows(x, sent)},{case.shows(y, received)}\n')
	r = run(unskew, 'sync', 'in.csv', '-r', case.reference, '-o', 'clocks.json')
	if r.returncode or 'as outliers' in r.stdout or 'epoch' in r.stdout or '\nStep' not in r.stdout:
		return None, 0, 1
	for clock, t, least, most in told(unskew, case):
		true = case.shows(case.reference, t)
		if not least <= true <= most:
			raise AssertionError(f'{clock} at {t} ns is {true}, not between {least} and {most}')
	return None, 1, 0


if __name__ == '__main__':
	few = lambda cases, judged, other: cases >= 40 and 3 * judged < cases
	sys.exit(trials(judge, 200, 'are judged', 'are not, as a message is left out or no step is told', wrong=few))
