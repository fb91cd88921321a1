#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spans_proto.py UNSKEW [FIRST [COUNT]] - OTLP as protobuf comes out of apply with true stamps, and all else as it was

The requests of spans_out.py as protobuf, one message or many behind their lengths, with fields in any order, fields that
OTLP does not have, lengths of more bytes than they need, resources behind their spans, events, messages without spans. Put
on one clock and re-timed: every band holds the truth and the stamp, no call is received before it was sent, all lengths fit,
the same spans as JSON get the same stamps and attributes, and whoever takes the added attributes out again and puts back what
they say was recorded has the original, byte for byte. Packed, cut short and damaged, too. The decoder is this file's own. A
case is made by its seed alone; --keep FOLDER leaves its files there.
"""
import gzip
import json
import os
import random
import re
import struct

from spans_out import Fault, Text, World, held, main, otlp, read as read_text, run, undo as undo_json, violations, \
	write as write_text

VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)


# ---- the wire

def varint(v, least=1):
	out = bytearray()
	while v or len(out) < least:
		out.append(v & 127 | 128)
		v >>= 7
	out[-1] &= 127
	return bytes(out)


def number(d, at):
	v = shift = 0
	while True:
		byte = d[at]
		v |= (byte & 127) << shift
		at, shift = at + 1, shift + 7
		if byte < 128:
			return v, at


def field(n, wire, value):
	return varint(n << 3 | wire) + value


class Maker:
	"""Messages as somebody's tool writes them."""

	def __init__(self, draw):
		self.draw = draw
		self.least = draw.choice([1, 1, 1, 4])
		self.shuffled = draw.random() < 0.5
		self.odd = draw.random() < 0.5

	def unknown(self):
		draw = self.draw
		return draw.choice([
			lambda: field(99, VARINT, varint(draw.randrange(2**64))), lambda: field(17, FIXED64, draw.randbytes(8)),
			lambda: field(1000, FIXED32, draw.randbytes(4)), lambda: self.bytes(77, draw.randbytes(draw.randrange(40))),
			lambda: field(88, GROUP, self.bytes(1, b'x') + field(3, GROUP, b'') + field(3, GROUP_END, b'')
				) + field(88, GROUP_END, b'')])()

	def bytes(self, n, value):
		return field(n, BYTES, varint(len(value), self.least) + value)

	def message(self, parts):
		parts = [p for p in parts if p]
		while self.odd and self.draw.random() < 0.2:
			parts.append(self.unknown())
		if self.shuffled:
			self.draw.shuffle(parts)
		return b''.join(parts)


def encode(w, m, draw):
	"""The messages, each a TracesData."""
	def attribute(n, key, value):
		return m.bytes(n, m.message([m.bytes(1, key.encode()), m.bytes(2, m.bytes(1, value.encode()))]))

	def text():
		return ''.join(draw.choice('ab\u00e9\0 \U0001f600') for _ in range(draw.choice([0, 3, 9, 200])))

	def ns(n, host, true):
		return field(n, FIXED64, struct.pack('<Q', w.shows(host, true)))

	def span(s):
		host, trace, own, parent, kind, begin, end, events = s
		return m.message([m.bytes(1, trace.to_bytes(16, 'big')), m.bytes(2, own.to_bytes(8, 'big')),
			parent and m.bytes(4, parent.to_bytes(8, 'big')), m.bytes(5, text().encode()),
			field(6, VARINT, varint({'INTERNAL': 1, 'SERVER': 2, 'CLIENT': 3}[kind])),
			ns(7, host, begin), ns(8, host, end), draw.random() < 0.2 and m.bytes(15, field(3, VARINT, b'\2')),
			b''.join(attribute(9, f'k{i}', text()) for i in range(draw.choice([0, 0, 1, 3]))),
			b''.join(m.bytes(11, m.message([ns(1, host, e), m.bytes(2, b'event'), draw.random() < 0.3 and
				attribute(3, 'k', text())])) for e in events)])

	def batch(host, spans):
		cut = draw.randrange(len(spans) + 1)
		scopes = [m.bytes(2, m.message([draw.random() < 0.5 and m.bytes(1, m.bytes(1, b'scope')),
			b''.join(m.bytes(2, span(s)) for s in part)])) for part in (spans[:cut], spans[cut:])]
		return m.bytes(1, m.message([m.bytes(1, m.message([attribute(1, 'host.name', f'h{host}'),
			attribute(1, 'service.name', 's')])), b''.join(scopes)]))

	# No file with groups or fields of the outermost message that OTLP does not have is taken for one: the first message is sound.
	messages, rest, odd = [], list(w.spans), m.odd
	while rest:
		n = draw.choice([1, 20, 200])
		part, rest = rest[:n], rest[n:]
		m.odd = odd and bool(messages)
		messages.append(b''.join(batch(host, [s for s in part if s[0] == host]) for host in sorted({s[0] for s in part})))
	return messages


def framed(messages):
	return b''.join(struct.pack('>I', len(d)) + d for d in messages)


# ---- a decoder: what stands in which message, and what was added

