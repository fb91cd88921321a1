#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slewed.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of clocks that are slewed faster than the skew limit allows.

In    nothing: messages in both directions, a few a slew at least, of two to four clocks in a chain or a star, one or two of which are
      slewed one to three times at 700 to 90,000 ppm, by 4 to 200 of the longest delays
Out   cases in which a band excludes the truth by more than messages hide of where a slew begins and ends; of all together how many
      moments bands exclude, how many steps are told for how many slews, and how many clocks have a band
Why   chrony slews by up to 8 % where it may not step a clock, and Linux lets anybody slew by 10 %
Not   slews that no message shows (doc/guarantees.md); steps (tables.py). Shares nothing with the simulator
"""
import bisect
import json
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from asked import run, trials

S = 10**9
START = 1700000000 * S


class Clock:
	"""Rates in parts per 10^9, from a time on."""

	def __init__(self, offset, rate):
		self.base, self.since, self.shown, self.rate = rate, [0], [START + offset], [rate]
		self.steps, self.slews = [], []

	def at(self, t):
		i = bisect.bisect_right(self.since, t) - 1
		d = t - self.since[i]
		return self.shown[i] + d + d * self.rate[i] // S

	def _go_on(self, t, by, rate):
		self.shown.append(self.at(t) + by)
		self.since.append(t)
		self.rate.append(rate)

	def step(self, t, by):
		self._go_on(t, by, self.base)
		self.steps.append((t, by))

	def slew(self, begin, by, rate):
		end = begin + abs(by) * S // rate
		self._go_on(begin, 0, self.base + (rate if by > 0 else -rate))
		self._go_on(end, 0, self.base)
		self.slews.append((begin, end, rate))
		return end


def slew_some(draw, clock, seconds, longest, period):
	t = int(draw.uniform(0.1, 0.5) * seconds * S)
	for _ in range(draw.choice([1, 1, 2, 3])):
		rate = int(10**draw.uniform(5.85, 7.95))
		least = max(4 * longest, 6 * period * rate // S)
		by = min(int(least * 10**draw.uniform(0, 1.7)), rate * seconds // 5)
		if t + by * S // rate > 0.9 * seconds * S:
			return
		t = clock.slew(t, draw.choice([-1, 1]) * by, rate) + int(draw.uniform(0.01, 0.2) * seconds * S)


def write(rows):
	with open('messages.csv', 'w', encoding='utf-8') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		f.writelines(f'c{who},c{whom},{sent},{received}\n' for _, who, whom, sent, received in rows)


def messages(draw, clocks, pairs, seconds, period, delays, silent=()):
	rows = []
	for (a, b), between in zip(pairs, delays):
		for who, whom in ((a, b), (b, a)):
			begin, end = dict(silent).get((who, whom), (0, 0))
			t = 0
			while t < seconds * S:
				t += int(draw.expovariate(1 / period)) + 1
				if not begin < t < end:
					rows.append((t, who, whom, clocks[who].at(t), clocks[whom].at(t + draw.randrange(*between))))
	write(sorted(rows))


def bounds(unskew, k, clocks, times):
	"""lo and hi of what the reference showed at some moments, None where nothing is known."""
	r = run(unskew, 'convert', 'clocks.json', '--clock', f'c{k}', *(str(clocks[k].at(t)) for t in times))
	found = [[None if bound == '-' else int(bound) for bound in line.split('\t')[2:4]] for line in r.stdout.splitlines()]
	if len(found) != len(times):
		raise AssertionError(f'convert: {r.stderr.strip()}')
	return found


def misses(unskew, k, reference, clocks, times):
	"""By how much the band excludes the truth at some moments."""
	found = []
	for t, (lo, hi) in zip(times, bounds(unskew, k, clocks, times)):
		true = clocks[reference].at(t)
		found.append(max(lo - true if lo is not None else 0, true - hi if hi is not None else 0, 0))
	return found


def ask(unskew, clocks, seconds, judged=lambda t: True, options=()):
	"""What sync says of messages.csv; of each clock that has a band at how many moments it excludes the truth, and by how much at
	most; at how many moments of all."""
	r = run(unskew, 'sync', '-q', '--json', 'messages.csv', '-o', 'clocks.json', *options)
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: {r.stderr.strip()}')
	with open('clocks.json', encoding='utf-8') as f:
		answer = json.load(f)['clocks']
	times = [t for t in (seconds * S * i // 400 for i in range(8, 393)) if judged(t)]
	found = [misses(unskew, k, int(c['reference'][1:]), clocks, times)
	         for k, c in enumerate(answer) if c['quality'] == 'bounded']
	return answer, [(sum(out > 0 for out in of), max(of)) for of in found], len(found) * len(times)


def silences(draw, pairs, seconds):
	found = []
	for a, b in pairs:
		begin = draw.uniform(0.1, 0.5)
		found.append((draw.choice([(a, b), (b, a)]),
		              (int(begin * seconds * S), int((begin + draw.uniform(0.2, 0.5)) * seconds * S))))
	return found


def in_silence(clocks, silent):
	"""What hides while messages go one way: what the skew limit allows, and slews there and back."""
	slews = [x for c in clocks for x in c.slews]
	longest = max((end - begin for _, (begin, end) in silent), default=0)
	hidden = [(end - begin) * rate // S for begin, end, rate in slews
	          if any(begin < until and since < end for _, (since, until) in silent)]
	return longest // 2000 + (sum(hidden) if len(slews) > 1 else 0)


def make(draw, one_way=False):
	"""Clocks, how many of them are in a row, for how long, and what messages hide of a slew's ends; writes messages.csv."""
	n, seconds, period = draw.choice([2, 2, 3, 4]), draw.choice([10, 30]), draw.choice([10, 50, 250]) * 10**6
	least = int(10**draw.uniform(4.3, 5.7))
	delays = least, int(least * draw.uniform(1.1, 3))
	clocks = [Clock(draw.randrange(-S, S), draw.randrange(-50_000, 50_000)) for _ in range(n)]
	chain = draw.random() < 0.5
	for k in draw.sample(range(n), draw.choice([1, 1, min(2, n)])):
		slew_some(draw, clocks[k], seconds, delays[1], period)
	pairs = [(k - 1 if chain else 0, k) for k in range(1, n)]
	silent = silences(draw, pairs, seconds) if one_way else ()
	messages(draw, clocks, pairs, seconds, period, [delays] * (n - 1), silent)
	fastest = max((rate for c in clocks for _, _, rate in c.slews), default=0)
	return clocks, n if chain else 2, seconds, 2 * delays[1] + 3 * period * fastest // S + in_silence(clocks, silent)


def judge(unskew, seed, one_way=False):
	clocks, row, seconds, hidden = make(random.Random(f'slewed {seed}'), one_way)
	answer, missed, asked = ask(unskew, clocks, seconds)
	worst = max((worst for _, worst in missed), default=0)
	why = f'a band excludes the truth by {worst / 1e6} ms; messages hide {hidden / 1e6} ms' if worst > row * hidden else None
	slews = sum(len(c.slews) for c in clocks)
	steps = sum(j['kind'] == 'jump' for c in answer for j in c.get('jumps', []))
	return why, slews, steps, sum(some for some, _ in missed), asked, len(missed), len(clocks) - 1


if __name__ == '__main__':
	few = lambda cases, slews, steps, missed, asked, bounded, clocks: cases >= 40 and (
		not slews or steps > 2 * slews or 1000 * missed > asked or 100 * bounded < 95 * clocks)
	sys.exit(trials(judge, 100, 'slews', 'steps told', 'moments outside of bands', 'moments', 'clocks have a band', 'clocks', wrong=few))
