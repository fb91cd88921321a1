#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spans_out.py UNSKEW [FIRST [COUNT]] - spans in JSON come out of apply with true stamps, and all else as it was

Requests between hosts whose clocks are known are written as OTLP, Jaeger and Zipkin, with keys in any order, blanks
anywhere, events, attributes that are there, empty or not, escapes, resources behind their spans. Put on one clock and
re-timed: every band holds the truth and the stamp, no call is received before it was sent, and whoever takes the added
attributes out again and puts back what they say was recorded has the original, byte for byte. Packed, cut short and with
a damaged line, too. A case is made by its seed alone; --keep FOLDER leaves its files there.
"""
import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

START = 1700000000 * 10**9
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
FACETS = ('recorded', 'earliest', 'latest')


# ---- the truth

class World:
	def __init__(self, seed):
		self.draw = draw = random.Random(seed)
		self.hosts = draw.choice([2, 3, 5])
		self.clock = [(draw.randrange(-10**8, 10**8), draw.uniform(-3e-5, 3e-5)) for _ in range(self.hosts + 1)]
		self.spans = []  # host, trace, id, parent, kind, true start and end, true times of events
		self.ids = 0
		for trace in range(1, draw.choice([60, 150, 400])):
			t = trace * 10**7 + draw.randrange(10**7)
			self.call(trace, 0, draw.randrange(self.hosts), t, 0)
		self.alone = draw.random() < 0.3  # the last host talks to nobody
		if self.alone:
			self.add(self.hosts, 10**6, 0, 'INTERNAL', 10**9, 10**9 + 5000)

	def add(self, host, trace, parent, kind, begin, end):
		self.ids += 1
		events = sorted(self.draw.randrange(begin, end + 1) for _ in range(self.draw.choice([0, 0, 0, 1, 3])))
		self.spans.append((host, trace, self.ids, parent, kind, begin, end, events))
		return self.ids

	def call(self, trace, parent, host, t, depth):
		"""A client's span and its server's; returns when the client had its answer."""
		draw = self.draw
		other = draw.choice([h for h in range(self.hosts) if h != host])
		there, back = (20000 + int(draw.expovariate(1 / 50000)) for _ in range(2))
		own = self.add(host, trace, parent, 'CLIENT', t, t)
		s = t + there
		server = self.add(other, trace, own, 'SERVER', s, s)
		e = s + draw.randrange(1000, 10**6)
		if depth < 2 and draw.random() < 0.4:
			e = self.call(trace, server, other, e, depth + 1) + draw.randrange(1000, 10**5)
		for which, end in ((server, e), (own, e + back)):
			row = list(self.spans[which - 1])
			row[6] = end
			self.spans[which - 1] = tuple(row)
		return e + back

	def shows(self, host, true):
		offset, drift = self.clock[host]
		return START + true + offset + int(true * drift)


# ---- files

class Text:
	"""JSON as people's tools write it: any order of keys, blanks, escapes."""

	def __init__(self, draw):
		self.draw = draw
		self.blank = draw.choice([[''], ['', ' '], ['', ' ', '\t']])
		self.shuffled = draw.random() < 0.7

	def space(self):
		return self.draw.choice(self.blank)

	def many(self, brackets, items):
		if not items:
			return brackets[0] + ' ' + brackets[1]  # unlike what is written for what was not there
		parts = [self.space() + i + self.space() for i in items]
		return brackets[0] + ','.join(parts) + brackets[1]

	def object(self, pairs):
		pairs = [p for p in pairs if p]
		if self.shuffled:
			self.draw.shuffle(pairs)
		return self.many('{}', [f'"{k}"{self.space()}:{self.space()}{v}' for k, v in pairs])

	def array(self, items):
		return self.many('[]', items)

	def string(self):
		return json.dumps(''.join(self.draw.choice('ab"\\{}[],:\u00e9\n \U0001f600') for _ in range(self.draw.randrange(9))),
			ensure_ascii=self.draw.random() < 0.5)


