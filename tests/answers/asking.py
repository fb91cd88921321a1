# SPDX-License-Identifier: MIT
"""asking.py - what the program is asked about an input, and a digest of all that it writes

Options are drawn once for an input, of which every command gets those that it knows; sync is asked always, and some of
COMMANDS. What stands in no answer is left out of digests: the version, how things are packed, the page's program.
"""
import base64
import csv
import gzip
import hashlib
import json
import os
import random
import re
import subprocess

import asked
import histories
import others

METHODS = ['middle', 'hull', 'support', 'regress', 'two-point', 'hull-or-two-point', 'regress+delta', 'hull+delta', 'two-point+delta',
	'two-point+moved', 'least-violation', 'round-trip', 'round-trip-90', 'round-trip-99', 'round-trip-100', 'round-trip-segments', 'interval',
	'min-window', 'first-offset', 'rate-ratio', 'rate-last', 'rate-segments', 'lp-rate', 'broadcast', 'broadcast-pairwise']
MATCH = {'reference', 'local', 'readings', 'resolution', 'from', 'to', 'tick-rate', 'send', 'recv', 'clock-of'}
MODEL = {'model', 'max-skew-ppm', 'max-outliers', 'min-delay', 'window'}
SOLVE = {'method', 'solve', 'weights'}
RULES = {'tick-rate', 'send', 'recv'}
ALL = MATCH | MODEL | SOLVE | {'anchor', 'clock-log'}
SECONDS = re.compile(rb'(?<="seconds":) ?[0-9.e-]+(?=[,\s}])')  # that an estimator took
UUID = re.compile(rb'\buuid = "([0-9a-f-]{36})"')
PACKED = re.compile(rb'(?<=<script type="text/plain" id="unskew-data">)[^<]*')
PROGRAM = re.compile(rb'<(script|style)>.*?</\1>', re.S)


def options(draw, i):
	"""[(name, value)] of what else sync may be told."""
	out = [(i.said[k][2:], i.said[k + 1]) for k in range(0, len(i.said), 2)]
	if draw.random() < 0.45:
		out.append(('model', draw.choice(['linear', 'wander', 'wander=1', 'wander=30', 'segments=20s', 'segments=1s', 'segments=auto'])))
	if draw.random() < 0.4:
		out.append(('method', draw.choice(METHODS + ['round-trip-90', 'round-trip-100'] * 2)))
		out += [('weights', draw.choice(['half-width', 'residual']))] if out[-1][1][-1].isdigit() else []
		out += [('window', draw.choice(['100ms', '5s']))] if out[-1][1] in ('min-window', 'rate-ratio', 'rate-last', 'rate-segments') else []
	if draw.random() < 0.15:
		out.append(('solve', 'tree'))
	if draw.random() < 0.2:
		least = i.least or 1500
		out.append(('min-delay', draw.choice([f'{least}ns', f'{least // 2}ns', '1us', f'{least // 3}ns+100ns+0.2ns/B'])))
	if draw.random() < 0.15:
		out.append(('max-outliers', draw.choice(['0', '1', '5', '1000'])))
	if draw.random() < 0.15:
		out.append(('max-skew-ppm', draw.choice(['100', '2000'])))
	return out + about_clocks(draw, i)


