# SPDX-License-Identifier: MIT
"""told.py - bands of clocks that were set, held against the truth wherever an answer assumes nothing that is not so

As networks --small has it: an answer that tells of each step, whatever as, says where a clock may have been set, or slewed.
"""
import json
import random

from asked import run
from slewed import S, misses

CUT = 1  # ns; stamps are rounded down, and so is the truth


def _tells_clock(entry, k, reference, clocks):
	"""Is each step of a clock, or of its reference, told in its entry, and none together with one of the other direction?"""
	steps = [(who, t, by) for who in (k, reference) for t, by in clocks[who].steps]
	found, behind = set(), None
	for j in entry['jumps']:
		after, before = int(j['after_local_ns']), int(j['before_local_ns'])
		if behind is None or after > behind:
			rises = set()  # what entries that follow on each other are: in part they are one bracket
		behind = before
		for who, t, by in steps:
			shown = clocks[k].at(t - 1), clocks[k].at(t)
			if f'c{who}' in (j['of'], j.get('or')) and after <= min(shown) and max(shown) <= before:
				found.add((who, t))
				rises.add((by > 0) == (who == reference))
		if len(rises) > 1:
			return False
	return len(found) == len(steps)


def tells_all(answer, clocks):
	return all(c['quality'] == 'reference' or c['reference'] and _tells_clock(c, int(c['name'][1:]), int(c['reference'][1:]), clocks)
	           for c in answer)


def _in_step(entry, stamp):
	return any(j['kind'] == 'jump' and int(j['after_local_ns']) < stamp < int(j['before_local_ns']) for j in entry['jumps'])


def held(unskew, clocks, times, *options, sure=False):
	"""Of what sync makes of messages.csv: is it judged, then why a band is wrong, or None, and at how many moments bands were held
	against the truth. times(k): at which, of clock k. sure: steps are beyond doubt, so that nothing excuses it."""
	r = run(unskew, 'sync', '-q', 'messages.csv', '-o', 'clocks.json', '-f', *options)
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: {r.stderr.strip()}')
	with open('clocks.json', encoding='utf-8') as f:
		answer = json.load(f)['clocks']
	if not sure and not tells_all(answer, clocks):
		return False, None, 0
	asked = 0
	for c in answer:
		if c['quality'] != 'bounded':
			continue
		k = int(c['name'][1:])
		moments = [t for t in times(k) if not _in_step(c, clocks[k].at(t))]
		out = misses(unskew, k, int(c['reference'][1:]), clocks, moments)
		asked += len(moments)
		if max(out, default=0) > CUT:
			at = moments[out.index(max(out))]
			outside = f"{sum(o > CUT for o in out)} of {len(out)} moments"
			return True, f"{outside} outside of the band of {c['name']}, by {max(out)} ns at {at / S:.9f} s", asked
	return True, None, asked


def judge_made(name, make, models, unskew, seed):
	"""What trials() asks of a case: make(draw) writes messages.csv, and gives its clocks and the moments to ask about; by one of the models."""
	draw = random.Random(f'{name} {seed}')
	clocks, moments = make(draw)
	judged, why, asked = held(unskew, clocks, moments, '-r', 'c0', *draw.choice(models))
	return why, judged, asked