# Number of a field -> what its value is, of the objects on the way to a span.
INSIDE = {'traces': {1: 'batch'}, 'batch': {2: 'scope'}, 'scope': {2: 'span'}, 'span': {9: 'attribute', 11: 'event'}}


def behind_group(d, at):
	"""Where a group ends that begins behind the tag there."""
	while True:
		tag, at = number(d, at)
		wire = tag & 7
		if wire == GROUP_END:
			return at
		if wire == GROUP:
			at = behind_group(d, at)
		elif wire in (VARINT, BYTES):
			n, at = number(d, at)
			at += n if wire == BYTES else 0
		else:
			at += 8 if wire == FIXED64 else 4


def fields(d, at, end):
	"""Number, wire, where the tag, the length and the value begin, and where it ends. Only the last one of a file that is cut
	short may go on behind the end; its value is None if its length is cut, too."""
	while at < end:
		begin = at
		try:
			tag, length = number(d, at)
			n, value = number(d, length) if tag & 7 == BYTES else (0, length)
			at = number(d, value)[1] if tag & 7 == VARINT else behind_group(d, value) if tag & 7 == GROUP else \
				value + {FIXED64: 8, FIXED32: 4}.get(tag & 7, n)
		except IndexError:
			tag, length, value, at = 0, None, None, len(d) + 1
		if at > end and end < len(d):
			raise Fault(f'what begins at byte {begin} is longer than what it stands in')
		yield tag >> 3, tag & 7, begin, length, value, at


def texts(d, at, end):
	"""Key and text of an attribute."""
	key = value = b''
	for n, _, _, _, a, b in fields(d, at, end):
		if n == 1:
			key = d[a:b]
		elif n == 2:
			value = b''.join(d[x:y] for k, _, _, _, x, y in fields(d, a, b) if k == 1)
	return key.decode(errors='replace'), value.decode(errors='replace')


class Undone:
	"""What was recorded; `spans` is what is said of each."""

	def __init__(self, d, bare, least):
		self.d, self.least, self.spans = d, least, []
		at, out = 0, []
		if bare:
			out = [self.message('traces', 0, len(d), None)]
			at = len(d)
		while at < len(d):
			if at + 4 > len(d):
				out.append(d[at:])
				break
			n, = struct.unpack_from('>I', d, at)
			inside = at + 4
			end = min(inside + n, len(d))
			body = self.message('traces', inside, end, None)
			out.append(struct.pack('>I', n - (end - inside - len(body))) + body)
			at = inside + n
		self.bytes = b''.join(out)

	def message(self, kind, at, end, span):
		d, out, event = self.d, [], 0
		if kind == 'span':
			span = self.span(at, end)
		for n, wire, begin, length, value, behind in fields(d, at, end):
			inner = INSIDE.get(kind, {}).get(n) if wire == BYTES and value is not None else None
			there = min(behind, end)
			if inner == 'attribute':
				out.append(b'' if there == behind and texts(d, value, behind)[0].startswith('unskew.') else d[begin:there])
			elif inner == 'event':
				was = span['recorded'][event] if event < len(span['recorded']) else None
				out.append(d[begin:there] if was is None else self.event(value, there, d[begin:value], was))
				event += 1
			elif inner:
				body = self.message(inner, value, there, span)
				less = there - value - len(body)
				out.append(d[begin:length] + (varint(behind - value - less, self.least) if less else d[length:value]) + body)
			elif kind == 'span' and n in (7, 8) and span['said']:
				which = 'start' if n == 7 else 'end'
				out.append(d[begin:value] + struct.pack('<Q', int(span['said'][f'unskew.{which}.recorded_ns'])))
			else:
				out.append(d[begin:there])
		return b''.join(out)

	def event(self, at, end, head, was):
		d = self.d
		return head + b''.join(d[b:v] + struct.pack('<Q', was) if n == 1 else d[b:e] for n, _, b, _, v, e in fields(d, at, end))

	def span(self, at, end):
		"""What is said of it; of one that is cut short nothing."""
		d, s = self.d, {'said': {}, 'recorded': []}
		for n, wire, _, _, value, behind in fields(d, at, end):
			if behind > len(d):
				return {'said': {}, 'recorded': []}
			if n == 2:
				s['id'] = int.from_bytes(d[value:behind], 'big')
			elif n in (7, 8):
				s['start' if n == 7 else 'end'] = (value, behind, str(struct.unpack_from('<Q', d, value)[0]))
			elif n == 9 and (said := texts(d, value, behind))[0].startswith('unskew.'):
				if said[0] in s['said']:
					raise Fault(f'{said[0]} stands twice')
				s['said'][said[0]] = said[1]
		s['recorded'] = [int(x) for x in s['said'].get('unskew.events.recorded_ns', '').split(',') if x]
		self.spans += [s] if 'start' in s else []	# else it is of metrics
		return s


# ---- cases

def read(path):
	with open(path, 'rb') as f:
		return f.read()


def write(path, data):
	with open(path, 'wb') as f:
		f.write(data)


def same(what, a, b):
	if a != b:
		at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
		raise Fault(f'{what}: differs at byte {at} of {len(a)}, {len(b)}: {a[at - 20:at + 40]!r}, not {b[at - 20:at + 40]!r}')


