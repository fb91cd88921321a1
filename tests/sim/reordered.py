#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reordered.py UNSKEW [--count N] [--seed S] [--jobs J]: clocks that are set, and records that are in another order.

In    nothing: networks of queues.py, one to three steps; records of captures come in the order of queues, or are sorted by stamps;
      tables are sorted by one of their columns, or shuffled
Out   cases in which a band excludes the truth, though the answer names every step (captured.py)
Why   of a clock that was set back the order of records parts what is from before and from after; where it does not, or says something
      else, stamps of two times are mixed
Not   what is in the order in which it was recorded (captured.py, set_back.py), clocks that are not set (queues.py)

What lies within the time that messages are under way for is no step that anybody can see. A case is made by its seed alone; --keep
FOLDER writes those that fail.
"""
import os
import random
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'answers'))

import captured
import queues
from asked import trials


def steps(draw):
	def words(n):
		out = []
		for _ in range(draw.choice([1, 1, 2, 3])):
			by = draw.choice([-1, 1]) * int(10 ** draw.uniform(5, 10))
			out += ['--step', f'host{draw.randrange(n)}@{draw.uniform(1.5, 8.5):.3f}s:{by}ns']
		return out
	return words


def captures(unskew, draw, seed):
	"""Traces, what they are, and how long messages are under way at least."""
	traces, delay = queues.network(unskew, draw, seed, steps(draw))
	said = []
	for path in draw.sample(traces, draw.choice([1, 1, len(traces)])):
		head, records = queues.read(path)
		if draw.random() < 0.5:
			what, records = 'sorted', sorted(records, key=lambda r: r[0])
		else:
			what, records = queues.reorder(draw, records)
		said.append(f'{path}: {what}')
		queues.write(path, head, records)
	return traces, '; '.join(said), delay


def table(unskew, draw, seed):
	_, delay = queues.network(unskew, draw, seed, lambda n: steps(draw)(n) + ['--format', 'table'])
	with open('in/messages.csv', encoding='utf-8') as f:
		head, *rows = f.read().splitlines()
	how = draw.choice(['sent', 'received', 'shuffled', 'in order'])
	if how == 'shuffled':
		draw.shuffle(rows)
	elif how != 'in order':
		rows.sort(key=lambda row: int(row.split(',')[2 + (how == 'received')]))
	with open('in/messages.csv', 'w', encoding='utf-8') as f:
		f.write('\n'.join([head, *rows, '']))
	return ['in/messages.csv'], how, delay


def judge(unskew, seed):
	draw = random.Random(f'reordered {seed}')
	traces, said, delay = draw.choice([captures, captures, table])(unskew, draw, seed)
	found, missed = queues.judged(unskew, traces, said)
	truth, answer = captured.read('in/truth.json', 'clocks.json')
	if missed and captured.is_assumed(truth, answer, captured.SMALL + 8 * int(delay * queues.SECOND)):
		raise AssertionError(f'delay {delay * 1e3} ms, {said}, steps {captured.told(truth)}: {" ".join(missed)}')
	return None, sum('holds the truth' in line for line in found)


if __name__ == '__main__':
	sys.exit(trials(judge, 60, 'bands hold the truth'))
