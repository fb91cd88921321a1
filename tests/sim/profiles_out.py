#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profiles_out.py UNSKEW [FIRST [COUNT]] - profiles in Chrome's JSON come out of apply with true stamps, and all else as it was

Ranks whose clocks are known take part in collectives, as Kineto writes them (ns on a base, whole us, doubles), or send each
other flows, as processes of one file. Events of any kind stand between, keys in any order, blanks anywhere, arguments that are
there, empty or not. Put on one clock and re-timed: every bound holds the truth and the stamp, no exit is before an enter, order
within a file is kept, and whoever takes the added arguments out again and puts back what they say was recorded has the
original, byte for byte. Packed and cut short, too. A case is made by its seed alone; --keep FOLDER leaves its files there.
"""
import fractions
import gzip
import json
import os
import random
import re

from spans_out import TOKEN, Fault, Text, main, read, run, same, write

BASE = 1700000000 * 10**9
ADDED = re.compile(r'"unskew\.ts\.recorded":"[^"]*"(?:,"unskew\.[a-z._]+":"[^"]*")*')


class World:
	def __init__(self, seed):
		self.draw = draw = random.Random(seed)
		self.ranks = draw.choice([2, 3, 6])
		self.clock = [(draw.randrange(-10**8, 10**8), draw.uniform(-3e-5, 3e-5)) for _ in range(self.ranks)]
		self.kind = draw.choice(['ns', 'whole', 'double', 'flows'])
		self.events = [[] for _ in range(self.ranks)]	# true begin, true end or None, what else it says
		for i in range(draw.choice([30, 100, 300])):
			(self.flow if self.kind == 'flows' else self.collective)(i, 10**7 + i * 3 * 10**6 + draw.randrange(10**6))

	def collective(self, i, t):
		draw = self.draw
		enter = [t + draw.randrange(10**5) for _ in range(self.ranks)]
		exits = [max(enter) + 5000 + int(draw.expovariate(1 / 20000)) for _ in range(self.ranks)]
		for rank in range(self.ranks):
			self.add(rank, enter[rank], exits[rank], 'X', [('cat', '"kernel"')],
				[('Collective name', '"allreduce"'), ('Process Group Name', '"0"'), ('Seq', str(i))])
			self.others(rank, exits[rank])

	def flow(self, i, t):
		a, b = self.draw.sample(range(self.ranks), 2)
		arrives = t + 2000 + int(self.draw.expovariate(1 / 30000))
		self.add(a, t, None, 's', [('name', '"m"'), ('cat', '"x"'), ('id', str(i))], [])
		self.add(b, arrives, None, 'f', [('name', '"m"'), ('cat', '"x"'), ('id', str(i)), ('bp', '"e"')], [])
		self.others(a, t)

	def others(self, rank, t):
		for _ in range(self.draw.choice([0, 0, 1, 3])):
			t += self.draw.randrange(10**5)
			ph = self.draw.choice('XBEibCnM')
			self.add(rank, t, t + self.draw.randrange(10**6) if ph == 'X' else None, ph, [], [])

	def add(self, rank, begin, end, ph, keys, args):
		self.events[rank].append((begin, end, ph, keys, args))

	def shows(self, rank, true):
		offset, drift = self.clock[rank]
		return (0 if self.kind == 'flows' else BASE) + 2 * 10**8 + true + offset + int(true * drift)

	def stamps(self, rank, begin, end):
		"""ts and dur as texts."""
		a = self.shows(rank, begin)
		b = self.shows(rank, end) if end is not None else a
		if self.kind == 'whole':
			return str((a - BASE) // 1000), str((b - a) // 1000)
		if self.kind == 'double':
			return repr(float(fractions.Fraction(a, 1000))), repr((b - a) / 1000)
		start, took = a - (0 if self.kind == 'flows' else BASE), b - a
		return f'{start // 1000}.{start % 1000:03}', f'{took // 1000}.{took % 1000:03}'


def event(w, x, draw, rank, e):
	begin, end, ph, keys, args = e
	ts, dur = w.stamps(rank, begin, end)
	quote = '"' if draw.random() < 0.1 else ''
	more = [(f'k{i}', draw.choice([x.string(), 'null', '[1,{"ts":5}]', '{"args":{}}', 'true'])) for i in range(draw.choice([0, 0, 1, 2]))]
	pairs = [('ph', f'"{ph}"'), ('ts', quote + ts + quote), ('pid', str(rank)), *(keys if keys[:1] and keys[0][0] == 'name' else [('name', x.string()), *keys]),
		end is not None and ('dur', dur), (args or draw.random() < 0.6) and ('args', x.object(args + more)),
		draw.random() < 0.2 and ('tts', '17')]
	return x.object(pairs)


def files_of(w, x, draw):
	"""Text and ranks of each file."""
	whole = [[(e, event(w, x, draw, rank, e)) for e in w.events[rank]] for rank in range(w.ranks)]
	if w.kind == 'flows':
		mixed = sorted(((rank, *pair) for rank in range(w.ranks) for pair in whole[rank]), key=lambda m: m[1][0])
		array = '[' + ',\n'.join(text for *_, text in mixed) + draw.choice([']', '', ',\n'])
		if array[-1] == ']' and draw.random() < 0.5:
			array = '{"displayTimeUnit":"ns","traceEvents":' + array + ',"otherData":{"ts":4}}'
		return {'flows.json': (array, [(rank, e) for rank, e, _ in mixed])}
	made = {}
	for rank in range(w.ranks):
		if draw.random() < 0.3:
			draw.shuffle(whole[rank])
		base = '' if w.kind == 'double' else f'"baseTimeNanoseconds": {BASE},'
		text = '{"schemaVersion":1,' + f'"distributedInfo":{{"rank":{rank}}},' + '"deviceProperties":[{"id":0}],"traceEvents":[' + \
			',\n'.join(text for _, text in whole[rank]) + f' ],{base} "displayTimeUnit":"ms"}}\n'
		made[f'r{rank}.json'] = text, [(rank, e) for e, _ in whole[rank]]
	return made


# ---- what stands in a file, found by other means than unskew's

def events_of(text):
	"""Each event that is whole: places and texts of 'ts' and 'dur', place of its arguments, what was added."""
	found, stack = [], []	# a frame: its bracket, the key said last, whether one is wanted, its event
	for m in TOKEN.finditer(text):
		token, top = m[0], stack[-1] if stack else None
		if token in '{[':
			array = top and top[0] == '[' and (len(stack) == 1 or stack[-2][1] == 'traceEvents' and len(stack) == 2)
			own = {'at': m.start()} if token == '{' and array else None
			stack.append([token, None, token == '{', own])
			if top and top[3] and top[1] == 'args':
				top[3]['args'] = m.start()
		elif token in '}]':
			own = stack.pop()[3]
			if own is not None:
				added = ADDED.search(text, own.get('args', m.end()), m.end())
				own['added'] = added and (added.start(), added.end(), json.loads('{' + added[0] + '}'))
				found.append(own)
		elif token in ':,':
			if top:
				top[2] = token == ',' and top[0] == '{'
		elif top and top[2]:
			top[1] = token.strip('"')
		elif top and top[3] is not None and top[1] in ('ts', 'dur', 'ph'):
			top[3][top[1]] = m.start(), m.end(), token.strip('"')
	return found


def undo(text):
	edits, events = [], events_of(text)
	for e in events:
		if not e['added']:
			continue
		first, last, said = e['added']
		for which in ('ts', 'dur'):
			if f'unskew.{which}.recorded' in said:
				begin, end, _ = e[which]
				quote = '"' if text[begin] == '"' else ''
				edits.append((begin, end, quote + said[f'unskew.{which}.recorded'] + quote))
		whole = re.compile(r', "args":\{\Z').search(text, 0, first)
		if whole and text[last] == '}':
			first, last = whole.start(), last + 1	# was not there
		elif text[first - 1] == ',':
			first -= 1
		edits.append((first, last, ''))
	out, at = [], 0
	for begin, end, was in sorted(edits):
		out.append(text[at:begin] + was)
		at = end
	return ''.join(out) + text[at:], events


# ---- judgement

def ns(text):
	return int(fractions.Fraction(text) * 1000)


def held(w, clocks, name, events, ranks):
	"""Bounds hold the truth, and stamps stand in them; how many were held against it."""
	reference = next(c['name'] for c in clocks if c['quality'] == 'reference')
	which = int(re.search(r'\d+$', reference)[0])
	base = BASE if w.kind in ('ns', 'whole') else 0
	n, moments = 0, []
	for e, (rank, (begin, end, ph, *_)) in zip(events, ranks):
		if not e['added']:
			if ph != 'M':
				raise Fault(f'{name}: an event at {e["at"]} was not corrected')
			continue
		said = e['added'][2]
		start = base + ns(e['ts'][2])
		now = [('start', start, begin)] + ([('end', start + ns(e['dur'][2]), end)] if end is not None else [])
		for what, stamp, true in now:
			lo, hi = (int(said.get(f'unskew.{what}.{side}_ns', stamp)) for side in ('earliest', 'latest'))
			t = w.shows(which, true)
			# Doubles and whole us make the reference's own stamps differ from the truth by this.
			room = 2000 if w.kind == 'whole' else 600 if w.kind == 'double' else 2
			if not lo - room <= t <= hi + room or not lo <= stamp <= hi:
				raise Fault(f'{name}: {what} at {e["at"]}: {lo} {stamp} {hi}, truly {t}')
			n += 1
		moments.append((ns(said['unskew.ts.recorded']), start, rank))
	for rank in range(w.ranks):
		order = sorted((was, now) for was, now, r in moments if r == rank)
		if [now for _, now in order] != sorted(now for _, now in order):
			raise Fault(f'{name}: the order of rank {rank} was not kept')
	return n


def judge(unskew, seed, folder):
	w = World(seed)
	draw = w.draw
	files = files_of(w, Text(draw), draw)
	paths = [f'{folder}/{name}' for name in files]
	for path, (text, _) in zip(paths, files.values()):
		write(path, text)
	done = run(unskew, 'sync', '-q', '--force', *paths, '-o', f'{folder}/clocks.json', status=(0, 3))
	if done.returncode == 3:
		return 0	# too few flows between some
	with open(f'{folder}/clocks.json') as f:
		clocks = json.load(f)['clocks']
	os.makedirs(f'{folder}/out', exist_ok=True)
	for name in files:
		run(unskew, 'apply', '-q', '--force', f'{folder}/clocks.json', f'{folder}/{name}', '-o', f'{folder}/out/{name}')
	if w.kind in ('ns', 'flows'):	# others hide what is below their resolution
		told = run(unskew, 'check', '--json', *(f'{folder}/out/{name}' for name in files)).stdout
		if json.loads(told)['too_fast']['count']:
			raise Fault(f'check: {told}')
	n = 0
	for name, (text, ranks) in files.items():
		out = f'{folder}/out/{name}'
		again, events = undo(read(out))
		same(f'{name} undone', again, text)
		n += held(w, clocks, name, events, ranks)
		with gzip.open(f'{folder}/{name}.gz', 'wt', newline='') as f:
			f.write(text)
		run(unskew, 'apply', '-q', '--force', f'{folder}/clocks.json', f'{folder}/{name}.gz', '-o', f'{out}.gz')
		with gzip.open(f'{out}.gz', 'rt', newline='') as f:
			same(f'{name} packed', f.read(), read(out))
		cut = text[:draw.randrange(len(text) // 2, len(text))]
		write(f'{folder}/{name}', cut)
		run(unskew, 'apply', '-q', '--force', f'{folder}/clocks.json', f'{folder}/{name}', '-o', out, status=(0, 3))
		if w.kind == 'double' or w.kind == 'flows':	# else the base is cut off, too
			same(f'{name} cut short and undone', undo(read(out))[0], cut)
	return n


if __name__ == '__main__':
	main(judge)
