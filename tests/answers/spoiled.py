# SPDX-License-Identifier: MIT
"""spoiled.py - what happens to files: logs that lack lines, tables of which a pair is of other clocks, bytes that are others"""
import csv


def wear(draw, lines):
	head, rows = lines[:2], lines[2:]
	for _ in range(draw.choice([1, 1, 2, 3])):
		at = draw.randrange(1, len(rows))
		end = at + draw.choice([1, 3, len(rows) // 4, len(rows)])
		how = draw.choice(['hole', 'hole', 'step', 'step', 'comment', 'begun late', 'ended early', 'not told', 'cut'])
		steps = [i for i, row in enumerate(rows) if row.rstrip().endswith('set')]
		if how == 'hole':
			rows[at:end] = []
		elif how == 'step' and steps:  # nothing tells of it but stamps
			at = draw.choice(steps)
			rows[max(1, at - draw.randrange(3)):at + draw.randrange(1, 4)] = []
		elif how == 'comment':
			rows.insert(at, draw.choice(['# nothing happened\n', head[0], '\n']))
		elif how == 'begun late':
			rows = rows[at // 2:]
		elif how == 'ended early':
			rows = rows[:-(at // 2 + 1)]
		elif how == 'not told':
			rows = [r.rsplit(',', 1)[0] + ',\n' if draw.random() < 0.5 and r.count(',') > 3 else r for r in rows]
		elif len(rows[-1]) > 9:
			rows[-1] = rows[-1][:len(rows[-1]) // 2]
		if len(rows) < 4:
			break
	return head + rows


def bend(draw, path):
	"""One pair's messages are of another clock of one of both: each pair goes with itself, and a loop with nothing."""
	with open(path, newline='') as f:
		head, *rows = csv.reader(f)
	who, whom, sent, received = (head.index(x) for x in ('sender', 'receiver', 'sent_ns', 'received_ns'))
	if rows:
		a, b = (draw.choice(rows)[i] for i in (who, whom))
		by, since = draw.choice([-1, 1]) * int(10 ** draw.uniform(4, 9)), draw.choice([0, 0, len(rows) // 2])
		for row in rows[since:]:
			if {row[who], row[whom]} == {a, b}:
				at = sent if row[who] == b else received
				row[at] = str(int(row[at]) + by)
	with open(path, 'w', newline='') as f:
		csv.writer(f, lineterminator='\n').writerows([head, *rows])


def break_bytes(draw, path):
	"""Some are others, or missing; of what is packed none, as that tells when it was."""
	with open(path, 'rb') as f:
		data = bytearray(f.read())
	if data[:2] == b'\x1f\x8b':
		return
	for _ in range(draw.choice([1, 1, 3, 20])):
		at, how = draw.randrange(len(data)), draw.choice(['bit', 'byte', 'lost', 'cut'])
		if how == 'bit':
			data[at] ^= 1 << draw.randrange(8)
		elif how == 'byte':
			data[at] = draw.choice(b'\0\n",{}]:0x\xff')
		elif how == 'lost' and len(data) > 1000:
			del data[at:at + draw.choice([1, 20, 500])]
		elif draw.random() < 0.3:
			del data[at + 1:]
	with open(path, 'wb') as f:
		f.write(data)