def otlp(w, x, draw):
	quoted = draw.random() < 0.8

	def ns(host, true):
		return f'"{w.shows(host, true)}"' if quoted else str(w.shows(host, true))

	def attribute(key, value):
		return x.object([('key', f'"{key}"'), ('value', x.object([('stringValue', value)]))])

	def some():
		return [attribute(f'k{i}', x.string()) for i in range(draw.choice([0, 0, 1, 3]))]

	def span(s):
		host, trace, own, parent, kind, begin, end, events = s
		return x.object([('traceId', f'"{trace:032x}"'), ('spanId', f'"{own:016x}"'),
			parent and ('parentSpanId', f'"{parent:016x}"'), ('name', x.string()), ('kind', f'"SPAN_KIND_{kind}"'),
			('startTimeUnixNano', ns(host, begin)), ('endTimeUnixNano', ns(host, end)),
			draw.random() < 0.7 and ('attributes', x.array(some())),
			(events or draw.random() < 0.3) and ('events', x.array([x.object([('timeUnixNano', ns(host, e)),
				('name', x.string()), draw.random() < 0.3 and ('attributes', x.array(some()))]) for e in events]))])

	lines, rest = [], list(w.spans)
	while rest:
		part, rest = rest[:draw.choice([1, 20, 200])], rest[20:] if len(rest) > 220 else []
		rest = [s for s in w.spans if s[2] > part[-1][2]]
		batches = []
		for host in sorted({s[0] for s in part}):
			batches.append(x.object([
				('resource', x.object([('attributes', x.array([attribute('host.name', f'"h{host}"'),
					attribute('service.name', '"s"')]))])),
				('scopeSpans', x.array([x.object([('spans', x.array([span(s) for s in part if s[0] == host]))])]))]))
		lines.append(x.object([('resourceSpans', x.array(batches))]) + '\n')
	return ''.join(lines)


def us(w, host, begin, end):
	a, b = w.shows(host, begin), w.shows(host, end)
	return a // 1000, (b - a + 500) // 1000


