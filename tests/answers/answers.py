#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""answers.py UNSKEW [--bless] - does the program say the same as before, to the byte?

A row of table.txt is an input and what it is asked: generator and seed, a digest of the input, what sync finds in words
and figures, and a digest of all bytes of each command (asking.py). It holds nothing against the truth: other tests do.
--bless writes the table anew and prints which rows say something else than before. A line of a generator and a seed
alone is a new row. --keep FOLDER GENERATOR SEED leaves the case and what every command wrote there, so that two
programs can be compared. --write-otf2 PROGRAM makes OTF2 traces.
"""
import argparse
import hashlib
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

import inputs
import asked
from asking import Asked, ask_all, needs_more, written
from part import part

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'table.txt')
TOLD = 10  # rows that are other than they were before the rest is left


def digest_of(folder):
	found = hashlib.sha256()
	for part in written(folder):
		found.update(part)
	return found.hexdigest()[:7]


def width_of(clocks):
	"""Mean ± of all knots that have both bounds."""
	widths = [int(k['hi_ns']) - int(k['lo_ns']) for c in clocks for k in c.get('knots', []) if c['quality'] == 'bounded' and
		None not in (k['lo_ns'], k['hi_ns'])]
	half = sum(widths) // (2 * len(widths)) if widths else 0
	unit, size = next((u, s) for u, s in (('s', 10**9), ('ms', 10**6), ('us', 1000), ('ns', 1)) if half >= s or s == 1)
	return f'±{half / size:.4g} {unit}' if widths else 'no width'


def summary(answer):
	clocks = answer['clocks']
	if not clocks:
		return 'no answer'
	told = [answer['evaluation'][w]['inversions'] for w in ('recorded', 'corrected')]
	fine = sum(c['quality'] in ('bounded', 'reference') for c in clocks)
	m = answer['messages']
	return (f"{fine}/{len(clocks)} clocks {sum(len(c.get('knots', [])) for c in clocks)} knots {sum(len(c.get('jumps', [])) for c in clocks)} jumps "
		f"{width_of(clocks)}, {m['matched']} messages {m['outliers']} outliers {told[0]}>{told[1]} inversions")


class Program:
	def __init__(self, path, write_otf2):
		self.path = path
		text = subprocess.run([path, '--version'], capture_output=True, text=True, check=True).stdout
		self.version, built = text.split()[1], text.split('(without')[0]
		self.lacks = {w for w in ('yajl', 'babeltrace2', 'otf2', 'libtracecmd', 'CLP', 'page') if w not in built}
		if write_otf2 and os.path.exists(write_otf2):
			os.environ['WRITE_OTF2'] = write_otf2
		else:
			self.lacks.add('otf2')


class Row:
	"""What a line of the table says; digests are by what was asked."""

	def __init__(self, generator, seed, made='', said='', digests=None):
		self.generator, self.seed, self.made, self.said, self.digests = generator, seed, made, said, digests or {}

	@classmethod
	def read(cls, line):
		of, _, rest = line.partition(' | ')
		said, _, digests = rest.partition(' | ')
		generator, seed, *made = of.split()
		return cls(generator, int(seed), ''.join(made), said, dict(d.split(':') for d in digests.split()))

	def line(self):
		digests = ' '.join(f'{k}:{v}' for k, v in self.digests.items())
		return f'{self.generator} {self.seed} {self.made} | {self.said} | {digests}'

	def key(self):
		return f'{self.generator} {self.seed}'


def answer_of(program, row, folder):
	"""The row as it is now, and which commands could not be asked; what it lacks instead, if it cannot be made."""
	make, needs = inputs.INPUTS[row.generator]
	missing = [n for n in needs if n in program.lacks]
	if missing:
		return None, missing
	os.chdir(folder)
	try:
		given = make(row.seed, program.path)
		made = digest_of('.')
		a = Asked(program.path, program.version, program.lacks, given, row.key())
		if needs_more(a):
			return None, needs_more(a)
		left_out = ask_all(a)
	finally:
		os.chdir('/')
	return Row(row.generator, row.seed, made, summary(a.answer), a.digests), left_out


def work(args):
	program, line, keep = args
	row = Row.read(line)
	with tempfile.TemporaryDirectory(dir=asked.in_memory()) as folder:
		try:
			now, lacking = answer_of(program, row, keep or folder)
		except (AssertionError, subprocess.TimeoutExpired) as e:
			return row, None, str(e)
	return row, now, lacking


def differences(row, now, left_out):
	"""In words, what is other than it was."""
	if now.made != row.made:
		return 'the input is another one'
	out = [f'{row.said}\n    now {now.said}'] if now.said != row.said else []
	was = {k: v for k, v in row.digests.items() if k.split('.')[0] not in left_out}
	other = [k for k in {**was, **now.digests} if was.get(k) != now.digests.get(k)]
	return '\n    '.join(out + ['other bytes: ' + ' '.join(other)]) if other or out else ''


def read_table():
	with open(TABLE, encoding='utf-8') as f:
		lines = f.read().splitlines()
	head = [line for line in lines if line.startswith('#')]
	return head, [line for line in lines if line and not line.startswith('#')]


def python():
	return 'Python ' + '.'.join(platform.python_version_tuple()[:2])


def bless(program, jobs):
	head, lines = read_table()
	out = [line for line in head if not line.startswith('# Inputs made by')] + [f'# Inputs made by {python()}', '']
	changed = 0
	with multiprocessing.Pool(jobs) as pool:
		for row, now, lacking in pool.imap(work, ((program, line, None) for line in lines)):
			if isinstance(lacking, str):
				sys.exit(f'{row.key()}: {lacking}')
			if lacking:
				print(f'{row.key()}: left as it is: built without what it needs')
				out.append(row.line())
				continue
			why = differences(row, now, []) if row.made else 'new: ' + now.said
			changed += why != ''
			if why:
				print(f'{row.key()}: {why}', flush=True)
			out.append(now.line())
	with open(TABLE, 'w', encoding='utf-8') as f:
		f.write('\n'.join(out) + '\n')
	print(f'{len(lines)} rows, {changed} changed')


def test(program, jobs):
	head, lines = read_table()
	same_python = f'# Inputs made by {python()}' in head
	first, count = part(0, len(lines))
	step = max(1, len(lines) // count)
	lines = lines[first // len(lines) % step::step]
	failed, tried, skipped, elsewhere = 0, 0, {}, 0
	with multiprocessing.Pool(jobs) as pool:
		for row, now, lacking in pool.imap_unordered(work, ((program, line, None) for line in lines)):
			if now is None and not isinstance(lacking, str):
				skipped.setdefault(' '.join(lacking), []).append(row.key())
				continue
			if now and now.made != row.made and not same_python:
				elsewhere += 1
				continue
			why = lacking if now is None else differences(row, now, lacking)
			tried, failed = tried + 1, failed + (why != '')
			if why:
				print(f'{row.key()}: {why}', flush=True)
			if failed == TOLD:
				print('the rest is not tried')
				break
	for what, rows in skipped.items():
		print(f'{len(rows)} rows skipped: built without {what}')
	if elsewhere:
		print(f'{elsewhere} rows skipped: {python()} draws other inputs')
	print(f'{tried} rows, {failed} other than they were' + ('' if not failed else ': doc/HACKING.md says what to do about answers'))
	return failed > 0 or 77 * (tried == 0)


def main():
	p = argparse.ArgumentParser()
	p.add_argument('unskew', type=os.path.abspath)
	p.add_argument('--bless', action='store_true')
	p.add_argument('--jobs', type=int, default=os.cpu_count())
	p.add_argument('--write-otf2', type=os.path.abspath)
	p.add_argument('--keep', nargs=3, metavar=('FOLDER', 'GENERATOR', 'SEED'))
	o = p.parse_args()
	os.environ.update(LC_ALL='C', TZ='UTC', NO_COLOR='1')
	program = Program(o.unskew, o.write_otf2)
	if o.keep:
		folder = os.path.abspath(o.keep[0])
		os.makedirs(folder)
		_, now, lacking = work((program, ' '.join(o.keep[1:]), folder))
		print(now.line() if now else lacking)
		return 0
	return bless(program, o.jobs) if o.bless else test(program, o.jobs)


if __name__ == '__main__':
	sys.exit(main())
