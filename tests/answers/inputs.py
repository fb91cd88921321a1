# SPDX-License-Identifier: MIT
"""inputs.py - what the answers' table is asked of: random traces of every kind, each made by its seed alone

Most are the cases of tests/sim without their judges. What a generator there draws otherwise from now on are other
inputs, of which the table says so. INPUTS has them by name.
"""
import csv
import gzip
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'sim'))

import alike
import altered
import both
import collectives
import ctf
import ctf_fields
import damage
import epochs
import fallen
import far
import forms
import forwarded
import interfaces
import kernel
import lengthy
import logged
import looped
import otf2
import profiles_out
import readings
import rotated
import rotated_others
import row_order
import rows_of
import second
import set_back
import simulated
import slewed
import spans_out
import spans_proto
import spoiled
import tiny
import trace_dat
import trace_dat_true
import two_clients

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden', 'data')


class Input:
	"""Operands, what has to be said of them, and what may be: names of clocks, stamps between which a clock was."""

	def __init__(self, traces, said=(), clocks=(), spans=None, kind='messages', reference=None, least=None, also=(), asked=()):
		self.traces, self.said, self.kind, self.reference = list(traces), list(said), kind, reference
		self.also = list(also)  # of its clocks, and only to be applied to
		self.clocks = [c for c in clocks if not set(c) & set('@=\t\u202e:') and not c.startswith('-')]
		self.spans = spans or {}  # by clock: its first stamp and its last
		self.least = least  # ns that no message takes less than
		self.packets = kind in ('captures', 'readings')
		self.asked = asked  # commands, in any case


def spans_of(rows):
	"""By clock, of rows of who, stamp."""
	out = {}
	for clock, ns in rows:
		lo, hi = out.get(clock, (ns, ns))
		out[clock] = min(lo, ns), max(hi, ns)
	return out


def table(path, ends):
	"""An input of one table of messages."""
	with open(path, newline='', encoding='utf-8') as f:
		rows = list(csv.DictReader(f))
	spans = spans_of((row[c], int(row[t])) for row in rows for c, t in (('sender', 'sent_ns'), ('receiver', 'received_ns')))
	return Input([path], clocks=sorted(spans), spans=spans, **ends)


# ---- tables of messages


def of_second(seed, _):
	_, rows = second.make(random.Random(seed))
	second.write_table('t.csv', rows)
	return table('t.csv', {'least': 100_000})


def of_set_back(seed, _):
	with open('t.csv', 'w') as f:
		f.write(set_back.table(seed))
	return table('t.csv', {'least': 20_000})


