#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""history.py UNSKEW [FIRST [COUNT [DATA]]] - histories of machines whose clocks differ, judged

Clients on 2 to 8 simulated machines use a register or a store; each stamps its calls and returns by its
machine's clock, messages between the machines go to `sync`, operations to `history`. A history that
is linearizable by the true times has to stay it by the intervals that come out; of those that are
not, the share that is still found is printed by how wide bands are, in durations of an operation.
Histories are linearizable by construction, or have reads of what was so before; with DATA they are
also those of Porcupine's tests, and the events of EWD998 with vector clocks, whose order every pair
that bands decide has to have. A case is made by its seed alone.
"""
import bisect
import collections
import csv
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from linear import OPEN, explains, order_of
from part import part

WIDTHS = (0.1, 0.3, 1, 3, 10, float('inf'))


def run(*words):
	return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


Clocks = collections.namedtuple('Clocks', 'names shows start span steps unseen')

# ---- clocks --------------------------------------------------------------------------------------


def make_clocks(unskew, draw, seed, folder):
	"""None: they broke what the answer assumes."""
	n = draw.randrange(2, 9)
	seconds = draw.choice([0.5, 2, 8])
	how = ['--hosts', str(n), '--seconds', str(seconds), '--format', 'table', '--seed', str(seed),
		'--topology', draw.choice(['mesh', 'chain', 'star', 'ring']),
		'--rate', f'{10 ** draw.uniform(0.7, 2.3) / seconds ** 0.5:.2f}',
		'--offset', ','.join(f'{draw.randrange(-10**9, 10**9)}ns' for _ in range(n)),
		'--drift-ppm', ','.join(f'{draw.uniform(-80, 80):.3f}' for _ in range(n)),
		'--wander-ppb', draw.choice(['0', '0', '5', '50']),
		'--dmin', draw.choice(['5us', '50us', '500us']), '--tail', draw.choice(['0', '5us', '100us', '1ms'])]
	for _ in range(draw.choice([0, 0, 0, 0, 1, 2])):
		how += ['--step', f'host{draw.randrange(n)}@{draw.uniform(0.1, 0.9) * seconds:.6f}s:'
			f'{int(draw.choice([-1, 1]) * 10 ** draw.uniform(4, 7.5))}ns']
	made = run(unskew, 'simulate', '-q', '-o', folder, *how)
	if made.returncode:
		raise RuntimeError(made.stderr)
	answer = run(unskew, 'sync', f'{folder}/messages.csv', '--truth', f'{folder}/truth.json', '-o',
		f'{folder}/clocks.json')
	truths = [line for line in answer.stdout.splitlines() if line.startswith('Truth:')]
	if not os.path.exists(f'{folder}/clocks.json') or not all('throughout' in line for line in truths):
		return None
	with open(f'{folder}/truth.json') as f:
		truth = json.load(f)
	true = [int(t) for t in truth['true_ns']]
	shown = {name: [int(t) for t in row] for name, row in truth['clock_ns'].items()}
	steps = [int(j['true_ns']) for j in truth['jumps']]
	with open(f'{folder}/clocks.json') as f:
		told = json.load(f)['clocks']
	shows = reader(true, shown)
	unseen = {j['clock'] for j in truth['jumps'] if int(j['size_ns']) < 0 and not is_told(told, shows, j)}
	if any(c['quality'] == 'reference' and c['name'] in unseen for c in told):
		return None  # its time is the measure of all others
	return Clocks(sorted(c['name'] for c in told), shows, true[0], true[-1] - true[0], steps, unseen != set())


def is_told(told, shows, step):
	"""Is there a bracket around the step back?"""
	t = int(step['true_ns'])
	return any(step['clock'] in (j['of'], j.get('or')) and int(j['after_local_ns']) <= shows(c['name'], t - 1) + 1 and
		shows(c['name'], t) - 1 <= int(j['before_local_ns']) for c in told for j in c.get('jumps', []) if j['kind'] == 'jump')


def reader(true, shown):
	"""What a machine shows at a moment: straight between those of the truth."""
	def at(name, t):
		low, high = 0, len(true) - 1
		while high - low > 1:
			middle = (low + high) // 2
			low, high = (middle, high) if true[middle] <= t else (low, middle)
		y = shown[name]
		span = true[high] - true[low]
		return y[low] + ((t - true[low]) * (y[high] - y[low]) // span if span else 0)
	return at


# ---- histories of our own ------------------------------------------------------------------------


def apply(model, state, op):
	"""What it returns, and puts into the state."""
	key = op.get('key')
	old = state.get(key)
	if op['f'] in ('read', 'get'):
		return 'ok', old if model == 'register' else old or ''
	if op['f'] == 'cas':
		if old != op['input'][0]:
			return 'fail', None
		state[key] = op['input'][1]
	else:
		state[key] = op['input'] if op['f'] in ('write', 'put') else (old or '') + op['input']
	return 'ok', None


def ask(draw, model, number):
	if model == 'register':
		f = draw.choice(['read', 'read', 'write', 'cas'])
		return {'f': f, 'input': {'read': None, 'write': draw.randrange(5),
			'cas': (draw.randrange(5), draw.randrange(5))}[f]}
	f = draw.choice(['get', 'get', 'put', 'append'])
	return {'f': f, 'key': draw.choice('xyz'), 'input': None if f == 'get' else f'{number};'}


def begin_at(draw, clocks, part, takes):
	"""Somewhere in that part of the time; often so that a clock is stepped meanwhile."""
	at = clocks.start + draw.randrange(int(clocks.span * part))
	if clocks.steps and draw.random() < 0.7:
		at = max(clocks.start, draw.choice(clocks.steps) - int(takes * draw.random()))
	return at


def simulate(draw, model, clocks, stale):
	"""Clients that call, wait and call again. Each operation has its effect at a moment between; reads
	may see what was so earlier."""
	start, span = clocks.start, clocks.span
	clients = draw.randrange(2, 9)
	each = draw.randrange(3, 12)
	mean = span / each / 2.5 * 10 ** draw.uniform(-4, 0)
	begin = begin_at(draw, clocks, 0.5, 2.5 * each * mean)
	ops = []
	for client in range(clients):
		t = begin + int(draw.expovariate(1 / mean))
		for _ in range(each):
			call = t + 1 + int(draw.expovariate(1 / mean))
			at = call + 1 + int(draw.expovariate(2 / mean))
			back = at + 1 + int(draw.expovariate(2 / mean))
			ops.append({**ask(draw, model, len(ops)), 'process': client, 'call': call, 'at': at, 'return': back})
			t = back
			if draw.random() < 0.04:  # it gives up; what it asked for may happen much later, or never
				ops[-1].update({'return': None, 'at': at + int(draw.expovariate(0.2 / mean))})
				break
	ops = [op for op in ops if (op['return'] or op['call']) < start + span]
	state, states, at = {}, [(start, {})], []
	for op in sorted(ops, key=lambda op: (op['at'], op['process'])):
		lost = op['return'] is None and draw.random() < 0.5
		seen = state
		if stale and op['f'] in ('read', 'get') and draw.random() < 0.3:
			when = op['at'] - draw.expovariate(0.3 / mean)
			seen = [s for t, s in states if t <= when or t == start][-1]
		how, value = ('ok', None) if lost else apply(model, seen, op)
		op['type'], op['output'] = (None, None) if op['return'] is None else (how, value)
		states.append((op['at'], dict(state)))
	return sorted(ops, key=lambda op: op['call'])


# ---- histories of others -------------------------------------------------------------------------

STORE = re.compile(r'\{:process (\d+), :type :(\w+), :f :(\w+), :key "(.*?)", :value (nil|"(.*)")\}')
ETCD = re.compile(r'INFO  jepsen.util - (\d+)\t:(\w+)\t:(\w+)\t(.*)')


def value_of(text):
	if text.startswith('['):
		return tuple(int(v) for v in text[1:-1].split())
	return int(text) if text.lstrip('-').isdigit() else None


def recorded(draw, path, clocks):
	"""Lines in the order in which they were; the times are ours."""
	model = 'register' if path.endswith('.log') else 'store'
	with open(path) as f:
		lines = [m for m in ((ETCD if model == 'register' else STORE).match(line) for line in f) if m]
	gap = clocks.span / len(lines) / 2 * 10 ** draw.uniform(-3.5, 0)
	t, open_, ops = begin_at(draw, clocks, 0.4, len(lines) * gap), {}, []
	for m in lines:
		t += 1 + int(min(draw.expovariate(1 / gap), 10 * gap))
		process, kind, f = int(m[1]), m[2], m[3]
		value = value_of(m[4]) if model == 'register' else m[6]
		if kind == 'invoke':
			op = {'f': f, 'process': process, 'call': t, 'return': None, 'type': None, 'output': None,
				'input': value}
			if model == 'store':
				op['key'] = m[4]
			open_[process] = op
			ops.append(op)
		elif kind in ('ok', 'fail'):
			op = open_.pop(process)
			timed_out = 'timed-out' in m[4]
			op.update({'type': None if timed_out and f != 'read' else kind, 'return': t,
				'output': value if f in ('read', 'get') else None})
			if op['type'] is None:
				op['return'] = None
	return model, ops


# ---- in and out of the program ---------------------------------------------------------------------


def edn(v):
	if v is None:
		return 'nil'
	if isinstance(v, tuple):
		return '[' + ' '.join(edn(x) for x in v) + ']'
	return json.dumps(v)


def write_edn(folder, ops, machine, shows):
	"""A file a machine, each in the order of what happened there."""
	files = {}
	for i, op in enumerate(ops):
		name = machine[op['process']]
		head = f':process {op["process"]}, :f :{op["f"]}, :id {i}' + \
			(f', :key {edn(op["key"])}' if 'key' in op else '')
		lines = files.setdefault(name, [])
		lines.append((op['call'], f'{{:type :invoke, {head}, :value {edn(op["input"])}, '
			f':time {shows(name, op["call"])}}}'))
		if op['return'] is not None:
			value = op['output'] if op['f'] in ('read', 'get') else op['input']
			lines.append((op['return'], f'{{:type :{op["type"]}, {head}, :value {edn(value)}, '
				f':time {shows(name, op["return"])}}}'))
	words = []
	for name, lines in files.items():
		with open(f'{folder}/{name}.edn', 'w') as out:
			out.write('\n'.join(line for _, line in sorted(lines)) + '\n')
		words.append(f'{name}={folder}/{name}.edn')
	return words


def write_csv(folder, ops, machine, shows):
	with open(f'{folder}/operations.csv', 'w', newline='') as f:
		out = csv.writer(f, lineterminator='\n')
		out.writerow(['clock', 'process', 'op', 'call_ns', 'return_ns', 'status', 'key', 'input', 'output'])
		for op in ops:
			name = machine[op['process']]
			out.writerow([name, op['process'], op['f'], shows(name, op['call']),
				'' if op['return'] is None else shows(name, op['return']), op['type'] or 'info',
				op.get('key', ''), edn(op['input']), edn(op['output'])])
	return [f'{folder}/operations.csv']


def by_intervals(ops, told):
	return [{**op, 'from': t['Call'], 'to': t['Return']} for op, t in zip(ops, told)]


def same_order(ops, path):
	"""Knossos' form: no process calls twice, and lines order what the intervals order. What is wrong."""
	busy, called, returned = {}, {}, {}
	with open(path) as f:
		for n, line in enumerate(f):
			m = re.match(r'\{:index (\d+), :type :(\w+), :process (\d+), .*:id (\d+)', line)
			kind, process, i = m[2], int(m[3]), int(m[4])
			if int(m[1]) != n or kind == 'invoke' and process in busy or kind != 'invoke' and busy.get(process) != i:
				return f'line {n + 1}: {line}'
			if kind == 'invoke':
				busy[process] = called[n] = i
			else:
				returned[i] = n
				if kind != 'info':
					del busy[process]
	begins = sorted(op['from'] for op in ops)
	if [ops[i]['from'] for i in called.values()] != begins:
		return 'calls are in another order than the beginnings of intervals'
	places = list(called)
	for i, n in returned.items():
		behind = len(begins) - bisect.bisect_right(begins, ops[i]['to'])
		if ops[i]['type'] is not None and behind != len(places) - bisect.bisect(places, n):
			return f'behind operation {i} there are others than behind its interval'
	return ''