def jaeger(w, x, draw):
	def tag(key, value):
		return x.object([('key', f'"{key}"'), ('type', '"string"'), ('value', value)])

	def span(s):
		host, trace, own, parent, kind, begin, end, events = s
		start, duration = us(w, host, begin, end)
		return x.object([('traceID', f'"{trace:x}"'), ('spanID', f'"{own:x}"'), ('operationName', x.string()),
			parent and ('references', x.array([x.object([('refType', '"CHILD_OF"'), ('traceID', f'"{trace:x}"'),
				('spanID', f'"{parent:x}"')])])),
			('startTime', str(start)), ('duration', str(duration)), ('processID', f'"p{host}"'),
			('tags', x.array([tag('span.kind', f'"{kind.lower()}"')] + [tag('t', x.string())] * draw.choice([0, 1]))),
			('logs', x.array([x.object([('timestamp', str(w.shows(host, e) // 1000)),
				('fields', x.array([tag('event', x.string())]))]) for e in events])), ('warnings', 'null')])

	traces = []
	for trace in sorted({s[1] for s in w.spans}):
		part = [s for s in w.spans if s[1] == trace]
		processes = x.object([(f'p{h}', x.object([('serviceName', '"s"'), ('tags', x.array([tag('hostname', f'"h{h}"')]))]))
			for h in sorted({s[0] for s in part})])
		traces.append(x.object([('traceID', f'"{trace:x}"'), ('spans', x.array([span(s) for s in part])),
			('processes', processes)]))
	return '{"data":' + x.array(traces) + ', "total":0}'


def zipkin(w, x, draw):
	def span(s):
		host, trace, own, parent, kind, begin, end, events = s
		start, duration = us(w, host, begin, end)
		return '{"traceId":"%016x",' % trace + x.object([('id', f'"{own:016x}"'), parent and ('parentId', f'"{parent:016x}"'),
			kind != 'INTERNAL' and ('kind', f'"{kind}"'), ('name', x.string()), ('timestamp', str(start)),
			('duration', str(duration)), ('localEndpoint', x.object([('serviceName', f'"h{host}"')])),
			draw.random() < 0.6 and ('tags', x.object([(f'k{i}', x.string()) for i in range(draw.choice([0, 1, 2]))])),
			events and ('annotations', x.array([x.object([('timestamp', str(w.shows(host, e) // 1000)),
				('value', x.string())]) for e in events]))])[1:]
	return '[' + ','.join(span(s) for s in w.spans) + ' ]\n'


FORMATS = {'otlp': otlp, 'jaeger': jaeger, 'zipkin': zipkin}


# ---- where things stand, found by other means than unskew's

STAMPS = {'startTimeUnixNano': 'start', 'endTimeUnixNano': 'end', 'startTime': 'start', 'timestamp': 'start',
	'duration': 'duration'}


def spans_of(text):
	"""Each span that is whole: key or 'event' -> places of values, 'id', and of added attributes: name, value, place, whole container."""
	found, stack, before = [], [], 0	# a frame: opened by, key, the value's kind, where, its span
	for m in TOKEN.finditer(text):
		token, top = m[0], stack[-1] if stack else None
		if token in '{[':
			kind = None
			if token == '{' and top and top['is'] == '[' and (top['key'] == 'spans' or
					(len(stack) == 1 and text[0] == '[')):
				kind = 'span'
			elif top and top['kind'] == 'span' and top['last'] in ('attributes', 'tags'):
				kind = 'attributes'
			elif token == '{' and top and top['kind'] == 'attributes':
				kind = 'attribute'
			elif token == '{' and top and top['is'] == '[' and len(stack) > 1 and stack[-2]['kind'] == 'span' and \
					top['key'] in ('events', 'logs', 'annotations'):
				kind = 'event'
			span = {'events': [], 'added': []} if kind == 'span' else top and top['span']
			stack.append({'is': token, 'kind': kind, 'key': top and top['last'], 'last': None, 'from': m.start(),
				'before': before, 'span': span, 'says': {}, 'n': 0, 'want': token == '{'})
			if top:
				top['n'] += 1
			if kind == 'attribute':
				top['one'] = m.start()
		elif token in '}]':
			frame = stack.pop()
			if frame['kind'] == 'attribute':
				name = frame['says'].get('key', '')
				if name.startswith('unskew.'):
					frame['span']['added'].append((name, frame['inner'], frame['before'], m.end()))
			elif frame['kind'] == 'attributes':
				frame['span']['container'] = (frame['from'], m.end(), frame['n'])
			elif frame['kind'] == 'span':
				found.append(frame['span'])
			if stack:
				parent = stack[-1]
				if 'inner' in frame:
					parent['inner'] = frame['inner']
		elif token == ':':
			top['want'] = False
		elif token == ',':
			if top:
				top['want'] = top['is'] == '{'
		elif top:
			top['n'] += top['is'] == '[' or top['want']
			value = json.loads(token) if token[0] == '"' else token
			if top['want']:
				top['last'], top['keyed'] = value, before
			else:
				top['says'][top['last']] = value
				if top['last'] in ('stringValue', 'value'):
					top['inner'] = value
				if top['kind'] == 'span' and top['last'] in STAMPS:
					top['span'][STAMPS[top['last']]] = (m.start(), m.end(), value)
				if top['kind'] == 'span' and top['last'] in ('spanId', 'spanID', 'id'):
					top['span']['id'] = int(value, 16)
				if top['kind'] == 'event' and top['last'] in ('timeUnixNano', 'timestamp'):
					top['span']['events'].append((m.start(), m.end(), value))
				if top['kind'] == 'attributes' and top['last'].startswith('unskew.'):
					top['span']['added'].append((top['last'], value, top['keyed'], m.end()))
		before = m.end()
	return found


def undo(text):
	"""What was recorded, and the spans with what was said of them."""
	edits, spans = [], spans_of(text)
	for s in spans:
		if not s['added']:
			continue
		said = s['said'] = {name: value for name, value, *_ in s['added']}
		unit = 1 if 'duration' not in s and len(s['start'][2]) > 17 else 1000
		begin, end = (int(said[f'unskew.{w}.recorded_ns']) // unit for w in ('start', 'end'))
		back = {'start': begin, 'end': end, 'duration': end - begin}
		for which in back:
			if which in s:
				edits.append((*s[which], back[which]))
		recorded = said.get('unskew.events.recorded_ns', '').split(',')
		for place, was in zip(s['events'], recorded):
			edits.append((*place, int(was) // unit))
		first, last = s['added'][0][2], s['added'][-1][3]
		opens, closes, holds = s['container']
		whole = re.compile(r',"(attributes|tags)":[\[{]\Z').search(text, 0, opens + 1)
		if whole and holds == len(s['added']) and text[closes - 2] != ' ':
			first, last = whole.start(), closes	# was not there
		elif text[first - 1] == ',':
			first -= 1
		edits.append((first, last, None, None))
	out, at = [], 0
	for begin, end, value, was in sorted(edits, key=lambda e: e[0]):
		out.append(text[at:begin])
		if value is not None:
			quote = '"' if text[begin] == '"' else ''
			out.append(f'{quote}{was}{quote}')
		at = end
	return ''.join(out) + text[at:], spans


# ---- cases

class Fault(Exception):
	pass


def run(*command, status=(0,)):
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
	if done.returncode not in status:
		raise Fault(f'{" ".join(command)}: status {done.returncode}: {done.stderr.strip()}')
	return done


def write(path, text):
	with open(path, 'w', newline='') as f:
		f.write(text)


def read(path):
	with open(path, newline='') as f:
		return f.read()


def same(what, a, b):
	if a != b:
		at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
		raise Fault(f'{what}: differs at character {at}: {a[at - 40:at + 80]!r}, not {b[at - 40:at + 80]!r}')


def held(w, clocks, spans):
	"""Bands hold the truth, and stamps stand in them; how many were held against it."""
	by_id = {s[2]: s for s in w.spans}
	reference = int(next(c['name'] for c in clocks if c['quality'] == 'reference')[1:])
	n = 0
	for s in spans:
		true = by_id[s['id']]
		if 'said' not in s:
			if true[0] != w.hosts or not w.alone:
				raise Fault(f'span {true[2]} was not corrected')
			continue
		now = int(s['start'][2]), int(s['end'][2] if 'end' in s else int(s['start'][2]) + int(s['duration'][2]))
		unit = 1 if 'end' in s else 1000
		for which, stamp, t in zip(('start', 'end'), now, true[5:7]):
			lo, hi = (int(s['said'][f'unskew.{which}.{f}_ns']) for f in FACETS[1:])
			if not lo <= w.shows(reference, t) <= hi:
				raise Fault(f'span {true[2]}: its {which} {w.shows(reference, t)} is not in [{lo}, {hi}]')
			if not lo - unit < stamp * unit <= hi:
				raise Fault(f'span {true[2]}: its {which} is stamped {stamp * unit}, not in [{lo}, {hi}]')
			n += 1
	return n


def violations(unskew, path):
	text = run(unskew, 'sync', path, status=(0, 3)).stdout
	return int(re.search(r'before sent\): (\d+) before', text)[1])


def damaged(w, unskew, name, at, text, clocks):
	"""Cut short anywhere; a line that is none."""
	cut = text[:w.draw.randrange(len(text) // 2, len(text))]
	variants = [cut]
	if name == 'otlp' and text.count('\n') > 2:
		i = text.index('\n') + 1
		variants.append(text[:i] + '{"resourceSpans":[oops]}\n' + text[i:])
	for variant in variants:
		write(at('damaged'), variant)
		done = run(unskew, 'apply', clocks, at('damaged'), '-o', at('damaged.out'), '--force', status=(0, 1, 3))
		if done.returncode != 1:
			same('damaged', undo(read(at('damaged.out')))[0], variant)
		elif done.stderr.count('\n') != 1:
			raise Fault(f'damaged: {done.stderr}')


def case(unskew, seed, folder):
	w = World(seed)
	n = 0
	for name, make in FORMATS.items():
		draw = random.Random(f'{seed} {name}')

		def at(suffix):
			return os.path.join(folder, f'{name}.{suffix}')

		text = make(w, Text(draw), draw)
		write(at('json'), text)
		run(unskew, 'sync', '-q', at('json'), '-o', at('clocks'), '--force', status=(0, 3))
		done = run(unskew, 'apply', at('clocks'), at('json'), '-o', at('out'), '--force', status=(3 if w.alone else 0,))
		if w.alone and '1 span of clock h' not in done.stderr:
			raise Fault(f'nothing is said of the span of a clock alone: {done.stderr}')
		out = read(at('out'))
		json.loads('[' + out.replace('}\n{', '},{') + ']')
		original, spans = undo(out)
		same(name, original, text)
		if len(spans) != len(w.spans):
			raise Fault(f'{name}: {len(spans)} spans, not {len(w.spans)}')
		with open(at('clocks')) as f:
			n += held(w, json.load(f)['clocks'], spans)
		if violations(unskew, at('out')):
			raise Fault(f'{name}: {violations(unskew, at("out"))} calls are out of order')
		with gzip.open(at('json.gz'), 'wt', newline='') as f:
			f.write(text)
		run(unskew, 'apply', at('clocks'), at('json.gz'), '-o', at('out.gz'), '--force', status=(0, 3))
		with gzip.open(at('out.gz'), 'rt', newline='') as f:
			same(f'{name}, packed', f.read(), out)
		damaged(w, unskew, name, at, text, at('clocks'))
	return n


def main(case):
	options = argparse.ArgumentParser()
	options.add_argument('unskew')
	options.add_argument('first', type=int, nargs='?', default=0)
	options.add_argument('count', type=int, nargs='?', default=100)
	options.add_argument('--keep')
	o = options.parse_args()
	first, count = part(o.first, o.count)
	bands = 0
	for seed in range(first, first + count):
		with tempfile.TemporaryDirectory() as folder:
			if o.keep:
				os.makedirs(o.keep, exist_ok=True)
			try:
				bands += case(o.unskew, seed, o.keep or folder)
			except Fault as fault:
				sys.exit(f'seed {seed}: {fault}')
	print(f'{count} cases, {bands} bands hold the truth')


if __name__ == '__main__':
	main(case)
