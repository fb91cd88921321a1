#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tables.py UNSKEW [--count N] [--seed S] [--jobs J]: tables of clocks that are set, sorted by a column, shuffled, or as recorded.

In    nothing: one table of messages of two to four clocks, of which one or two are set by 10 ms to 10 s within 10 s; now and then the
      reference is one of these
Out   cases in which a band excludes the truth, though the answer names every step (captured.py)
Why   an order that is none of time mixes what a clock showed before and after it was set back, up to all that there is
Not   captures, queues, smaller steps (reordered.py)
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'answers'))

import captured
from asked import run, trials

ORDERS = {
	'sent': lambda draw, rows: rows.sort(key=lambda row: int(row.split(',')[2])),
	'received': lambda draw, rows: rows.sort(key=lambda row: int(row.split(',')[3])),
	'shuffled': lambda draw, rows: draw.shuffle(rows),
	'recorded': lambda draw, rows: None,
}


def simulate(unskew, draw, seed, clocks, us, seconds, rates, steps):
	"""Messages that are under way for `us` at least, so many a second; steps() draws (clock, second, ns) of each."""
	words = ['--hosts', str(clocks), '--seconds', str(seconds), '--rate', str(draw.choice(rates)), '--seed', str(seed),
		'--dmin', f'{us}us', '--tail', f'{us}us', '--format', 'table',
		'--offset', ','.join(f'{draw.randrange(-10**6, 10**6)}us' for _ in range(clocks)),
		'--drift-ppm', ','.join(str(draw.randrange(-50, 50)) for _ in range(clocks))]
	for clock, second, ns in steps():
		words += ['--step', f'host{clock}@{second:.3f}s:{ns}ns']
	r = run(unskew, 'simulate', '-q', '-o', 'in', *words)
	if r.returncode:
		raise AssertionError(f'simulate: {r.stderr.strip()}')


def is_named(answer, message):
	found = (o for pair in answer['pairs'] for o in pair['outliers'])
	return any((o['sender'], o['receiver'], o['sent_ns'], o['received_ns']) == message for o in found)


def judged(unskew, draw, order, delay_ns, wrong=(), often_asked=0.3):
	"""How many bands hold the truth, how many do not and are excused, and the clocks of the answer. Nobody knows of a message that is wrong
	and no outlier. So often one of the clocks that were set is to be the reference."""
	with open('in/messages.csv', encoding='utf-8') as f:
		head, *rows = f.read().splitlines()
	ORDERS[order](draw, rows)
	with open('in/messages.csv', 'w', encoding='utf-8') as f:
		f.write('\n'.join([head, *rows, '']))
	with open('in/truth.json', encoding='utf-8') as f:
		stepped = [step['clock'] for step in json.load(f)['jumps']]
	asked = ['-r', draw.choice(stepped)] if stepped and draw.random() < often_asked else []
	r = run(unskew, 'sync', 'in/messages.csv', '--truth', 'in/truth.json', '-o', 'clocks.json', *asked)
	if r.returncode not in (0, 3):
		raise AssertionError(f'sync: {r.stderr.strip()}')
	found = [line for line in r.stdout.splitlines() if line.startswith('Truth:')]
	missed = [line for line in found if 'MISSES' in line]
	truth, answer = captured.read('in/truth.json', 'clocks.json')
	known = all(is_named(answer, message) for message in wrong)
	if missed and known and captured.is_assumed(truth, answer, captured.SMALL + 8 * delay_ns):
		raise AssertionError(f'{order}, delay {delay_ns / 1e6} ms, {captured.told(truth)}: {" ".join(missed)}')
	return sum('holds the truth' in line for line in found), len(missed), answer['clocks']


def step(draw, clocks):
	return draw.randrange(clocks), draw.uniform(1.5, 8.5), draw.choice([-1, 1]) * int(10**draw.uniform(7, 10))


def judge(unskew, seed):
	draw = random.Random(f'ts {seed}')
	clocks, us = draw.choice([2, 2, 3, 4]), draw.choice([100, 1_000, 5_000, 20_000])
	steps = lambda: [step(draw, clocks) for _ in range(draw.choice([1, 1, 2]))]
	simulate(unskew, draw, seed, clocks, us, 10, [5, 20, 100], steps)
	held, excused, _ = judged(unskew, draw, draw.choice(list(ORDERS)), 1000 * us)
	return None, held, excused


if __name__ == '__main__':
	few = lambda cases, held, excused: cases >= 40 and (held < cases or 10 * excused > held)
	sys.exit(trials(judge, 400, 'bands hold the truth', 'do not, as a step is not named', wrong=few))