def tell(unskew, folder, words, form, *more):
	made = run(unskew, 'history', f'{folder}/clocks.json', *words, '--form', form, '--json', '--force', '-o',
		f'{folder}/{form}', *more)
	if made.returncode not in (0, 3):
		return made.stderr, None, None
	summary = json.loads(made.stdout)
	if form == 'knossos':
		return '', summary, None
	with open(f'{folder}/{form}') as f:
		return '', summary, json.load(f)


def false_order(ops):
	"""A pair that the intervals have in an order which it truly does not have."""
	over = sorted((op for op in ops if op['type'] is not None), key=lambda op: op['to'])
	last, k = None, 0
	for b in sorted(ops, key=lambda op: op['from']):
		while k < len(over) and over[k]['to'] < b['from']:
			last = over[k] if last is None or over[k]['return'] > last['return'] else last
			k += 1
		if last and not last['return'] < b['call']:
			return f'{last} is not truly before {b}'
	return ''


# ---- cases -----------------------------------------------------------------------------------------


def median(v):
	return sorted(v)[len(v) // 2] if v else 0


class Counts:
	def __init__(self):
		self.ok = self.skipped = self.untold = self.raw = self.unseen = 0
		self.bad = {w: [0, 0, 0] for w in WIDTHS}  # all, found, found by bounds alone
		self.pairs = [0, 0, 0, 0]  # all, certain, kept, by bounds
		self.events = [0, 0, 0]  # ordered pairs by vector clocks, decided, cases

	def lines(self, count):
		yield (f'{count} histories, {self.skipped} on clocks that broke what the answer assumes: not judged, '
			f'{self.untold} took too long to judge; in {self.unseen} a clock was set back unseen: bounds alone')
		yield (f'{self.ok} were linearizable, and all stay it; by stamps as recorded {self.raw} of them would not')
		for w, (n, found, bounds) in self.bad.items():
			if n:
				yield (f'{n} were not, bands up to {w} operations wide: {found} found '
					f'({100 * found / n:.1f} %), by bounds alone {bounds} ({100 * bounds / n:.1f} %)')
		if self.pairs[0]:
			yield ('pairs: {:.1f} % certain; of these {:.1f} % kept by intervals, {:.1f} % by bounds alone'.format(
				100 * self.pairs[1] / self.pairs[0], *(100 * p / max(1, self.pairs[1]) for p in self.pairs[2:])))
		if self.events[2]:
			yield (f'ewd998: {self.events[2]} cases, {100 * self.events[1] / self.events[0]:.1f} % of pairs that '
				f'vector clocks order are decided, none the other way round')


def judge(unskew, seed, data, counts):
	"""What is wrong with the case, '' if nothing is."""
	draw = random.Random(seed)
	with tempfile.TemporaryDirectory() as folder:
		clocks = make_clocks(unskew, draw, seed, folder)
		if not clocks:
			counts.skipped += 1
			return ''
		if data and draw.random() < 0.1:
			return judge_events(unskew, draw, data, folder, clocks, counts)
		path = None
		if data and draw.random() < 0.6:
			path = draw.choice(data['histories'])
			model, ops = recorded(draw, path, clocks)
		else:
			model = draw.choice(['register', 'store'])
			ops = simulate(draw, model, clocks, draw.random() < 0.5)
		if not ops:
			return ''
		processes = {op['process'] for op in ops}
		machine = {p: draw.choice(clocks.names) for p in sorted(processes)}
		return judge_history(unskew, draw, model, ops, path, machine, clocks, folder, counts)


TRULY = {}  # of recorded histories: their order of lines is always the same


def true_order(model, ops, path):
	if path in TRULY:
		return TRULY[path]
	order = order_of(model, [{**op, 'from': op['call'], 'to': op['return'] or OPEN} for op in ops], 3000000)
	if path:
		TRULY[path] = order
	return order


def judge_history(unskew, draw, model, ops, path, machine, clocks, folder, counts):
	# Then a clock's stamps need not be in order, and bands are all there is.
	shows, more = clocks.shows, ['--bounds'] if clocks.unseen else []
	counts.unseen += clocks.unseen
	order = true_order(model, ops, path)
	as_edn = draw.random() < 0.5
	words = (write_edn if as_edn else write_csv)(folder, ops, machine, shows)
	why, summary, told = tell(unskew, folder, words, 'porcupine', *more)
	if why or len(told) != len(ops):
		return f'history: {why or "operations are missing"}'
	if as_edn:  # file by file
		by_id = {t['Input']['id']: t for t in told}
		told = [by_id[i] for i in range(len(ops))]
	ours = by_intervals(ops, told)
	wrong = false_order(ours)
	if wrong:
		return wrong
	if as_edn and len(ops) < 150:
		why = tell(unskew, folder, words, 'knossos', *more)[0] or same_order(ours, f'{folder}/knossos')
		if why:
			return f'knossos: {why}'
	for i, key in enumerate(('pairs', 'certain', 'kept', 'by_bounds')):
		counts.pairs[i] += 0 if more else summary[key]
	if order:
		counts.ok += 1
		raw = [{**op, 'from': shows(machine[op['process']], op['call']), 'to': OPEN if op['return'] is None
			else shows(machine[op['process']], op['return'])} for op in ops]
		counts.raw += order_of(model, raw) is False
		if counts.ok % 10 == 0 and order_of(model, ours) is False:
			return 'a linearizable history is not any more'
		return '' if explains(model, ours, order) else 'an order that explained the history does not any more'
	found = order_of(model, ours)
	if order is None or found is None:
		counts.untold += 1
		return ''
	band = int(summary['widest_ns'] or 0)
	took = max(1, median([op['return'] - op['call'] for op in ops if op['return'] is not None]))
	bounds = tell(unskew, folder, words, 'porcupine', '--bounds')[2]
	if as_edn:
		by_id = {t['Input']['id']: t for t in bounds}
		bounds = [by_id[i] for i in range(len(ops))]
	row = counts.bad[next(w for w in WIDTHS if band <= w * took)]
	row[0] += 1
	row[1] += found is False
	row[2] += order_of(model, by_intervals(ops, bounds)) is False
	return ''


# ---- EWD998 ----------------------------------------------------------------------------------------


def judge_events(unskew, draw, data, folder, clocks, counts):
	nodes = len(data['events'])
	machine = [draw.choice(clocks.names) for _ in range(nodes)]
	gap = clocks.span / sum(len(e) for e in data['events']) / 2 * 10 ** draw.uniform(-3, 0)
	t, done, ops = begin_at(draw, clocks, 0.3, gap * 600), [0] * nodes, []
	while True:  # any order that the vector clocks allow
		ready = [k for k in range(nodes) if done[k] < len(data['events'][k]) and
			all(data['events'][k][done[k]][j] <= done[j] + (j == k) for j in range(nodes))]
		if not ready:
			break
		k = draw.choice(ready)
		t += 1 + int(min(draw.expovariate(1 / gap), 10 * gap))
		ops.append({'f': 'event', 'process': k, 'call': t, 'return': t, 'type': 'ok', 'input': None,
			'output': None, 'event': (k, done[k])})
		done[k] += 1
	if sum(done) != sum(len(e) for e in data['events']):
		return 'ewd998: the vector clocks have a cycle'
	why, _, told = tell(unskew, folder, write_csv(folder, ops, machine, clocks.shows), 'porcupine',
		*(['--bounds'] if clocks.unseen else []))
	if why:
		return f'ewd998: {why}'
	ours = by_intervals(ops, told)
	counts.events[2] += 1
	if false_order(ours):
		return f'ewd998: {false_order(ours)}'
	by_event = {op['event']: op for op in ours}
	for a, b in data['before']:
		a, b = by_event[a], by_event[b]
		if b['to'] < a['from']:
			return f'ewd998: {b} is not before {a}'
		counts.events[0] += 1
		counts.events[1] += a['to'] < b['from']
	return ''


def read_data(folder):
	where = f'{folder}/real/histories'
	trace = f'{folder}/real/ewd998/EWD998ChanTrace.ndjson.gz'
	if not folder or not os.path.isdir(where) or not os.path.exists(trace):
		return None
	with gzip.open(trace, 'rt') as f:
		lines = [json.loads(line) for line in f]
	nodes = lines[0]['N']
	events = [[] for _ in range(nodes)]
	for line in lines[1:]:
		clock = line['pkt']['vc']
		events[line['node']].append(tuple(clock.get(str(k), 0) for k in range(nodes)))
	for k in range(nodes):
		events[k].sort(key=lambda vector: vector[k])
	# The j-th event of node k is before all that know of j + 1 events there.
	known = [((k, j), (m, i)) for k in range(nodes) for j in range(len(events[k])) for m in range(nodes)
		for i, vector in enumerate(events[m]) if vector[k] > j and (m, i) != (k, j)]
	return {'before': known, 'histories': sorted(f'{where}/{name}' for name in os.listdir(where) if re.search(r'\.(txt|log)$', name)),
		'events': events}


def main():
	unskew = sys.argv[1]
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 40)
	data = read_data(sys.argv[4] if len(sys.argv) > 4 else '')
	counts, failed = Counts(), 0
	for seed in range(first, first + count):
		why = judge(unskew, seed, data, counts)
		failed += why != ''
		if why:
			print(f'seed {seed}: {why}')
	print('\n'.join(counts.lines(count)) + f'\n{failed} wrong')
	sys.exit(failed > 0 or not counts.ok)


main()