def about_clocks(draw, i):
	"""Options that name a clock."""
	out = []
	if i.reference:
		out.append(('reference', i.reference))
	elif i.clocks and draw.random() < 0.4:
		out.append(('reference', draw.choice(i.clocks)))
	named = out[-1][1] if out else None
	if named in i.spans:
		lo, hi = i.spans[named]
		out += [('from', str(lo + (hi - lo) // draw.choice([3, 10])))] if draw.random() < 0.2 else []
		out += [('to', str(hi - (hi - lo) // draw.choice([3, 10])))] if draw.random() < 0.2 else []
	if i.clocks and draw.random() < 0.1:
		out.append(('resolution', f'{draw.choice(i.clocks)}={draw.choice(["1us", "1ms"])}'))
	known = [c for c in i.clocks if c in i.spans]
	for _ in range(draw.choice([0, 0, 0, 0, 1, 2]) if len(known) > 1 else 0):
		a, b = draw.sample(known, 2)
		at = draw.random()
		x, y = (i.spans[c][0] + int((i.spans[c][1] - i.spans[c][0]) * at) for c in (a, b))
		out.append(('anchor', f'{a}@{x}={b}@{y}+-{10 ** draw.randrange(5, 10)}ns'))
	return out


def written(label):
	"""All files of a folder, without what says which writing it was: a random number, of CTF in every packet."""
	found = []
	for top, folders, files in os.walk(label):
		folders.sort()
		found += [os.path.join(top, name) for name in sorted(files) if not name.endswith('.otf2')]
	files = [(path.encode(), unpacked(path)) for path in found]
	uuids = {m[1] for _, data in files for m in UUID.finditer(data)}
	for path, data in files:
		for uuid in uuids:
			data = data.replace(uuid, b'UUID').replace(bytes.fromhex(uuid.decode().replace('-', '')), b'UUID')
		yield path + b'\0' + data


def unpacked(path):
	with open(path, 'rb') as f:
		data = f.read()
	if data[:2] == b'\x1f\x8b':
		return gzip.decompress(data)
	if path.endswith('.html'):
		return PACKED.sub(lambda m: gzip.decompress(base64.b64decode(m[0])), PROGRAM.sub(b'', data))
	return data


class Asked:
	def __init__(self, unskew, version, lacks, given, key):
		self.unskew, self.version, self.lacks, self.given = unskew, version.encode(), lacks, given
		self.key, self.draw = key, None
		self.options = options(random.Random(f'{key} options'), given)
		self.digests = {}  # by what was asked
		self.answer = {'clocks': []}

	def told(self, names, never='\n'):
		return [w for name, value in self.options if name in names and never not in value for w in (f'--{name}', value)]

	def ask(self, label, *args, stdin=None):
		"""A command, what it prints and all files in the folder of its own: its status."""
		os.makedirs(label, exist_ok=True)
		r = subprocess.run([self.unskew, *args], input=stdin, capture_output=True, timeout=120)
		asked.demand_whole(args[0], r.returncode, (r.stderr + r.stdout).decode(errors='replace'))
		found = hashlib.sha256()
		for part in (str(r.returncode).encode(), r.stdout, r.stderr, *written(label)):
			found.update(b'\0' + SECONDS.sub(b'', part.replace(self.version, b'VERSION')))
		for name, data in (('stdout', r.stdout), ('stderr', r.stderr)):
			with open(os.path.join(label, name), 'wb') as f:
				f.write(data)
		self.digests[label] = found.hexdigest()[:7]
		return r.returncode

	def knots(self):
		"""[(clock, its knots)] of those that have some."""
		return [(c['name'], c['knots']) for c in self.answer['clocks'] if c.get('knots')]

	def stamps(self, n):
		"""[(clock, stamp)] at knots, beside them, between them and beyond."""
		draw, some, out = self.draw, self.knots(), []
		for _ in range(n if some else 0):
			clock, knots = draw.choice(some)
			i = draw.randrange(len(knots))
			x = int(knots[i]['local_ns'])
			y = int(knots[i - 1]['local_ns']) if i else x
			out.append((clock, draw.choice([x, x + 1, x - 1, (x + y) // 2, x + (x - y) * 3 // 7, x - draw.randrange(10**6), x + draw.randrange(10**9)])))
		return [(c, x) for c, x in out if abs(x) < 2**63 - 1]


def sync(a):
	status = a.ask('sync', 'sync', *a.given.traces, *a.told(ALL), '-o', 'sync/clocks.json')
	if status not in (0, 3):  # what was drawn does not go together
		a.options = [(name, value) for name, value in a.options if f'--{name}' in a.given.said]
		status = a.ask('sync.plain', 'sync', *a.given.traces, *a.told(ALL), '-o', 'sync/clocks.json')
	if os.path.exists('sync/clocks.json'):
		with open('sync/clocks.json', encoding='utf-8') as f:
			a.answer = json.load(f)
	return status in (0, 3)


def again(a, label, *more):
	a.ask(label, 'sync', *a.given.traces, *a.told(ALL), *more)


# ---- what may be asked then: each gets an Asked whose answer is there


def apply(a):
	traces = a.given.also or a.given.traces
	how = a.told(RULES) + (['--allow-unbounded'] if a.draw.random() < 0.9 else [])
	if a.given.packets and a.draw.random() < 0.5:
		how += ['--comments', a.draw.choice(['all', 'changed', 'none'])]
	if a.given.kind == 'ctf' and a.draw.random() < 0.5:
		how += ['--residual', a.draw.choice(['10us', '1ms'])]
	out = 'apply/out' if len(traces) > 1 or a.given.kind in ('ctf', 'collectives') else 'apply/' + os.path.basename(traces[0])
	a.ask('apply', 'apply', 'sync/clocks.json', *traces, *how, '-o', out)


def merge(a):
	comments = a.draw.choice([[], ['--comments', 'all'], ['--comments', 'changed']])
	if a.draw.random() < 0.5:
		again(a, 'merge', '--merge', 'merge/all.pcapng', '--allow-unbounded', *comments)
	else:
		traces = [t for t in a.given.traces if 'pcap' in t]
		a.ask('merge', 'apply', 'sync/clocks.json', *traces, '--merge', 'merge/all.pcapng', '--allow-unbounded', *comments)


def twice(a):
	"""What apply wrote is read again."""
	a.ask('twice', 'apply', 'sync/clocks.json', *a.given.traces, '--comments', a.draw.choice(['all', 'changed']), '--allow-unbounded', '-o', 'twice/out')
	made = [os.path.join('twice/out', n) for n in sorted(os.listdir('twice/out'))] if os.path.isdir('twice/out') else []
	if made:
		a.ask('twice.sync', 'sync', *made, '--json')


def anew(a):
	"""What apply wrote it corrects again, where what was recorded stays beside it."""
	a.ask('anew.first', 'apply', 'sync/clocks.json', *a.given.traces, '--allow-unbounded', '-o', 'anew.first/out')
	made = [os.path.join('anew.first/out', n) for n in sorted(os.listdir('anew.first/out'))] if os.path.isdir('anew.first/out') else []
	if os.path.isfile('anew.first/out'):
		made = ['anew.first/out']
	if made:
		a.ask('anew', 'apply', 'sync/clocks.json', *made, '--allow-unbounded', '-o', 'anew/out')


def timeline(a):
	a.ask('timeline', 'apply', 'sync/clocks.json', *a.given.traces, *a.given.also, *a.told(RULES), '--timeline', 'timeline/t.json', '--allow-unbounded')


def convert(a):
	stamps = a.stamps(30)
	if stamps:
		epoch = ['--epoch', a.draw.choice('012')] if a.draw.random() < 0.15 else []
		a.ask('convert', 'convert', 'sync/clocks.json', *epoch, '--', *(f'{c}:{x}' for c, x in stamps))


def fields(a):
	"""Lines of text with a stamp in each."""
	stamps = a.stamps(12)
	if stamps:
		clock = stamps[0][0]
		text = ''.join(f'{i},{x},rest\n' for i, (c, x) in enumerate(stamps) if c == clock)
		a.ask('fields', 'convert', 'sync/clocks.json', f'--clock={clock}', '-F', '2', '-s', ',', stdin=text.encode())


def date(ns, form):
	s, part = divmod(ns, 10**9)
	days, second = divmod(s, 86400)
	y, m, d = civil(days)
	when = f'{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}'
	return {'iso': f'{y:04}-{m:02}-{d:02}T{when}.{part:09}Z', 'comma': f'{y:04}-{m:02}-{d:02} {when},{part // 10**6:03}',
		'epoch': f'{s}.{part // 1000:06}', 'ns': str(ns)}[form]


def civil(days):
	"""Year, month, day of a day since 1970."""
	n = days + 719468
	era, doe = divmod(n, 146097)
	yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
	doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
	mp = (5 * doy + 2) // 153
	m = mp + 3 if mp < 10 else mp - 9
	return yoe + era * 400 + (m <= 2), m, doy - (153 * mp + 2) // 5 + 1


def logs(a):
	by, draw = {}, a.draw
	for clock, x in a.stamps(40):
		if 10**18 < x < 4 * 10**18 and '=' not in clock and '/' not in clock:
			by.setdefault(clock, []).append(x)
	if not by:
		return
	form, as_json = draw.choice(['iso', 'comma', 'epoch', 'ns']), draw.random() < 0.3
	operands = []
	for number, (clock, stamps) in enumerate(sorted(by.items())):
		with open(f'{number}.log', 'w', encoding='utf-8') as f:
			for i, x in enumerate(sorted(stamps)):
				f.write(f'{{"n":{i},"ts":"{date(x, form)}"}}\n' if as_json else f'{date(x, form)} line {i}\n' + '\tand more\n' * (i % 3 == 0))
		operands.append(f'{clock}={number}.log')
	more = (['--merge'] if draw.random() < 0.6 else []) + (['--names'] if draw.random() < 0.4 else []) + (['--json-key', 'ts'] if as_json else [])
	more += ['--zone', '+01:30'] if form == 'comma' and draw.random() < 0.5 else []
	a.ask('logs', 'convert', '--log', *more, '--', 'sync/clocks.json', *operands)


def before(a):
	stamps = [(c, x) for c, x in a.stamps(30) if not set(c) & set(' \t')]
	if stamps:
		text = ''.join(f'{c}:{x} {d}:{y}\n' for (c, x), (d, y) in zip(stamps, stamps[1:]))
		a.ask('before', 'before', 'sync/clocks.json', stdin=text.encode())


def check(a):
	a.ask('check', 'check', *a.given.traces, *a.told(MATCH | {'min-delay'}), *a.draw.choice([[], ['--json']]))


def compare(a):
	some = ['--method', ','.join(a.draw.sample(METHODS, 4))] if a.draw.random() < 0.3 else []
	some += ['--window', a.draw.choice(['100ms', '2s'])] if a.draw.random() < 0.5 else []
	a.ask('compare', 'compare', *a.given.traces, *a.told(MATCH | MODEL - {'window'}), *true(a), *some, *a.draw.choice([[], ['--json'], ['--csv']]))


def true(a):
	return ['--truth', 'in/truth.json'] if os.path.exists('in/truth.json') and a.draw.random() < 0.5 else []


def rows(a):
	for what in a.draw.sample(['clocks', 'pairs', 'knots', 'jumps', 'outliers'], 2):
		again(a, f'rows.{what}', '--rows', what, '--format', a.draw.choice(['csv', 'tsv', 'json']))


def messages(a):
	again(a, 'messages', '--messages', 'messages/used.csv', *true(a))


def proved(a):
	"""Of what can be proved: nothing but messages, and delays that are one number."""
	return a.told(ALL - {'anchor', 'clock-log', 'readings'}, never='/B')


def proof(a):
	if a.answer['messages']['matched'] <= PROVED:
		a.ask('proof', 'sync', *a.given.traces, *proved(a), '--proof', 'proof/proof', '-o', 'proof/clocks.json', '-q')


def plot(a):
	names = [name for name, _ in a.knots() if not name.startswith('-')]
	if names:
		again(a, 'plot', '--plot', a.draw.choice(names))


def explain(a):
	readings = any(name == 'readings' for name, _ in a.options)
	some = [w for c, x in a.stamps(2) if c in a.given.clocks or not readings for w in ('--explain', f'{c}:{x}')]
	if some and a.answer['messages']['matched'] <= PROVED:
		a.ask('explain', 'sync', *a.given.traces, *proved(a), *some)


def report(a):
	if a.draw.random() < 0.2:
		a.ask('report', 'report', 'sync/clocks.json', '-o', 'report/page.html')
		return
	more = (['--compare'] if a.draw.random() < 0.4 else []) + (['--full'] if a.draw.random() < 0.3 else [])
	few = a.answer['messages']['matched'] <= PROVED and a.given.clocks
	why = [w for c, x in a.stamps(1) if c in few for w in ('--explain', f'{c}:{x}')] if few and a.draw.random() < 0.3 else []
	a.ask('report', 'report', *a.given.traces, *(proved(a) if why else a.told(ALL)), *true(a), *more, *why, '-o', 'report/page.html')


def calibrate(a):
	more = a.draw.choice([[], ['--margin', '5%', '--json'], ['--margin', '30%'], ['--margin', '50%'], ['--asymmetry', '1us']])
	a.ask('calibrate', 'calibrate', *a.given.traces, *a.told(MATCH), *more, '-o', 'calibrate/delays.csv')
	if os.path.exists('calibrate/delays.csv'):
		a.ask('calibrated', 'sync', *a.given.traces, *a.told(MATCH | {'clock-log'}), '--min-delay', '@calibrate/delays.csv', '--json')


def plan(a):
	if a.answer['messages']['matched'] > 1000 or len(a.answer['clocks']) > 4:
		return
	ends = [int(k['local_ns']) for _, knots in a.knots() for k in (knots[0], knots[-1])]
	span = max(1000, min(10**12, max(ends, default=10**9) - min(ends, default=0))) if ends else 10**9
	more = a.draw.choice([[], ['--json'], ['--want', '100us'], ['--top', '1']])
	a.ask('plan', 'plan', *a.given.traces, *a.told(MATCH | MODEL | SOLVE), '--span', f'{span}ns', '--periods', f'{span // 5}ns,{span // 40}ns', *more)


def join(a):
	traces, said = a.given.traces, a.told(RULES)
	for number, some in enumerate([traces[:1], traces[1:]] if len(traces) > 1 and a.draw.random() < 0.7 else [traces]):
		a.ask(f'join.{number}', 'part', '-q', *some, *said, '-o', f'join.{number}/part{number}')
	parts = [f'join.{number}/part{number}' for number in (0, 1) if os.path.isdir(f'join.{number}/part{number}')]
	a.ask('join', 'join', *parts, *a.told(ALL - RULES - {'clock-log', 'clock-of'}), '--json')


def late(a):
	out = a.draw.choice([['-o', 'late/each.csv'], ['--json']])
	a.ask('late', 'late', *a.given.traces, *a.told(MATCH | MODEL | SOLVE | {'anchor'}), *out)


def history(a):
	stamps, draw = sorted(a.stamps(24), key=lambda s: s[1]), a.draw
	if not stamps:
		return
	as_edn = draw.random() < 0.5
	form, ops = histories.drawn(draw, stamps)
	more = draw.choice([[], [], ['--bounds'], ['--json'], ['--resolution', '1us']])
	operands = histories.edn(draw, ops, form == 'elle') if as_edn else histories.table(draw, ops)
	said = [w for w in operands[1:] if operands[0] == 'all.edn']
	operands = [w for w in operands if w not in said]
	a.ask('history', 'history', '--form', form, *more, *said, '-o', 'history/out', '--', 'sync/clocks.json', *operands)


def reduced(a):
	"""Of the answer as others may write it; and one offset for each clock, which is all that some can take."""
	with open('reduced.json', 'w', encoding='utf-8') as f:
		json.dump(others.reduced(a.draw, a.answer), f)
	stamps = a.stamps(20)
	if stamps:
		a.ask('reduced.convert', 'convert', 'reduced.json', '--', *(f'{c}:{x}' for c, x in stamps))
	how = a.told(RULES) + (['--allow-unbounded'] if a.draw.random() < 0.7 else [])
	a.ask('reduced', 'apply', 'reduced.json', *a.given.traces, *how, '-o', 'reduced/out')
	names = [name for name, _ in a.knots() if '/' not in name and '=' not in name]
	for name in names:
		with open(f'{name[:90]}.pftrace', 'w', encoding='utf-8'):
			pass
	operands = [f'{name}={name[:90]}.pftrace' for name in names]
	more = a.draw.choice([[], ['--residual', '1ms'], ['--perfetto-clock', 'BOOTTIME']])
	a.ask('manifest', 'apply', a.draw.choice(['sync/clocks.json', 'reduced.json']), '--perfetto-manifest', 'manifest/m.json', *more, '--', *operands)


def audit(a):
	draw, n, claims = a.draw, 0, ['--claims', 'claims.csv']
	between = random.Random(f'{a.key} between').random() < 0.3
	with open('claims.csv', 'w', newline='', encoding='utf-8') as f:
		out = csv.writer(f)
		out.writerow(['clock', 'time_ns', *(['earliest_ns', 'latest_ns'] if between else ['offset_ns', 'error_ns'])])
		for clock, knots in a.knots():
			sure = [k for k in knots if k['offset_ns'] is not None]
			if draw.random() < 0.3 and len(sure) > 1 and int(sure[0]['local_ns']) > 10**17 and not set(clock) & set('/='):
				rows = [(int(k['local_ns']), int(k['offset_ns'])) for k in draw.sample(sure, min(len(sure), 6))]
				claims += ['--claims', f'{clock}={others.chrony(draw, clock, rows, date)}']
				continue
			for k in draw.sample(sure, min(len(sure), 4)):
				error = int(10 ** draw.uniform(3, 6))
				off = draw.randrange(-error, error + 1) if draw.random() < 0.8 else draw.randrange(-10**7, 10**7)
				at = int(k['offset_ns']) + off
				true = int(k['local_ns']) + at
				out.writerow([clock, k['local_ns'], *([true - error, true + error // 3] if between else [at, error])])
				n += 1
	if n:
		a.ask('audit', 'audit', *claims, *a.given.traces, *a.told(MATCH), *draw.choice([[], ['--json'], ['--max-skew-ppm', '20']]))


MANY = 4  # of these are asked of each input

EVENTS = ['messages', 'captures', 'mixed', 'readings', 'spans', 'ctf', 'dat']

PROVED = 250  # messages, of more than which no proof is asked: it takes longest

# What of it is asked how often, of which kinds of input (none: all), and what it needs.
COMMANDS = [
	(apply, 5, ['messages', 'captures', 'mixed', 'readings', 'spans', 'ctf', 'profiles', 'collectives'], None),
	(merge, 4, ['captures', 'readings'], None),
	(twice, 2, ['captures'], None),
	(anew, 1, [], None),  # where an input says so
	(timeline, 2, None, None),
	(convert, 3, None, None),
	(fields, 1, None, None),
	(logs, 2, None, None),
	(before, 1, None, None),
	(check, 2, None, None),
	(compare, 2, None, 'CLP'),
	(rows, 2, None, None),
	(messages, 2, None, None),
	(proof, 2, None, None),
	(plot, 1, None, None),
	(explain, 2, None, None),
	(report, 3, None, 'page'),
	(calibrate, 2, EVENTS, None),
	(plan, 1, EVENTS, None),
	(join, 2, ['messages', 'captures', 'mixed', 'ctf', 'dat'], None),
	(late, 6, ['collectives', 'profiles'], None),
	(history, 2, None, None),
	(audit, 2, None, None),
	(reduced, 2, None, None),
]


def some(key, kind):
	"""Which commands are asked of an input of that kind: one more in COMMANDS changes as few of them as can be."""
	fitting = [(c, share, need) for c, share, kinds, need in COMMANDS if kinds is None or kind in kinds]
	drawn = {c.__name__: random.Random(f'{key} {c.__name__}').random() ** (1 / share) for c, share, _ in fitting}
	return [(c, need) for c, _, need in sorted(fitting, key=lambda f: -drawn[f[0].__name__])[:MANY]]


def needs_more(a):
	"""What sync itself would do otherwise without: lines of many clocks are solved by CLP."""
	return ['CLP'] if 'CLP' in a.lacks and ('model', 'linear') in a.options else []


def ask_all(a):
	"""Ask it all; what could not be asked here."""
	if not sync(a):
		return []
	left_out = []
	always = [(c, need) for c, _, _, need in COMMANDS if c.__name__ in a.given.asked]
	for command, need in dict.fromkeys(always + some(a.key, a.given.kind)):
		a.draw = random.Random(f'{a.key} {command.__name__}')
		if need in a.lacks:
			left_out.append(command.__name__)
		else:
			command(a)
	return left_out
