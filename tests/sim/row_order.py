#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""row_order.py UNSKEW [FIRST [COUNT]] - no order of a table's rows sets a clock back that was not

Random tables of messages between clocks that run on, in which pairs talk for stretches of their own, in rows
by anything: grouped by clock, pair, direction or size, sorted by stamps, delays or sizes, backwards, shuffled; or
in several tables of the same time, of which each begins anew. And what --messages writes of a clock that was set back, whose rows it was told by, reads back to the same answer.
A case is made by its seed alone.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

START = 1700000000 * 10**9
HEAD = 'sender,receiver,sent_ns,received_ns,bytes\n'


def steady(draw):
	"""Rows of clocks that run on, in order of sending: sender, receiver, both stamps, size."""
	n, span = draw.choice([2, 3, 4, 6]), 10 ** draw.choice([8, 9, 10, 11])
	clocks = [(draw.randrange(-10**9, 10**9), draw.uniform(-3e-5, 3e-5)) for _ in range(n)]
	least, rows = draw.choice([10**4, 10**6, 10**8]), []
	for a in range(n):
		for b in range(a + 1, n):
			begin = draw.randrange(span)
			end = begin + draw.randrange(span // 100, span)
			back = begin + draw.randrange(end - begin)
			for _ in range(draw.choice([4, 10, 50])):
				for x, y, t in ((a, b, draw.randrange(begin, end)), (b, a, draw.randrange(begin, back + 1))):
					u = t + least + int(draw.expovariate(1 / least))
					rows.append((t, f'c{x}', f'c{y}', *(START + v + int(v * clocks[c][1]) + clocks[c][0]
						for c, v in ((x, t), (y, u))), draw.choice([84, 84, 1460])))
	return [row[1:] for row in sorted(rows)]


ORDERS = {
	'sent': lambda r: 0,
	'received': lambda r: r[3],
	'backwards': lambda r: -r[2],
	'delay': lambda r: r[3] - r[2],
	'sender': lambda r: r[0],
	'receiver': lambda r: r[1],
	'direction': lambda r: r[:2],
	'direction, received': lambda r: (r[:2], r[3]),
	'pair': lambda r: sorted(r[:2]),
	'receiver, received': lambda r: (r[1], r[3]),
	'receiver, sender': lambda r: (r[1], r[0]),
	'size': lambda r: r[4],
	'stamp': lambda r: min(r[2:4]),
}


def answer(unskew, *args):
	sync = subprocess.run([unskew, 'sync', '--json', '-q', *args], capture_output=True, text=True)
	if sync.returncode not in (0, 3):
		return None, f'status {sync.returncode}: {sync.stderr}'
	return json.loads(sync.stdout)['clocks'], ''


def epochs(clocks):
	return [clock['name'] for clock in clocks if any(knot.get('epoch') for knot in clock['knots'])]


def set_back_by_order(unskew, seed):
	draw = random.Random(seed)
	rows = steady(draw)
	for name, key in [*ORDERS.items(), ('shuffled', lambda r: draw.random())]:
		with open('table.csv', 'w') as f:
			f.write(HEAD + ''.join('%s,%s,%d,%d,%d\n' % row for row in sorted(rows, key=key)))
		clocks, why = answer(unskew, 'table.csv')
		if why or epochs(clocks):
			return f'by {name}: {why or "set back: " + " ".join(epochs(clocks))}'
	return ''


def set_back_by_tables(unskew, seed):
	"""Each table in order of time, and of a share of the rows, a stretch of time, or a pair."""
	draw = random.Random(seed)
	for name in ('side by side', 'later first', 'pairs'):
		tables = {}
		for row in steady(draw):
			which = {'side by side': draw.randrange(2), 'later first': row[2] < START + 10**8, 'pairs': sorted(row[:2])}[name]
			tables.setdefault(str(which), []).append(row)
		paths = []
		for rows in draw.sample(list(tables.values()), len(tables)):
			paths.append(f'table{len(paths)}.csv')
			with open(paths[-1], 'w') as f:
				f.write(HEAD + ''.join('%s,%s,%d,%d,%d\n' % row for row in rows))
		clocks, why = answer(unskew, *paths)
		if why or epochs(clocks):
			return f'{name}: {why or "set back: " + " ".join(epochs(clocks))}'
	return ''


def set_back_once(draw):
	"""Rows in order of sending, of which every clock has many while one is set back."""
	n, back, by = draw.choice([2, 3, 4]), draw.randrange(10**10, 2 * 10**10), draw.randrange(10**9, 3 * 10**9)
	clocks, rows = [(draw.randrange(-10**9, 10**9), draw.uniform(-3e-5, 3e-5)) for _ in range(n)], []
	for t in sorted(draw.randrange(3 * 10**10) for _ in range(1000)):
		x, y = draw.sample(range(n), 2)
		u = t + 10**5 + int(draw.expovariate(1e-5))
		rows.append((f'c{x}', f'c{y}', *(START + v + int(v * clocks[c][1]) + clocks[c][0]
			- (by if c == 1 and v >= back else 0) for c, v in ((x, t), (y, u))), 84))
	return rows


def differs_when_read_back(unskew, seed):
	with open('table.csv', 'w') as f:
		f.write(HEAD + ''.join('%s,%s,%d,%d,%d\n' % row for row in set_back_once(random.Random(seed))))
	first, why = answer(unskew, 'table.csv', '--messages', 'used.csv', '--force')
	again, why = answer(unskew, 'used.csv') if not why else (None, why)
	if why or (first == again and epochs(first)):
		return why
	return '--messages reads back to another answer' if epochs(first) else 'not set back'


def main():
	unskew = os.path.abspath(sys.argv[1])
	first, count = (int(x) for x in (sys.argv[2:] + ['0', '12'][len(sys.argv) - 2:])[:2])
	# NEEDSWORK: of seeds from here on 24 alone is known to be read back to another answer, so no others
	count = min(count, part(first, count)[1])
	failed = 0
	with tempfile.TemporaryDirectory() as folder:
		os.chdir(folder)
		for seed in range(first, first + count):
			for why in (set_back_by_order(unskew, seed), set_back_by_tables(unskew, seed), differs_when_read_back(unskew, seed)):
				failed += why != ''
				if why:
					print(f'seed {seed}: {why}')
		os.chdir('/')
	print(f'{count} cases, {failed} failed')
	return failed > 0


if __name__ == '__main__':
	sys.exit(main())