def matched(unskew, path):
	"""Messages; and is it damaged in several places?"""
	done = run(unskew, 'check', path, status=(0, 1, 3))
	found = re.search(r'Matched (\d+) messages', done.stdout)
	return int(found[1]) if found else 0, ' places, the first' in done.stdout + done.stderr


def damaged(draw, unskew, at, data, bare, least):
	"""Cut short anywhere, it comes back; with bytes that are wrong, what can be read before can be read behind."""
	for i in range(4):
		write(at('damaged'), data[:draw.randrange(len(data) // 2, len(data))])
		done = run(unskew, 'apply', at('clocks'), at('damaged'), '-o', at('damaged.out'), '--force', status=(0, 1, 3))
		if done.returncode != 1:
			same('cut short', Undone(read(at('damaged.out')), bare, least).bytes, read(at('damaged')))
		elif done.stderr.count('\n') != 1:
			raise Fault(f'cut short: {done.stderr}')
		spoilt, where = bytearray(data), draw.randrange(len(data))
		spoilt[where:where + draw.choice([0, 1, 8])] = draw.randbytes(draw.choice([0, 1, 5]))
		write(at('damaged'), bytes(spoilt))
		done = run(unskew, 'apply', at('clocks'), at('damaged'), '-o', at('damaged.out'), '--force', status=(0, 1, 3))
		if done.returncode == 1 and done.stderr.count('\n') != 1:
			raise Fault(f'damaged: {done.stderr}')
		if done.returncode != 1:
			before, behind = matched(unskew, at('damaged')), matched(unskew, at('damaged.out'))
			# In several places: some bytes were taken for a length of which others make something else.
			if before[0] != behind[0] and not before[1]:
				raise Fault(f'damaged at byte {where}: {before[0]} messages, and {behind[0]}')


def as_json(w, unskew, seed, at, spans):
	"""The same spans as JSON: the same stamps, and the same is said."""
	draw = random.Random(f'{seed} json')
	write_text(at('jsonl'), otlp(w, Text(draw), draw))
	run(unskew, 'apply', '-q', at('clocks'), at('jsonl'), '-o', at('jsonl.out'), '--force', status=(0, 3))
	told = {s['id']: s for s in undo_json(read_text(at('jsonl.out')))[1]}
	for s in spans:
		other = told[s['id']]
		if s['said'] != other.get('said', {}) or any(s[x][2] != other[x][2] for x in ('start', 'end')):
			raise Fault(f'span {s["id"]}: as JSON {other}, as protobuf {s}')


def case(unskew, seed, folder):
	w = World(seed)
	draw = random.Random(f'{seed} proto')
	m = Maker(draw)
	bare = draw.random() < 0.3
	messages = encode(w, m, draw)
	if not bare and draw.random() < 0.3:	# no traces at all, and metrics
		messages[1:1] = [b'', m.bytes(1, m.bytes(1, b'') + m.bytes(2, m.bytes(2, m.bytes(1, b'metric'))))]
	data = b''.join(messages) if bare else framed(messages)

	def at(suffix):
		return os.path.join(folder, f'proto.{suffix}')

	write(at('binpb'), data)
	run(unskew, 'sync', '-q', at('binpb'), '-o', at('clocks'), '--force', status=(0, 3))
	done = run(unskew, 'apply', at('clocks'), at('binpb'), '-o', at('out'), '--force', status=(3 if w.alone else 0,))
	if w.alone and '1 span of clock h' not in done.stderr:
		raise Fault(f'nothing is said of the span of a clock alone: {done.stderr}')
	out = read(at('out'))
	undone = Undone(out, bare, m.least)
	same('undone', undone.bytes, data)
	if len(undone.spans) != len(w.spans):
		raise Fault(f'{len(undone.spans)} spans, not {len(w.spans)}')
	with open(at('clocks')) as f:
		clocks = json.load(f)['clocks']
	n = held(w, clocks, [s if s['said'] else {'id': s['id']} for s in undone.spans])
	exact = all(int(c.get('resolution_ns', 1)) <= 1 for c in clocks)	# some begin with whole ms by chance
	if exact and violations(unskew, at('out')):
		raise Fault(f'{violations(unskew, at("out"))} calls are out of order')
	as_json(w, unskew, seed, at, undone.spans)
	run(unskew, 'apply', '-q', at('clocks'), at('out'), '-o', at('twice'), '--force', status=(0, 3))
	twice = Undone(read(at('twice')), bare, m.least)
	if [s['said'] for s in twice.spans] != [s['said'] for s in undone.spans]:
		raise Fault('what was recorded is lost when it is corrected twice')
	write(at('binpb.gz'), gzip.compress(data))
	run(unskew, 'apply', '-q', at('clocks'), at('binpb.gz'), '-o', at('out.gz'), '--force', status=(0, 3))
	same('packed', gzip.decompress(read(at('out.gz'))), out)
	damaged(draw, unskew, at, data, bare, m.least)
	return n


if __name__ == '__main__':
	main(case)
