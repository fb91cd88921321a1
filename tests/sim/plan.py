#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plan.py UNSKEW [FIRST [COUNT]] - does more probing give what `plan` forecast?

A network is recorded and planned for. Then the same clocks exchange as many more messages as the plan
says, and what `sync` makes of both together is held against the forecast: on the link that is said to
help most, and on all links that a wanted width is said to need. A case is made by its seed alone.
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

NEAR = 0.15  # of the forecast


def run(*words):
	done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
	if done.returncode not in (0, 3):
		sys.exit(f'{" ".join(words)}: {done.stderr}')
	return done.stdout


def options(seed):
	draw = random.Random(seed)
	hosts = draw.choice([2, 3, 4, 6])
	least = draw.choice([10, 40, 200])
	tail = least * draw.choice([0.3, 1, 3])
	rate = draw.choice([0.5, 2, 10])
	return rate, ['--seed', str(seed), '--hosts', str(hosts), '--topology', draw.choice(['chain', 'star', 'ring', 'mesh']),
		'--format', 'table', '--seconds', '120', '--offset', '0ns', '--dmin', f'{least}us', '--tail', f'{tail:g}us',
		'--drift-ppm', ','.join(f'{draw.uniform(-5, 5):.3f}' for _ in range(hosts))]


def rows(unskew, folder, words):
	run(unskew, 'simulate', '-q', '-f', '-o', folder, *words)
	with open(os.path.join(folder, 'messages.csv'), encoding='utf-8') as f:
		return list(csv.DictReader(f))


def widths(unskew, folder, messages, reference):
	"""Mean half widths by clock."""
	table = os.path.join(folder, 'all.csv')
	messages.sort(key=lambda m: int(m['sent_ns']))
	with open(table, 'w', encoding='utf-8') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		f.writelines(f"{m['sender']},{m['receiver']},{m['sent_ns']},{m['received_ns']}\n" for m in messages)
	out = os.path.join(folder, 'all.json')
	run(unskew, 'sync', '-q', '-f', '-o', out, '--reference', reference, table)
	with open(out, encoding='utf-8') as f:
		clocks = json.load(f)['clocks']
	return {c['name']: int(c['half_width_ns']['mean']) for c in clocks if c['quality'] == 'bounded'}


def added(unskew, folder, words, links):
	"""Messages of the same clocks on some links, each with its period in ns."""
	out = []
	for (a, b), period in links:
		for m in rows(unskew, folder, [*words, '--rate', str(1e9 / period)]):
			if {m['sender'], m['receiver']} == {a, b}:
				out.append(m)
	return out


def judge(unskew, seed):
	"""Ratios of what came true to the forecasts, and what is wrong."""
	rate, words = options(seed)
	with tempfile.TemporaryDirectory() as folder:
		base = rows(unskew, folder, [*words, '--rate', str(rate)])
		table = os.path.join(folder, 'messages.csv')
		now = json.loads(run(unskew, 'plan', '--json', table))
		want = max(int(c['half_width_ns'] or 0) for c in now['clocks'])
		least = max(int(c['least_half_width_ns'] or 0) for c in now['clocks'])
		plan = json.loads(run(unskew, 'plan', '--json', '--want', f'{(want + least) // 2}ns', table))
		reference = [c['name'] for c in plan['clocks'] if c['half_width_ns'] == '0'][0]
		best = plan['links'][0]
		asked = [([((best['a'], best['b']), int(best['period_ns']))], best['widest'], best['widest_half_width_ns'])]
		if plan['wanted']['reached']:
			links = [((x['a'], x['b']), int(x['period_ns'])) for x in plan['wanted']['links']]
			half, name = max((int(h), c['name']) for h, c in zip(plan['wanted']['clock_half_width_ns'], plan['clocks']))
			asked.append((links, name, str(half)))
		ratios = []
		for links, name, forecast in asked:
			came = widths(unskew, folder, base + added(unskew, folder, words, links), reference)
			ratios.append(came[name] / int(forecast))
	bad = [f'{x:.3f}' for x in ratios if abs(x - 1) > NEAR]
	text = f'{" ".join(words)} --rate {rate}: {", ".join(bad)} of the forecast'
	return ratios, '' if plan['wanted']['reached'] and not bad else text + ('' if plan['wanted']['reached'] else '; not reached')


def main():
	unskew = sys.argv[1]
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 8)
	all_ratios, bad = [], 0
	for seed in range(first, first + count):
		ratios, wrong = judge(unskew, seed)
		all_ratios += ratios
		if wrong:
			bad += 1
			print(f'seed {seed}: {wrong}')
	print(f'{count} plans from seed {first}: {min(all_ratios):.3f} to {max(all_ratios):.3f} of the forecast came true, '
		f'{sum(all_ratios) / len(all_ratios):.3f} on the mean; {bad} wrong')
	sys.exit(bad > 0)


main()
