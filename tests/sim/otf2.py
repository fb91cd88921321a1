#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otf2.py UNSKEW WRITE_OTF2 [FIRST [COUNT]] [--damage] - OTF2 traces of MPI programs whose true clocks are known

Programs of 2 to 8 ranks, each with a clock and perhaps a second thread, that send, receive in any order and
call collectives, blocking or not, in the world, parts of it, and between two parts, also such as wait for
nobody. Every band has to hold the truth, and every message that was sent has to be found, with its stamps.
A case is made by its seed alone; --keep FOLDER leaves its trace there. With --damage a file of each is cut
short or spoilt: there has to be an answer, or a sentence and status 1, before long. With --apply each comes
out of `apply` with its events as they were, and clock offsets by which libotf2 corrects them.
"""
import argparse
import csv
import fractions
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

WORLD, HALF, BETWEEN, SELF = 0, 1, 2, 3  # communicators
NO_ROOT = 2**32 - 1
# OTF2's numbers
BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV = range(10)
ALLREDUCE, REDUCE, REDUCE_SCATTER, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, CREATE_HANDLE = range(11, 18)
FROM_ROOT, TO_ROOT = (BCAST, SCATTER, SCATTERV), (REDUCE, GATHER, GATHERV)
FROM_ALL = (BARRIER, ALLGATHER, ALLGATHERV, ALLTOALL, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK)


class Program:
	def __init__(self, seed):
		self.draw = draw = random.Random(seed)
		self.n = draw.choice([2, 2, 3, 4, 6, 8])
		self.hz = draw.choice([10**9, 10**9, 2095197216, 10**7, 10**6])
		self.clock = [(10**15 + draw.randrange(-10**9, 10**9), draw.uniform(-4e-5, 4e-5)) for _ in range(self.n)]
		self.least = draw.choice([2000, 20000, 200000])
		self.now = [draw.randrange(10**6) for _ in range(self.n)]
		self.helper = [t + 1 for t in self.now]
		self.rows = [[] for _ in range(self.n)]  # of the first threads
		self.more = [[] for _ in range(self.n)]  # of the second ones
		self.sent = []	# messages: sender, receiver, true times
		self.request = 0
		self.half = sorted(draw.sample(range(self.n), (self.n + 1) // 2))
		self.other = [r for r in range(self.n) if r not in self.half]

	def stamp(self, rank, true):
		offset, drift = self.clock[rank]
		return (offset + true + int(true * drift)) * self.hz // 10**9

	def took(self):
		return self.least + int(self.draw.expovariate(1 / self.least))

	def log(self, rank, time, word, *rest, second=False):
		(self.more if second else self.rows)[rank].append(' '.join(map(str, (word, self.stamp(rank, time), *rest))))

	def work(self, rank):
		self.now[rank] += self.draw.randrange(self.least * 5)
		return self.now[rank]

	# ---- messages

	def ranks_in(self, comm, a, b):
		"""What a and b call each other there."""
		return {WORLD: lambda: (a, b), HALF: lambda: (self.half.index(a), self.half.index(b)),
			BETWEEN: lambda: ((self.half if a in self.half else self.other).index(a),
				(self.half if b in self.half else self.other).index(b))}[comm]()

	def pair(self):
		comm = self.draw.choice([WORLD, WORLD, HALF, BETWEEN])
		if comm == HALF and len(self.half) > 1:
			return comm, *self.draw.sample(self.half, 2)
		if comm == BETWEEN and self.other:
			ends = [self.draw.choice(self.half), self.draw.choice(self.other)]
			self.draw.shuffle(ends)
			return comm, *ends
		return WORLD, *self.draw.sample(range(self.n), 2)

	def message(self):
		comm, a, b = self.pair()
		as_a, as_b = self.ranks_in(comm, a, b)
		tag, t = self.draw.randrange(3), self.work(a)
		self.log(a, t, 'send', as_b, comm, tag)
		self.work(b)
		self.now[b] = max(self.now[b], t + self.took())
		self.log(b, self.now[b], 'recv', as_a, comm, tag)
		self.sent.append((a, b, t, self.now[b]))

	def burst(self):
		"""Receives are posted in one order and done in another; one may be given up."""
		comm, a, b = self.pair()
		as_a, as_b = self.ranks_in(comm, a, b)
		arrives, last = [], 0
		for _ in range(self.draw.randrange(1, 8)):
			tag, t = self.draw.randrange(3), self.work(a)
			self.request += 1
			self.log(a, t, 'isend', as_b, comm, tag, self.request)
			last = max(last, t + self.took())
			arrives.append((t, last, tag))
		given_up = self.draw.randrange(-8, len(arrives))
		posted = []
		for i, (t, arrival, tag) in enumerate(arrives):
			if i == given_up:
				self.request += 1
				self.log(b, self.work(b), 'post', self.request)
				posted.append((self.request, None, None, None))
			self.request += 1
			self.log(b, self.work(b), 'post', self.request)
			posted.append((self.request, t, arrival, tag))
		self.draw.shuffle(posted)
		for request, t, arrival, tag in posted:
			self.work(b)
			if t is None:
				self.log(b, self.now[b], 'cancel', request)
				continue
			self.now[b] = max(self.now[b], arrival)
			self.log(b, self.now[b], 'irecv', as_a, comm, tag, request)
			self.sent.append((a, b, t, self.now[b]))

	def helpers(self):
		"""Their second threads, with a tag of their own."""
		a, b = self.draw.sample(range(self.n), 2)
		self.helper[a] += self.draw.randrange(self.least * 20)
		t = self.helper[a]
		self.log(a, t, 'send', b, WORLD, 77, second=True)
		self.helper[b] = max(self.helper[b], t + self.took())
		self.log(b, self.helper[b], 'recv', a, WORLD, 77, second=True)
		self.sent.append((a, b, t, self.helper[b]))

	def self_message(self):
		a = self.draw.randrange(self.n)
		self.log(a, self.work(a), 'send', 0, SELF, 1)
		self.log(a, self.work(a), 'recv', 0, SELF, 1)

	# ---- collectives

	def exits(self, op, who, enter, root, idle):
		"""When each can leave at the earliest; idle ones neither send nor get anything."""
		done = dict(enter)
		for i, x in enumerate(who):
			of = [y for y in who if y != x and y not in idle] if x not in idle else []
			if op in FROM_ROOT:
				of = [root] if x != root and x not in idle else []
			elif op in TO_ROOT:
				of = [y for y in of if y not in idle] if x == root else []
			elif op in (SCAN, EXSCAN):
				of = who[:i]
			elif op not in FROM_ALL:
				of = []
			done[x] = max([enter[x]] + [enter[y] + self.took() for y in of])
		return done

	def bytes(self, op, x, root, idle):
		if op in (BARRIER, CREATE_HANDLE):
			return 0, 0
		if x in idle and op != BCAST or op == BCAST and idle:
			return 0, 0
		if op in FROM_ROOT:
			return (64, 8) if x == root else (0, 8)
		if op in TO_ROOT:
			return (8, 64) if x == root else (8, 0)
		return 8, 8

	def choose(self):
		comm = self.draw.choice([WORLD, WORLD, HALF])
		who = self.half if comm == HALF else list(range(self.n))
		op = self.draw.choice([*range(10), ALLREDUCE, REDUCE, REDUCE_SCATTER, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK,
			CREATE_HANDLE])
		root = self.draw.choice(who)
		idle = []
		if op in (GATHERV, SCATTERV, ALLGATHERV, REDUCE_SCATTER) and self.draw.random() < 0.5:
			idle = [x for x in who if x != root and self.draw.random() < 0.3]
		if op == BCAST and self.draw.random() < 0.2:
			idle = list(who)
		rooted = op in FROM_ROOT or op in TO_ROOT
		return comm, who, op, root, idle, who.index(root) if rooted else NO_ROOT

	def collective(self):
		comm, who, op, root, idle, named = self.choose()
		enter = {x: self.work(x) for x in who}
		done = self.exits(op, who, enter, root, idle)
		for x in who:
			self.log(x, enter[x], 'begin')
			self.now[x] = done[x]
			self.log(x, done[x], 'end', op, comm, named, *self.bytes(op, x, root, idle))

	def not_waited_for(self):
		"""Several at once, of which the last may be done first, and messages meanwhile."""
		calls = [self.choose() for _ in range(self.draw.randrange(1, 4))]
		under_way = []
		for comm, who, op, root, idle, named in calls:
			enter = {x: self.work(x) for x in who}
			for x in who:
				self.request += 1
				self.log(x, enter[x], 'request', self.request)
				under_way.append((x, self.request, op, comm, named, self.bytes(op, x, root, idle), enter, who, root, idle))
		self.message()
		done = {}
		self.draw.shuffle(under_way)
		for x, request, op, comm, named, moved, enter, who, root, idle in under_way:
			key = id(enter)
			done.setdefault(key, self.exits(op, who, enter, root, idle))
			self.now[x] = max(self.work(x), done[key][x])
			self.log(x, self.now[x], 'fulfil', op, comm, named, *moved, request)

	def between_barrier(self):
		"""Each waits for those of the other half only."""
		enter = {x: self.work(x) for x in range(self.n)}
		for x in range(self.n):
			of = self.other if x in self.half else self.half
			self.log(x, enter[x], 'begin')
			self.now[x] = max([enter[x]] + [enter[y] + self.took() for y in of])
			self.log(x, self.now[x], 'end', BARRIER, BETWEEN, NO_ROOT, 0, 0)

	def run(self, rounds):
		steps = [self.message, self.message, self.burst, self.helpers, self.self_message, self.collective,
			self.collective, self.not_waited_for, self.between_barrier]
		for _ in range(rounds):
			self.draw.choice(steps)()

	def script(self):
		ranks = range(self.n)
		# Communicators have other numbers in a file than in the trace; clock offsets are wrong.
		lines = [f'clock {self.hz}', *(f'process {10 + r} rank {r}' for r in ranks),
			*(f'location {r} {10 + r}' for r in ranks), *(f'location {100 + r} {10 + r}' for r in ranks),
			f'world {" ".join(map(str, ranks))}', f'group 1 {" ".join(map(str, ranks))}',
			f'group 2 {" ".join(map(str, self.half))}', f'group 3 {" ".join(map(str, self.other))}', 'self 4',
			'comm 10 1', 'comm 11 2', 'between 12 2 3', 'comm 13 4']
		for r in ranks:
			for location, rows in ((r, self.rows[r]), (100 + r, self.more[r])):
				lines += [f'events {location}', 'map 0 10 1 11 2 12 3 13',
					*(f'offset {self.stamp(r, t)} {self.draw.randrange(-10**9, 10**9)}' for t in (0, 10**12)), *rows]
		return '\n'.join(lines) + '\n'

	def truth(self):
		end = max(self.now + self.helper) + 10**6
		times = list(range(0, end + 10**7, 10**7))
		return {'unskew_truth': 1, 'true_ns': [str(t) for t in times],
			'clock_ns': {f'run/rank {r}': [str(self.clock[r][0] + t + int(t * self.clock[r][1])) for t in times]
				for r in range(self.n)}}

	def local_ns(self, rank, true):
		return self.stamp(rank, true) * 10**9 // self.hz


def found(path):
	with open(path) as table:
		return [tuple(row[key] for key in ('sender', 'receiver', 'sent_ns', 'received_ns'))
			for row in csv.DictReader(table)]


def judge(unskew, write, seed, folder):
	"""What is wrong with the case, '' if nothing is; how many messages it has."""
	program = Program(seed)
	program.run(program.draw.choice([30, 100, 300]))
	made = subprocess.run([write, folder, 'run'], input=program.script(), capture_output=True, text=True)
	if made.returncode or made.stderr:
		return f'write_otf2: {made.stderr}', 0
	with open(f'{folder}/truth.json', 'w') as out:
		json.dump(program.truth(), out)
	answer = subprocess.run([unskew, 'sync', f'{folder}/run.otf2', '--truth', f'{folder}/truth.json',
		'--messages', f'{folder}/used.csv'], capture_output=True, text=True)
	truths = [line for line in answer.stdout.splitlines() if line.startswith('Truth:')]
	wrong = [line for line in truths if 'holds the truth throughout' not in line]
	if answer.returncode not in (0, 3) or wrong or len(truths) < program.n - 1 and not answer.returncode:
		return f'sync: {answer.returncode} {wrong} {answer.stderr}', 0
	if 'outlier' in answer.stdout or 'fewer' in answer.stderr:
		return f'sync: {answer.stdout}{answer.stderr}', 0
	sent = [(f'run/rank {a}', f'run/rank {b}', str(program.local_ns(a, t)), str(program.local_ns(b, u)))
		for a, b, t, u in program.sent]
	missing = sorted(set(sent) - set(found(f'{folder}/used.csv')))
	return f'{len(missing)} messages were not found, as {missing[0]}' if missing else '', len(sent)


def corrected(knots, local_ns):
	"""By the formula of clocks.json, on from its outermost lines."""
	at = min(max(sum(int(k['local_ns']) < local_ns for k in knots), 1), len(knots) - 1)
	a, b = knots[at - 1], knots[at]
	x, o = int(a['local_ns']), int(a['offset_ns'])
	return local_ns + o + fractions.Fraction((int(b['offset_ns']) - o) * (local_ns - x), int(b['local_ns']) - x)


def bytes_of(folder):
	"""By name, those of local definitions as they were recorded."""
	made = {}
	for top, _, files in os.walk(folder):
		for name in files:
			path = os.path.join(top, name)
			if name + '.recorded' not in files:
				with open(path, 'rb') as f:
					made[os.path.relpath(path, folder).removesuffix('.recorded')] = f.read()
	return made


def judge_applied(unskew, write, seed, folder):
	"""Re-timed: events are the same bytes, libotf2 corrects them by the clocks' knots; how many stamps it does."""
	program = Program(seed)
	program.run(program.draw.choice([30, 100]))
	subprocess.run([write, f'{folder}/in', 'run'], input=program.script(), check=True, text=True)
	clocks, out = f'{folder}/clocks.json', f'{folder}/out'
	for how in (['sync', f'{folder}/in/run.otf2', '-o', clocks], ['apply', clocks, f'{folder}/in/run.otf2', '-o', out],
			['sync', f'{out}/run.otf2', '-o', f'{folder}/again.json']):
		done = subprocess.run([unskew, *how, '-q', '--force'], capture_output=True, text=True)
		if done.returncode not in (0, 3):
			return f'{how[0]}: {done.stderr}', 0
	was, now = bytes_of(f'{folder}/in'), bytes_of(out)
	if was != now:
		return f'other bytes: {[n for n in was.keys() | now.keys() if was.get(n) != now.get(n)]}', 0
	with open(clocks) as first, open(f'{folder}/again.json') as second:
		clocks, again = (json.load(f)['clocks'] for f in (first, second))
	if clocks != again:
		return 'the corrected trace has other clocks', 0
	rows = subprocess.run([os.path.join(os.path.dirname(write), 'read_otf2'), f'{out}/run.otf2'], check=True,
		capture_output=True, text=True).stdout.splitlines()
	knots = {c['name']: c.get('knots') for c in clocks if c['quality'] in ('bounded', 'reference')}
	for row in rows:
		thread, raw, put = map(int, row.split())
		of = knots.get(f'run/rank {thread % 100}')
		ticks = corrected(of, raw * 10**9 // program.hz) * program.hz / 10**9 if of else raw
		# A tick where a knot lies, one for a stamp's ns, and what the library's doubles leave.
		if abs(put - ticks) > 3 + program.hz / 10**9 * 2:
			return f'thread {thread}: {raw} became {put}, not {float(ticks)}', 0
	return '', len(rows)


def spoil(draw, path):
	with open(path, 'rb') as file:
		data = bytearray(file.read())
	at = draw.randrange(len(data))
	how = draw.choice(['cut', 'bit', 'bit', 'bytes', 'zeros', 'ones'])
	if how == 'cut':
		del data[at:]
	elif how == 'bit':
		data[at] ^= 1 << draw.randrange(8)
	elif how == 'bytes':
		for _ in range(3):
			data[draw.randrange(len(data))] = draw.randrange(256)
	else:
		end = min(len(data), at + draw.choice([4, 16, 64]))
		data[at:end] = bytes([255 * (how == 'ones')]) * (end - at)
	with open(path, 'wb') as file:
		file.write(data)
	return how


def judge_damaged(unskew, write, seed, folder):
	program = Program(seed)
	program.run(30)
	subprocess.run([write, folder, 'run'], input=program.script(), check=True, text=True)
	with tempfile.TemporaryDirectory() as beside:
		clocks = f'{beside}/clocks.json'
		subprocess.run([unskew, 'sync', '-q', f'{folder}/run.otf2', '-o', clocks], capture_output=True)
		return spoilt(unskew, program, folder, clocks, f'{beside}/out')


def spoilt(unskew, program, folder, clocks, out):
	path = program.draw.choice(sorted(file for top, _, files in os.walk(folder) for file in
		(os.path.join(top, name) for name in files) if os.path.getsize(file)))
	how = f'{path}, {spoil(program.draw, path)}'
	try:
		answer = subprocess.run([unskew, 'sync', f'{folder}/run.otf2'], capture_output=True, text=True, timeout=60)
		applied = subprocess.run([unskew, 'apply', '-q', clocks, f'{folder}/run.otf2', '-o', out], capture_output=True, text=True,
			timeout=90)
	except subprocess.TimeoutExpired:
		return f'{how}: no answer after 60 s', 0
	if applied.returncode not in (0, 3) and (applied.stderr.count('\n') != 1 or os.path.exists(out)):
		return f'{how}: apply: {applied.returncode} {applied.stderr}', 0
	fine = answer.returncode in (0, 3) and answer.stdout or answer.returncode == 1 and answer.stderr.count('\n') == 1
	return '' if fine else f'{how}: {answer.returncode} {answer.stderr}', len(program.sent)


def main():
	words = argparse.ArgumentParser()
	for name in ('unskew', 'write'):
		words.add_argument(name)
	words.add_argument('first', type=int, nargs='?', default=0)
	words.add_argument('count', type=int, nargs='?', default=100)
	words.add_argument('--keep', metavar='FOLDER')
	words.add_argument('--damage', action='store_const', const=judge_damaged, default=judge)
	words.add_argument('--apply', action='store_const', const=judge_applied, dest='damage')
	given = words.parse_args()
	first, count = part(given.first, given.count)
	messages, wrong = 0, []
	for seed in range(first, first + count):
		with tempfile.TemporaryDirectory() as folder:
			why, n = given.damage(given.unskew, given.write, seed, given.keep or folder)
		messages += n
		wrong += [f'seed {seed}: {why}'] if why else []
	print(*wrong, f'{count} traces, {messages} messages, {len(wrong)} wrong', sep='\n')
	sys.exit(bool(wrong) or not messages)


if __name__ == '__main__':
	main()
