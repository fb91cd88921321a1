#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""set_back.py UNSKEW [FIRST [COUNT]] - what apply writes has no inversion that sync did not tell

Random tables of messages between clocks that are set back and forward, in rows by sending or by
receipt, with delays short and long against the time between them. Shares nothing with the
simulator. A case is made by its seed alone.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

START = 1700000000 * 10**9


def table(seed):
	draw = random.Random(seed)
	n, messages = draw.choice([2, 2, 3, 4]), draw.choice([40, 100, 300, 600])
	gap = 10 ** draw.choice([5, 6, 7])
	sizes = [7 * 10**6, 10**9, 3 * 10**8, 5 * 10**9, messages * gap // 3 + 1, 2 * messages * gap]
	clocks = []
	for i in range(n):
		most = 10 ** draw.choice([6, 9, 10])
		clocks.append((draw.randrange(-most, most) if i else 0, draw.uniform(-3e-5, 3e-5),
			[(draw.randrange(messages * gap), draw.choice([1, 1, 1, -1]) * draw.choice(sizes))
				for _ in range(draw.choice([0, 0, 1, 1, 2]))]))

	def shows(clock, t):
		offset, skew, steps = clocks[clock]
		return START + t + int(t * skew) + offset - sum(size for when, size in steps if t >= when)

	rows = []
	for i in range(messages):
		a, b = draw.sample(range(n), 2)
		sent = i * gap + draw.randrange(gap)
		received = sent + 20000 + int(draw.expovariate(1 / (gap * draw.choice([0.1, 0.1, 3]))))
		rows.append((sent, received, f'c{a},c{b},{shows(a, sent)},{shows(b, received)}'))
	by = 0 if draw.random() < 0.3 else 1
	rows.sort(key=lambda row: row[by])
	return 'sender,receiver,sent_ns,received_ns\n' + ''.join(row[2] + '\n' for row in rows)


def told(answer):
	"""How many inversions remain, as the terminal says."""
	for line in answer.splitlines():
		if line.startswith('Causality violations '):
			return int(line.split('before correction, ')[1].split()[0].rstrip('.').replace(',', ''))
	return 0


def judge(unskew, seed):
	"""What is wrong with the case; '' if nothing is."""
	for name in ('clocks.json', 'now.csv'):
		if os.path.exists(name):
			os.unlink(name)
	with open('table.csv', 'w') as f:
		f.write(table(seed))
	sync = subprocess.run([unskew, 'sync', 'table.csv', '-o', 'clocks.json'], capture_output=True, text=True)
	if sync.returncode not in (0, 3):
		return f'sync: status {sync.returncode}: {sync.stderr}'
	apply = subprocess.run([unskew, 'apply', 'clocks.json', 'table.csv', '-o', 'now.csv'],
		capture_output=True, text=True)
	if apply.returncode:
		# A clock, or an epoch of one, that nothing ties has no correction.
		return '' if apply.returncode == 1 and ('so its stamps cannot' in apply.stderr or
			'no chain of messages' in apply.stderr) else f'apply: status {apply.returncode}: {apply.stderr}'
	with open('clocks.json') as f:
		clocks = json.load(f)
	for clock in clocks['clocks']:
		knots = clock['knots'] if clock['quality'] == 'bounded' else []
		for knot in (k for k in knots if k['lo_ns'] is not None and k['hi_ns'] is not None):
			# No message takes less than 20 us; inside of steps stamps may be of two times.
			width = int(knot['hi_ns']) - int(knot['lo_ns'])
			if width < 10000:
				return f"{clock['name']} has a band of {width} ns at {knot['local_ns']}"
	tick = {clock['name']: int(clock['resolution_ns']) for clock in clocks['clocks']}
	with open('now.csv') as f:
		early = [row for row in csv.DictReader(f)
			if int(row['received_ns']) - int(row['sent_ns']) < -tick[row['receiver']]]
	wrong = clocks['messages']['outliers'] + told(sync.stdout)
	return f'{len(early)} inversions, {wrong} told' if len(early) > wrong else ''


def main():
	unskew = os.path.abspath(sys.argv[1])
	first, count = (int(x) for x in (sys.argv[2:] + ['0', '150'][len(sys.argv) - 2:])[:2])
	first, count = part(first, count)
	failed = 0
	with tempfile.TemporaryDirectory() as folder:
		os.chdir(folder)
		for seed in range(first, first + count):
			why = judge(unskew, seed)
			failed += why != ''
			if why:
				print(f'seed {seed}: {why}')
		os.chdir('/')
	print(f'{count} cases, {failed} failed')
	return failed > 0


if __name__ == '__main__':
	sys.exit(main())
