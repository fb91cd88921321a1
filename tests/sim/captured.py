#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""captured.py UNSKEW [--count N] [--seed S] [--jobs J]: captures of networks that do everything at once, against truth.

In    nothing: what `unskew simulate` is asked for is drawn, stacks, networks, links and clocks that are set now and then
Out   cases in which a band excludes the truth, though the answer names every step, or one that messages show is not named
Why   campaigns judge messages; captures have to be matched first, where clocks are set and records are late
Not   how clocks wander, and what captures lack (campaign.c); the draws, which are those of tests/answers

Steps of less than 20 ms may lie within what packets are under way for, and of those in one bracket the answer assumes that they go one
way. A case is made by its seed alone; --keep FOLDER writes those that fail.
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'answers'))

import simulated
from asked import run, trials

# Clocks run at constant rates, and captures begin with them, so that every moment of the truth is one of the answer.
WITHOUT = ('--wander-ppb', '--flicker-ppb', '--temperature-ppm', '--temperature-period', '--poll', '--slew-ppm', '--late', '--suspend')
PLENTY = 8  # times as many packets: some before and behind each step
SMALL = 20_000_000


def simulate(unskew, *words, real=simulated.run):
	pairs, i = [], 0
	while i < len(words):
		n = 2 if i + 1 < len(words) and not words[i + 1].startswith('--') else 1
		pairs.append(words[i:i + n])
		i += n
	kept = [p for p in pairs if p[0] not in WITHOUT]
	real(unskew, *(w for p in kept for w in ((p[0], str(PLENTY * float(p[1]))) if p[0] == '--rate' else p)))


def epochs_of(shown, clock):
	"""Where in the truth each epoch of the answer begins, and their end."""
	out, i = [0], 0
	for back in clock.get('set_back', []):
		before, after = int(back['from_ns']), int(back['to_ns'])
		i = next((k for k in range(i + 1, len(shown)) if shown[k] < shown[k - 1] and shown[k] <= after and shown[k - 1] >= before), None)
		if i is None:
			return None
		out.append(i)
	return out + [len(shown)]


def when(truth, shown, within, stamp, last):
	"""The true time at which a clock showed a stamp, of samples [within), at the earliest or at the latest."""
	first, end = within
	if last:
		i = next((k for k in reversed(range(first, end)) if shown[k] < stamp), first - 1) + 1
	else:
		i = next((k for k in range(first, end) if shown[k] > stamp), end) - 1
	return truth[min(max(0, i), len(truth) - 1)]


def brackets(truth, answer, step):
	"""Those of the answer in which a step may be, not only a rate that changes: [(clock, jump)]."""
	out = []
	for e in answer['clocks']:
		shown = truth['clock_ns'][e['name']]
		begins = epochs_of(shown, e)
		for j in e['jumps'] if begins else []:
			first, last = j.get('epoch', 0), j.get('end_epoch', j.get('epoch', 0))
			begin = when(truth['true_ns'], shown, begins[first:first + 2], int(j['after_local_ns']), False)
			end = when(truth['true_ns'], shown, begins[last:last + 2], int(j['before_local_ns']), True)
			if j['kind'] == 'jump' and begin <= step['true_ns'] <= end:
				out.append((e['name'], j))
	return out


def is_within(truth, step, name, jump):
	"""Of the stamped clock: what it showed just before and behind the step lies in the bracket."""
	i = truth['true_ns'].index(step['true_ns'])
	shown = truth['clock_ns'][name][i - 1:i + 1]
	return name != step['clock'] or int(jump['after_local_ns']) <= min(shown) and max(shown) <= int(jump['before_local_ns'])


def read(truth, answer):
	with open(truth, encoding='utf-8') as f, open(answer, encoding='utf-8') as g:
		truth, answer = json.load(f), json.load(g)
	truth['true_ns'] = [int(t) for t in truth['true_ns']]
	truth['clock_ns'] = {n: [int(t) for t in row] for n, row in truth['clock_ns'].items()}
	truth['jumps'] = [{'clock': j['clock'], 'true_ns': int(j['true_ns']), 'size_ns': int(j['size_ns'])} for j in truth['jumps']]
	return truth, answer


def told(truth):
	return ', '.join(f"{j['clock']} {(j['true_ns'] - truth['true_ns'][0]) / 1e9:.3f} s {j['size_ns'] / 1e6:+.3f} ms" for j in truth['jumps'])


def is_assumed(truth, answer, small=SMALL):
	"""Does the answer name every step, and in no bracket some that go opposite ways? A large one that it does not name is no excuse,
	a small one is that is not named, with all that it changed, among its own clock's; if it is the reference's, among those of all others.

	Between two epochs of a clock it alone was stepped, and by much, and copies of segments may be other ones where the answer says so.
	"""
	ways, references = {}, [e for e in answer['clocks'] if e['quality'] == 'reference']
	if any('may be paired with the wrong copy' in note for note in answer['notes']):
		return False
	for step in truth['jumps']:
		around = brackets(truth, answer, step)
		named = [(name, j) for name, j in around if step['clock'] in (j['of'], j.get('or'))]
		between = any(j.get('epoch', 0) != j.get('end_epoch', 0) for _, j in around)
		others = [e['name'] for e in answer['clocks'] if e['quality'] == 'bounded']
		of_reference = references and step['clock'] == references[0]['name']
		own = {name for name, j in named if is_within(truth, step, name, j)}.issuperset(others if of_reference else [step['clock']])
		if (not named and between) or (abs(step['size_ns']) < small and not (named and own)):
			return False
		for name, j in named:
			ways.setdefault((name, id(j)), set()).add((step['size_ns'] > 0) == (step['clock'] == name))
			if abs(step['size_ns']) < small and j.get('epoch', 0) != j.get('end_epoch', 0):
				return False
	return all(len(w) == 1 for w in ways.values())


def judge(unskew, seed):
	draw = random.Random(f'captured {seed}')
	try:
		names, ending, _, _ = simulated.captures(unskew, draw, seed)
	except AssertionError:  # no clock shows less than 0
		return '', 0, True
	traces = [p for p in (f'in/{n}.{ending}' for n in names) if os.path.exists(p)]
	r = run(unskew, 'sync', *traces, '--truth', 'in/truth.json', '-o', 'clocks.json', '--force')
	if r.returncode not in (0, 3):
		raise AssertionError(f'refused: {r.stderr.strip()[:200]}')
	said = [line for line in r.stdout.splitlines() if line.startswith('Truth:')]
	truth, answer = read('in/truth.json', 'clocks.json')
	held, assumed = sum('holds the truth' in line for line in said), is_assumed(truth, answer)
	if assumed and any('MISSES' in line for line in said):
		raise AssertionError(' '.join(line for line in said if 'MISSES' in line))
	return '', held, not assumed


def main():
	simulated.run = simulate
	return trials(judge, 60, 'clocks have bands that hold the truth throughout', 'cases are other than their answers assume',
		wrong=lambda count, held, other: held < count // 2 or other > 2 + count // 2)


if __name__ == '__main__':
	sys.exit(main())