def of_epochs(seed, _):
	clocks, rows = epochs.case(seed)
	with open('t.csv', 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		f.writelines(f'c{r.a},c{r.b},{clocks[r.a].shows(r.sent)},{clocks[r.b].shows(r.received)}\n' for r in rows)
	return table('t.csv', {'least': 20_000, 'reference': 'c0'})


def of_tiny(seed, _):
	clocks, spans, least = tiny.write(random.Random(f'tiny {seed}'), 't.csv')
	return Input(['t.csv'], clocks=clocks, spans=spans, least=least)


def of_fallen(seed, _):
	spans = fallen.write(random.Random(f'fallen {seed}'), 't.csv', -10**12 if seed % 5 == 4 else 1_700_000_000 * 10**9)
	return Input(['t.csv'], clocks=sorted(spans), spans=spans)


def of_vague(seed, _):
	spans = fallen.write_vague(random.Random(f'vague {seed}'), 't.csv')
	return Input(['t.csv'], clocks=sorted(spans), spans=spans, least=20_000)


def of_far(seed, _):
	spans = far.write(random.Random(f'far {seed}'), 't.csv')
	return Input(['t.csv'], clocks=sorted(spans), spans=spans)


def of_looped(seed, _):
	w = looped.World(random.Random(f'looped {seed}'))
	w.write('t.csv')
	straight = seed % 3 == 0
	return Input(['t.csv'], ['--model', 'linear'] if straight else [], sorted(w.spans), w.spans, least=w.least, asked=[[], ['audit']][seed % 2] + ['proof'] * straight)


def of_steep(seed, _):
	"""Few messages of clocks whose rates may be very far apart: cones are steep, and what is rounded counts."""
	clocks, spans, least = tiny.write(random.Random(f'steep {seed}'), 't.csv')
	return Input(['t.csv'], ['--max-skew-ppm', ['100000', '20000', '99999'][seed % 3]], clocks, spans, least=least, asked=['proof'])


def of_alike(seed, _):
	*_, options = alike.make(random.Random(f'alike {seed}'))
	return table('messages.csv', {'said': options})


def of_slewed(seed, _):
	slewed.make(random.Random(f'slewed {seed}'))
	return table('messages.csv', {})


def of_twice(seed, _):
	w = looped.twice(random.Random(f'twice {seed}'))
	w.write('t.csv')
	return Input(['t.csv'], clocks=sorted(w.spans), spans=w.spans, least=w.least)


def of_misstated(seed, unskew):
	"""Loops, and one or two anchors that messages contradict, mostly."""
	i = of_looped(seed, unskew)
	draw = random.Random(f'misstated {seed}')
	for _ in range(draw.choice([1, 1, 2])):
		(a, x), (b, y), at, off = *((c, i.spans[c]) for c in draw.sample(i.clocks, 2)), draw.random(), draw.choice([-1, 1]) * int(10 ** draw.uniform(3, 10))
		i.said += ['--anchor', f'{a}@{x[0] + int((x[1] - x[0]) * at)}={b}@{y[0] + int((y[1] - y[0]) * at) + off}+-{draw.choice([10, 1000])}ns']
	return i


def of_lengthy(seed, _):
	w, each = (lengthy.bent if seed % 2 else lengthy.row)(random.Random(f'lengthy {seed}'))
	w.write('t.csv', each)
	return Input(['t.csv'], ['--model', 'linear'] if seed % 4 == 1 else [], sorted(w.spans), w.spans, least=w.least)


def of_interfaces(seed, unskew):
	"""Machines of a network whose captures are of several interfaces, which may have clocks of their own."""
	draw = random.Random(f'interfaces {seed}')
	names, _, _, spans = simulated.captures(unskew, draw, seed, ['pcap'])
	first, rest = draw.sample(names, 2), []
	interfaces.write(draw, 'm.pcapng', [('eth0', f'in/{first[0]}.pcap'), ('eth1', f'in/{first[1]}.pcap')], seed % 4 == 0)
	which = 'eth7' if draw.random() < 0.05 else draw.choice(['eth1', 'eth1', '1', '0'])
	said = ['--clock-of', f'm/{which}=other'] if len(names) == 2 or draw.random() < 0.8 else []
	for name in (n for n in names if n not in first):
		interfaces.write(draw, f'{name}.pcapng', [('any', f'in/{name}.pcap')], seed % 4 == 0)
		rest.append(name)
	return Input(['m.pcapng', *(f'{name}.pcapng' for name in rest)], said, ['m', 'other', *rest], {n: spans[n] for n in rest}, 'captures')


def of_many(seed, unskew):
	"""Enough messages that delays are counted in bars."""
	draw = random.Random(f'many {seed}')
	simulated.run(unskew, '-o', 'in', '--hosts', '2', '--seconds', '60', '--seed', str(seed), '--format', 'table', '--rate', '60',
		*simulated.clocks(draw, 2, 60), *simulated.network(draw))
	return table('in/messages.csv', {})


def of_span_table(seed, _):
	spans = spans_of(rows_of.spans(random.Random(f'span table {seed}'), 'spans.csv'))
	return Input(['spans.csv'], clocks=sorted(spans), spans=spans, kind='spans')


def of_sized(seed, _):
	least = rows_of.sized(random.Random(f'sized {seed}'), 't.csv')
	found = table('t.csv', {'least': least})
	found.asked = ['calibrate']
	return found


def of_broken(seed, unskew):
	"""Spans, profiles and tables of which some bytes are others."""
	draw = random.Random(f'broken {seed}')
	found = draw.choice([of_spans, of_protobuf, of_protobuf, of_events, of_span_table, of_collectives])(seed, unskew)
	for path in found.traces:
		spoiled.break_bytes(draw, path)
	return found


def of_row_order(seed, _):
	draw = random.Random(seed)
	return in_order(draw, row_order.steady(draw) if draw.random() < 0.7 else row_order.set_back_once(draw))


def of_bursts(seed, _):
	draw = random.Random(f'bursts {seed}')
	return in_order(draw, rows_of.bursts(draw))


def in_order(draw, rows):
	"""A table in any order."""
	key = draw.choice([*row_order.ORDERS.values(), lambda r: draw.random()])
	with open('t.csv', 'w') as f:
		f.write(row_order.HEAD + ''.join('%s,%s,%d,%d,%d\n' % row for row in sorted(rows, key=key)))
	return table('t.csv', {})


def of_logged(seed, _):
	case = logged.Case(seed)
	forms.table('messages.csv', ['sender', 'receiver', 'sent_ns', 'received_ns'],
		((a, b, case.clocks[a].read(t), case.clocks[b].read(u)) for t, a, b, u in case.rows))
	found = table('messages.csv', {'reference': case.reference})
	found.said = case.write_logs()
	return found


def of_worn(seed, unskew):
	"""Clocks whose logs lack lines, have others that are none, or are of more than one run of a machine."""
	draw = random.Random(f'worn {seed}')
	simulated.logged(unskew, draw, seed)
	found, names = table('in/messages.csv', {}), [n for n in sorted(os.listdir('in')) if n.endswith('.clock.csv')]
	for name in names:
		if draw.random() < 0.8:
			with open(f'in/{name}') as f:
				lines = spoiled.wear(draw, f.readlines())
			with open(f'in/{name}', 'w') as f:
				f.write(''.join(lines))
		if draw.random() < 0.9:
			found.said += ['--clock-log', f'{name.removesuffix(".clock.csv")}=in/{name}']
	return found


def of_drawn(seed, unskew):
	draw = random.Random(f'drawn {seed}')
	said = simulated.table(unskew, draw, seed)
	if draw.random() < 0.15:
		spoiled.bend(draw, 'in/messages.csv')
	found = table('in/messages.csv', {})
	found.said = said
	return found


def of_events(seed, unskew):
	"""Each clock's own table of events, as CSV or as JSON lines, in ns, s or ticks; of some both sides in one."""
	draw = random.Random(f'events {seed}')
	simulated.table(unskew, draw, seed)
	rows, spans = {}, []
	with open('in/messages.csv', newline='') as f:
		for number, row in enumerate(csv.DictReader(f)):
			for clock, ns, kind in (('sender', 'sent_ns', 'send'), ('receiver', 'received_ns', 'recv')):
				if draw.random() < 0.98:
					rows.setdefault(row[clock], []).append((int(row[ns]), kind, number // draw.choice([1] * 40 + [2]), row['bytes']))
					spans.append((row[clock], int(row[ns])))
	hz, ticking = draw.choice([1193182, 2_400_000_000, 10**9]), draw.choice([None, None, *rows])
	traces, said = [], ['--tick-rate', f'{ticking}={hz}'] if ticking else []
	for clock, seen in sorted(rows.items()):
		as_json, quote = draw.random() < 0.4, draw.choice(['', '"'])
		seen.sort()
		path = f'{clock}.{"jsonl" if as_json else "csv"}'
		with open(path, 'w') as f:
			unit = 'time_ticks' if clock == ticking else draw.choice(['time_ns', 'time_ns', 'time_s'])
			f.write('' if as_json else f'clock,{unit},kind,id,bytes\n')
			for ns, kind, number, size in seen:
				at = ns * hz // 10**9 if clock == ticking else ns if unit == 'time_ns' else f'{ns // 10**9}.{ns % 10**9:09}'
				f.write(f'{{"clock":"{clock}","{unit}":{quote}{at}{quote},"kind":"{kind}","id":"{number}","bytes":{size}}}\n' if as_json else
					f'{clock},{at},{kind},{number},{size}\n')
		traces.append(path)
	return Input(traces, said, sorted(rows), {} if ticking else spans_of(spans))


def of_exchanges(seed, unskew):
	"""Rows of four stamps, as NTP's clients have them."""
	draw = random.Random(f'exchanges {seed}')
	n, size = draw.choice([2, 3, 4]), random.Random(f'exchanged bytes {seed}')
	sized = size.random() < 0.5
	clocks = [(10**18 + draw.randrange(-10**9, 10**9), draw.uniform(-5e-5, 5e-5)) for _ in range(n)]
	step = (draw.randrange(n), draw.randrange(10**11), draw.choice([0, 0, 10**6, -3 * 10**9]))
	least, rows, seen = draw.choice([300, 40_000]), [], []
	noise = size.choice([0.01, 1]) if sized else 1

	def shows(i, t):
		return clocks[i][0] + t + int(t * clocks[i][1]) + (step[2] if i == step[0] and t >= step[1] else 0)

	for _ in range(draw.choice([20, 150])):
		a, b = draw.sample(range(n), 2)
		t, long = draw.randrange(10**11), size.choice([0, 1, 64, 500, 1400]) if sized else 0
		at, cost = [t], (least // 3 + long * least // 400) * (long > 0)
		for mean in (1, draw.choice([0.1, 10]), 1):
			at.append(at[-1] + least + int(draw.expovariate(1 / (least * mean)) * (noise if mean == 1 else 1)) + cost)
		stamps = [shows(a, at[0]), shows(b, at[1]), shows(b, at[2]), shows(a, at[3])]
		rows.append((t, f'm{a},m{b},' + ','.join(map(str, stamps)) + f',{long}' * sized))
		seen += [(f'm{a}', stamps[0]), (f'm{b}', stamps[1]), (f'm{a}', stamps[-1])]
	with open('exchanges.csv', 'w') as f:
		f.write('a,b,t1_ns,t2_ns,t3_ns,t4_ns' + ',bytes' * sized + '\n')
		f.writelines(row + '\n' for _, row in sorted(rows))
	spans = spans_of(seen)
	return Input(['exchanges.csv'], clocks=sorted(spans), spans=spans, least=least)


# ---- traces in several files


def of_pieces(seed, _):
	"""A table of clocks that were set back, or each clock's own of events, in several: one behind the other, side by side, or both."""
	clocks, rows = epochs.case(seed)
	draw = random.Random(f'pieces {seed}')
	if draw.random() < 0.3:  # by the other side's stamps, or by none
		rows.sort(key=draw.choice([lambda r: r.sent, lambda r: (r.a, r.b, r.sent), lambda r: -r.received]))
	rows = rows[::draw.choice([1, 3])]
	if draw.random() < 0.35:
		sides = [(t, c, kind, k) for k, r in enumerate(rows) for t, c, kind in ((r.sent, r.a, 'send'), (r.received, r.b, 'recv'))]
		head, those = 'clock,time_ns,kind,id', [sorted(side for side in sides if side[1] == c) for c in range(len(clocks))]
		text = lambda x: (f'c{x[1]},{clocks[x[1]].shows(x[0])},{x[2]},{x[3]}', [(f'c{x[1]}', clocks[x[1]].shows(x[0]))])
	else:
		head, those = 'sender,receiver,sent_ns,received_ns', [rows]
		text = lambda r: (f'c{r.a},c{r.b},{clocks[r.a].shows(r.sent)},{clocks[r.b].shows(r.received)}',
			[(f'c{r.a}', clocks[r.a].shows(r.sent)), (f'c{r.b}', clocks[r.b].shows(r.received))])
	operands, spans = [], []
	for piece in (piece for one in those if one for piece in cut(draw, one)):
		operands.append(f't{len(operands)}.csv')
		with open(operands[-1], 'w') as f:
			lines = [text(row) for row in piece]
			f.write(head + '\n' + ''.join(line + '\n' for line, _ in lines))
			spans += [stamp for _, stamps in lines for stamp in stamps]
	if draw.random() < 0.6:
		draw.shuffle(operands)
	spans = spans_of(spans)
	return Input(operands, [], sorted(spans), spans, reference='c0' if draw.random() < 0.5 else None, least=20_000, asked=['apply'] if len(those) > 1 else [])


def cut(draw, rows):
	"""Into pieces, one behind the other, of which each may be several side by side."""
	places = sorted({0, len(rows), *(draw.randrange(len(rows)) for _ in range(draw.choice([1, 1, 2, 4, 12])))})
	lanes, pieces = draw.choice([1, 1, 2, 3]), []
	for a, b in zip(places, places[1:]):
		by = [draw.randrange(lanes) for _ in range(a, b)]
		pieces += [[r for r, lane in zip(rows[a:b], by) if lane == k] for k in range(lanes)]
	return [p for p in pieces if p or draw.random() < 0.1]


def in_files(case):
	"""Of clocks that were set back, cut in time, or by interfaces; not as long as those that are held against the truth."""
	case.rows = case.rows[::max(1, len(case.rows) // 240)]
	traces, said = case.write()
	spans = spans_of((name, ns) for rows in case.truth.values() for name, ns, _ in rows)
	kind = {'captures': 'captures', 'interfaces': 'captures', 'messages': 'messages', 'events': 'messages', 'mixed': 'spans', 'ctf': 'ctf',
		'tracecmd': 'dat', 'collectives': 'collectives'}.get(case.form, 'spans')
	return Input(traces, said, sorted(spans), spans, kind, case.reference if kind == 'messages' or len(traces) % 2 else None)


def of_rotated(seed, _):
	return in_files(rotated.Case(seed))


def of_rotated_others(seed, _):
	return in_files(rotated_others.Case(seed))


# ---- captures


def of_linked(seed, unskew):
	"""Machines of one link, so that no hops tell who sent: addresses of interfaces do, or nobody."""
	draw = random.Random(f'linked {seed}')
	names, way = [f'host{i}' for i in range(draw.choice([2, 2, 3]))], simulated.maybe(draw, 0.6, '--one-way')
	simulated.run(unskew, '-o', 'in', '--hosts', str(len(names)), '--seconds', '20', '--seed', str(seed), '--rate', str(12 // len(names)),
		'--proto', 'udp', *way, *simulated.clocks(draw, len(names), 20), *simulated.network(draw))
	for i, name in enumerate(names):
		interfaces.write(draw, f'{name}.pcapng', [('eth0', f'in/{name}.pcap')], draw.random() < 0.6, bytes([10, 0, 0, 1 + i]))
	return Input([f'{name}.pcapng' for name in names], clocks=names, kind='captures', asked=['join'])


def of_stumbled(seed, unskew):
	"""Captures of clocks that are set back on a grid of few stamps, some of whose records are late."""
	draw = random.Random(f'stumbled {seed}')
	simulated.run(unskew, '-o', 'in', '--hosts', '2', '--seconds', '20', '--seed', str(seed), '--rate', '6', *simulated.maybe(draw, 0.5, '--proto', 'udp'))
	for name in draw.choice([['host1'], ['host0', 'host1']]):
		fallen.write_capture(draw, f'in/{name}.pcap')
	return Input(['in/host0.pcap', 'in/host1.pcap'], clocks=['host0', 'host1'], kind='captures')


def of_clients(seed, _):
	"""Datagrams of two clients, or of one before and after NAT."""
	case = two_clients.Case(seed)
	for name, frames in zip(('a.pcap', 'b.pcap'), case.frames):
		two_clients.write(name, frames)
	spans = {name: (min(ns for ns, _ in frames), max(ns for ns, _ in frames)) for name, frames in zip('ab', case.frames) if frames}
	return Input(['a.pcap', 'b.pcap'], [], ['a', 'b'], spans, 'captures')


def of_captures(seed, unskew):
	draw = random.Random(f'captures {seed}')
	names, ending, said, spans = simulated.captures(unskew, draw, seed)
	if draw.random() < 0.15:
		for name in names:
			with open(f'in/{name}.{ending}', 'rb') as f, gzip.GzipFile(f'in/{name}.{ending}.gz', 'wb', mtime=0) as packed:
				packed.write(f.read())
			os.unlink(f'in/{name}.{ending}')
		ending += '.gz'
	traces = [f'in/{name}.{ending}' for name in names]
	if draw.random() < 0.2:
		traces[:1] = in_parts(draw, names[0], traces[0])
	if draw.random() < 0.15:
		with open('idle.pcap', 'wb') as f:
			f.write(struct.pack('<IHHiIII', 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
		traces.append('idle.pcap')
	said += simulated.maybe(draw, 0.08, '--readings', 'all')
	return Input(traces, said, names, spans, 'captures')


def of_forwarded(seed, unskew):
	"""A machine and its next hop; and whom it talks with, now and then."""
	draw = random.Random(f'forwarded {seed}')
	names, _, _, spans = simulated.captures(unskew, draw, seed, ['pcap'])
	where = [f'in/{name}.pcap' for name in names]
	if not forwarded.write(draw, where[0], 'hop.pcap'):
		return Input(where, [], names, spans, 'captures')
	keep = draw.choice([1, 1, 2])
	return Input([*where[:keep], 'hop.pcap'], [], [*names[:keep], 'hop'], {n: spans[n] for n in names[:keep]}, 'captures')


def in_parts(draw, name, path):
	"""Two captures of one machine: one after the other, or of two interfaces, which have a clock each now and then."""
	if path.endswith('.gz'):
		return [path]
	with open(path, 'rb') as f:
		data = f.read()
	where, _ = damage.records(data)
	if len(where) < 2:
		return [path]
	behind, many = draw.random() < 0.5, draw.randrange(1, len(where))
	first = [i < many if behind else draw.random() < 0.5 for i in range(len(where))]
	out, late = [], 3 if path.endswith('.pcap') and not behind and draw.random() < 0.4 else 0
	for side, ending in ((True, 'first'), (False, 'second')):
		part = f'in/{ending}{os.path.splitext(path)[1]}'
		with open(part, 'wb') as f:
			f.write(data[:where[0][0]])
			f.writelines(later(data[a:b], late * (not side)) for (a, b), at in zip(where, first) if at is side)
		out.append(f'{name}={part}')
	return out


def later(record, seconds):
	"""A packet of a capture (pcap), stamped so much later."""
	return struct.pack('<I', struct.unpack_from('<I', record)[0] + seconds) + record[4:] if seconds else record


def of_damage(seed, unskew):
	draw = random.Random(f'damage {seed}')
	names, ending, said, spans = simulated.captures(unskew, draw, seed)
	for name in names:
		path = f'in/{name}.{ending}'
		with open(path, 'rb') as f:
			data = f.read()
		where, _ = damage.records(data)
		if where and draw.random() < 0.7 and len(data) > where[0][0] + 4200:
			with open(path, 'wb') as f:
				f.write(damage.lose(draw, data, where[0][0])[1])
	return Input([f'in/{name}.{ending}' for name in names], said, names, spans, 'captures')


def of_readings(seed, _):
	case = readings.Case(seed)
	case.write()
	spans = {c.name: (min(stamps), max(stamps)) for c in case.clients
		for stamps in [[c.read(t) for t, _ in case.packets[c.name]]] if stamps}
	return Input([c.name + '.pcap' for c in case.clients], ['--readings', 'all' if seed % 2 else 'ntp,ptp,http'], sorted(spans), spans, 'readings',
		case.clients[0].name)


def of_both(seed, _):
	both.Case(seed).write()
	return Input(['a.pcap', 'b.pcap', 'table.csv'], ['--local', 'a=10.0.0.1', '--local', 'b=10.0.0.2'], ['a', 'b', 'c'],
		kind='mixed', reference='b')


def of_recorded(seed, _):
	"""Of tests/golden/data."""
	two = {'host': (['host0.pcap', 'host1.pcap'], []), 'ntp': (['ntp1.pcap', 'ntp2.pcap'], ['--readings', 'ntp'])}
	names, said = list(two.values())[seed % 2]
	for name in names:
		with open(os.path.join(DATA, name), 'rb') as f, open(name, 'wb') as copy:
			copy.write(f.read())
	return Input(names, said, [n.removesuffix('.pcap') for n in names],
		kind='captures' if said == [] else 'readings')


def of_altered(seed, unskew):
	draw = random.Random(f'altered {seed}')
	if draw.random() < 0.4:
		found = of_readings(seed, unskew)
	else:
		names, _, said, spans = simulated.captures(unskew, draw, seed, ['pcap'])
		found = Input([f'in/{name}.pcap' for name in names], said, names, spans, 'captures')
	found.said = draw.choice([['--readings', 'all'], found.said])
	share, link = draw.choice([0.05, 0.3, 1]), draw.choice([None, None, *altered.LINKS])
	for path in found.traces:
		altered.alter(seed, path, share, draw.choice(altered.LINKS) if link is None else link)
	return found


# ---- spans, profiles, collectives, other tracers


def world(seed, share=0.4):
	"""Of spans; now and then a clock is set back."""
	w, draw = spans_out.World(seed), random.Random(f'{seed} set back')
	steps = {draw.randrange(w.hosts): (draw.randrange(2 * 10**9), int(10 ** draw.uniform(6, 9.5)))} if draw.random() < share else {}
	plain = w.shows

	def shows(host, true):
		at, by = steps.get(host, (0, 0))
		return plain(host, true) - (by if true >= at else 0)

	w.shows = shows
	return w


def of_spans(seed, _):
	w = world(seed)
	draw = random.Random(f'{seed} answers')
	name, make = draw.choice(list(spans_out.FORMATS.items()))
	spans_out.write('spans.json', make(w, spans_out.Text(draw), draw))
	return Input(['spans.json'], clocks=[f'h{i}' for i in range(w.hosts)], kind='spans', asked=['reduced', 'anew'])


def of_spans_beside(seed, _):
	"""Spans of clocks that a table of messages knows, which tells that one was set back."""
	w, draw = world(seed, 1), random.Random(f'{seed} beside')
	name, make = draw.choice(list(spans_out.FORMATS.items()))
	spans_out.write('spans.json', make(w, spans_out.Text(draw), draw))
	host = {span[2]: span[0] for span in w.spans}
	calls = sorted((begin, host[parent], to, end) for to, _, _, parent, kind, begin, end, _ in w.spans if kind == 'SERVER')
	rows = [(t - 20_000, a, b) for t, a, b, _ in calls] + [(t, b, a) for _, a, b, t in calls]
	with open('t.csv', 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		f.writelines(f'h{a},h{b},{w.shows(a, t)},{w.shows(b, t + 20_000 + draw.randrange(30_000))}\n' for t, a, b in sorted(rows))
	found = table('t.csv', {})
	found.kind, found.also, found.asked = 'spans', ['spans.json'], ['apply']
	if seed % 2: # or all in one answer
		found.traces, found.also = ['t.csv', 'spans.json'], []
	return found


def of_protobuf(seed, _):
	w = world(seed)
	draw = random.Random(f'{seed} proto')
	m = spans_proto.Maker(draw)
	messages = spans_proto.encode(w, m, draw)
	spans_proto.write('spans.binpb', b''.join(messages) if draw.random() < 0.3 else spans_proto.framed(messages))
	return Input(['spans.binpb'], clocks=[f'h{i}' for i in range(w.hosts)], kind='spans', asked=['reduced', 'anew'])


def of_profiles(seed, _):
	w = profiles_out.World(seed)
	files = profiles_out.files_of(w, spans_out.Text(w.draw), w.draw)
	for name, (text, _) in files.items():
		spans_out.write(name, text)
	return Input(sorted(files), kind='profiles')


def of_collectives(seed, unskew):
	draw, n, how = collectives.options(seed, random.Random(f'{seed} answers').choice([2, 3, 4, 8]))
	how[how.index('--seconds') + 1] = '0.3'
	simulated.run(unskew, '-o', 'in', *how)
	files = collectives.profiles('in', draw) if 'allreduce' in how and seed % 3 == 0 else ['in/collectives.csv']
	return Input(files, clocks=[] if len(files) > 1 else [f'host{i}' for i in range(n)], kind='collectives')


def of_otf2(seed, _):
	program = otf2.Program(seed)
	program.run(program.draw.choice([30, 100]))
	subprocess.run([os.environ['WRITE_OTF2'], 'in', 'run'], input=program.script(), check=True, text=True)
	return Input(['in/run.otf2'], clocks=[f'run/rank {r}' for r in range(program.n)], kind='collectives')


def of_trace_dat(seed, _):
	m = trace_dat_true.Machines(seed)
	for name, cpus in m.rows.items():
		with open(f'{name}.dat', 'wb') as f:
			f.write(trace_dat.trace(trace_dat_true.KINDS, [sorted(rows, key=lambda r: r[0]) for rows in cpus]))
	if seed % 2:
		return Input(['host.dat', 'guest.dat'], ['--send', 'app:tx{to,number}', '--recv', 'rx{me,number}'], ['host', 'guest'], kind='dat')
	return Input(['host.dat', 'guest.dat', 'other.dat'], clocks=['host', 'guest', 'other'], kind='dat')


def of_ctf(seed, _):
	names, said = ctf.write(random.Random(f'ctf {seed}'))
	return Input(names, said, names, kind='ctf', asked=['reduced'])


def of_sessions(seed, _):
	"""Folders of several traces."""
	draw = random.Random(f'sessions {seed}')
	names, said = ctf.write(draw)
	for name in draw.sample(names, draw.choice([1, 2])):
		ctf.as_session(draw, name)
	return Input(names, said, names, kind='ctf', asked=['timeline'] if seed % 2 else [])


def of_kernel(seed, _):
	names, said = kernel.write(random.Random(f'kernel {seed}'))
	return Input(names, said, names, kind='ctf', asked=['timeline'])


def of_ctf_fields(seed, _):
	"""A trace with fields of all classes, whose clock a table knows."""
	draw = random.Random(f'fields {seed}')
	ctf_fields.trace('now', draw, ctf_fields.START)
	step = draw.choice([0, 0, 10**6, -(10**7)])
	with open('t.csv', 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		for t in range(ctf_fields.START, ctf_fields.START + 60 * 10**6, 10**6):
			by = 5_000_000 + (step if t > ctf_fields.START + 30 * 10**6 else 0) + draw.randrange(5000)
			f.write(f'ref,host,{t},{t + by + 5050}\nhost,ref,{t + by + 9000},{t + 14101}\n')
	found = table('t.csv', {'reference': 'ref'})
	found.kind, found.also = 'ctf', ['host=now']
	return found


# By name: what makes them, and what unskew has to be built with.
INPUTS = {
	'second': (of_second, []),
	'captures': (of_captures, []),
	'drawn': (of_drawn, []),
	'logged': (of_logged, []),
	'set_back': (of_set_back, []),
	'readings': (of_readings, []),
	'spans': (of_spans, ['yajl']),
	'collectives': (of_collectives, ['yajl']),
	'events': (of_events, []),
	'epochs': (of_epochs, []),
	'both': (of_both, []),
	'damage': (of_damage, []),
	'worn': (of_worn, []),
	'ctf': (of_ctf, ['babeltrace2']),
	'ctf_fields': (of_ctf_fields, ['babeltrace2']),
	'exchanges': (of_exchanges, []),
	'row_order': (of_row_order, []),
	'profiles': (of_profiles, ['yajl']),
	'protobuf': (of_protobuf, []),
	'otf2': (of_otf2, ['otf2']),
	'trace_dat': (of_trace_dat, ['libtracecmd']),
	'recorded': (of_recorded, []),
	'fallen': (of_fallen, []),
	'stumbled': (of_stumbled, []),
	'vague': (of_vague, []),
	'far': (of_far, []),
	'looped': (of_looped, []),
	'steep': (of_steep, []),
	'alike': (of_alike, []),
	'slewed': (of_slewed, []),
	'twice': (of_twice, []),
	'misstated': (of_misstated, []),
	'interfaces': (of_interfaces, []),
	'linked': (of_linked, []),
	'many': (of_many, []),
	'sized': (of_sized, []),
	'spans_beside': (of_spans_beside, ['yajl']),
	'span_table': (of_span_table, []),
	'broken': (of_broken, ['yajl']),
	'tiny': (of_tiny, []),
	'altered': (of_altered, []),
	'pieces': (of_pieces, []),
	'rotated': (of_rotated, []),
	'rotated_others': (of_rotated_others, ['yajl', 'babeltrace2', 'libtracecmd']),
	'clients': (of_clients, []),
	'forwarded': (of_forwarded, []),
	'lengthy': (of_lengthy, []),
	'bursts': (of_bursts, []),
	'sessions': (of_sessions, ['babeltrace2']),
	'kernel': (of_kernel, ['babeltrace2']),
}
