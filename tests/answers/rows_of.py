# SPDX-License-Identifier: MIT
"""rows_of.py - tables of spans, and of messages whose delays depend on their sizes"""
import csv


def spans(draw, path):
	"""Calls, and calls that these make, as a table: its stamps, [(clock, ns)]."""
	rows, number = [], 0
	clocks = {f's{i}': (draw.randrange(-10**9, 10**9), draw.uniform(-3e-5, 3e-5)) for i in range(draw.choice([2, 3, 5]))}
	steps = {c: (draw.randrange(60 * 10**9), -int(10 ** draw.uniform(5, 10))) for c in clocks if draw.random() < 0.2}

	def shows(c, t):
		at, by = steps.get(c, (0, 0))
		return 10**18 + clocks[c][0] + t + int(t * clocks[c][1]) + (by if t >= at else 0)

	for trace in range(draw.choice([10, 60])):
		t, at, parent = trace * 10**9, draw.choice(list(clocks)), ''
		for depth in range(draw.choice([1, 2, 4])):
			to, long = draw.choice([c for c in clocks if c != at]), draw.randrange(10**6, 10**8) >> depth
			number += 2
			ids = [f'{number:x}', f'{number + 1:x}']
			rows.append([at, f'{trace + 1:032x}', ids[0], parent, 'client', shows(at, t), shows(at, t + long), f'call {depth}'])
			wait = 20_000 + int(draw.expovariate(1e-5)) % (long // 4 + 1)
			t, long = t + wait, long - 2 * wait
			rows.append([to, f'{trace + 1:032x}', ids[1], ids[0], draw.choice(['server', 'server', 'SERVER', '']), shows(to, t), shows(to, t + max(0, long)), f'call {depth}'])
			at, parent = to, ids[1]
	draw.shuffle(rows)
	with open(path, 'w', newline='', encoding='utf-8') as f:
		csv.writer(f, lineterminator='\n').writerows([['clock', 'trace', 'span', 'parent', 'kind', 'start_ns', 'end_ns', 'name'], *rows])
	return [(row[0], ns) for row in rows for ns in row[5:7]]


def sized(draw, path):
	"""Questions and answers of any sizes, the first byte and each further one of which takes its time: what none takes less than."""
	least, first, each = draw.choice([300, 40_000]), draw.choice([0, 500, 20_000]), draw.choice([0, 8, 80])
	noise, gone, rows = draw.choice([1, 100, 20_000]), (draw.randrange(-10**8, 10**8), draw.uniform(-3e-5, 3e-5)), []
	for k in range(draw.choice([40, 200])):
		t = 10**18 + k * 10**8 + draw.randrange(10**7)
		for a, b in (('x', 'y'), ('y', 'x')):
			size = draw.choice([0, 0, 1, 64, 64, 500, 1400])
			end = t + least + first * (size > 0) + each * size + int(draw.expovariate(1 / noise))
			stamps = [at + (gone[0] + int((at - 10**18) * gone[1])) * (name == 'y') for name, at in ((a, t), (b, end))]
			rows.append(f'{a},{b},{stamps[0]},{stamps[1]},{size}\n')
			t = end + draw.choice([1000, 50_000])
	with open(path, 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns,bytes\n' + ''.join(rows))
	return least


def bursts(draw):
	"""Messages of pairs that talk now and then, of clocks that run on but for one, now and then: rows as those of row_order.py."""
	n, span, least = draw.choice([2, 3, 4]), 10**draw.choice([9, 11]), draw.choice([10**4, 10**6])
	clocks = [(draw.randrange(-10**9, 10**9), draw.uniform(-3e-5, 3e-5)) for _ in range(n)]
	fell, at, by = draw.choice([None, None, 0, 1]), draw.randrange(span), int(span * draw.choice([0.01, 0.3, 1.5]))
	rows = []

	def shows(c, t):
		return 10**18 + clocks[c][0] + t + int(t * clocks[c][1]) - by * (c == fell and t >= at)

	for a in range(n):
		for b in range(a):
			for begin in (draw.randrange(span) for _ in range(draw.choice([1, 2, 3]))):
				for _ in range(draw.choice([3, 6, 12])):
					x, y = draw.sample((a, b), 2)
					t = begin + draw.randrange(span // draw.choice([20, 200]))
					u = t + least + int(draw.expovariate(1 / least))
					rows.append((t, f'c{x}', f'c{y}', shows(x, t), shows(y, u), draw.choice([84, 84, 1460])))
	return [row[1:] for row in sorted(rows)]
