# SPDX-License-Identifier: MIT
"""histories.py - operations as clients log them, for `history`: tables, JSON lines, and EDN as Jepsen writes it, with values of all kinds"""
import csv
import json

VALUES = ['', '', 7, -1, 'x', 'nil', 'true', ':key', '#{1 2}', '[1, [2, null]]', '{"a": {"b": [true, 1.5]}, "c": "d"}', '"quoted \\" and \\\\"', 'not, "JSON"', 'caf\u00e9']
FORMS = ['nil', 'true', '3', '-2.5', '7N', '1/3', ':key', ':a/b', 'symbol', '"text \\" \\n \\u00e9 \\\\"', '\\a', '\\newline', '[1 nil [:r 2 "x"]]', '(1, 2 3)',
	'#{1 :b}', '{:a 1, "b" {2 [3]}}', '#inst "2026-11-28T00:00:00Z"', '[#_ skipped 4]', '[1 ; to the end\n 2]']


def drawn(draw, stamps):
	"""[(clock, process, what, called, returned or '', status, key, given, got)]; stamps in order."""
	machine, busy, ops, form = {}, {}, [], draw.choice(['knossos', 'elle', 'porcupine'])
	for number, (clock, x) in enumerate(stamps):
		process = machine.setdefault(clock, len(machine))
		if draw.random() < 0.4 or busy.get(process, x - 1) >= x:
			process = 100 + number
		what, status = draw.choice(['read', 'write', 'append' if form == 'elle' else 'cas']), draw.choice(['ok', 'ok', 'ok', 'fail', 'info'])
		end = '' if status == 'info' and draw.random() < 0.7 else x + draw.choice([1, 10**3, 10**5, 10**7])
		busy[process] = end or 2**63
		ops.append((clock, process, what, x, end, status, draw.choice('xy'), number, draw.choice(['', number])))
	return form, ops


def table(draw, ops):
	"""Operands."""
	names, odd = ['clock', 'process', 'op', 'call_ns', 'return_ns', 'status', 'key', 'input', 'output'], draw.random() < 0.4
	rows = [[*op[:7], draw.choice(VALUES), draw.choice(VALUES)] if odd else list(op) for op in ops]
	if draw.random() < 0.3:
		with open('operations.jsonl', 'w', encoding='utf-8') as f:
			f.writelines(json.dumps({k: v for k, v in zip(names, row) if v != ''}) + '\n' for row in rows)
		return ['operations.jsonl']
	with open('operations.csv', 'w', newline='', encoding='utf-8') as f:
		csv.writer(f).writerows([names, *rows])
	return ['operations.csv']


def edn(draw, ops, keyed):
	"""Operands, a file a clock; or one of all, and options that say whose processes are."""
	by, odd = {}, draw.random() < 0.5 and not keyed
	for clock, process, what, x, end, status, key, given, got in ops:
		lines = by.setdefault(clock, [])
		key = f' :key "{key}",' if keyed or draw.random() < 0.7 else ''
		value = {'read': 'nil', 'write': str(given), 'append': str(given), 'cas': f'[{given} 3]'}[what]
		value = draw.choice(FORMS) if odd else value
		lines.append((x, f'{{:process {process}, :type :invoke, :f :{what},{key} :value {value}, :time {x}}}'))
		if end != '':
			value = draw.choice(FORMS) if odd else f'{{:a #{{1 "b"}}, :n {got}}}' if got and draw.random() < 0.2 else got or value
			more = draw.choice(['', '', ', :error [:timeout "late"]', ', :node "n1"']) if odd else ''
			lines.append((end, f'{{:process {process}, :type :{status}, :f :{what},{key} :value {value}, :time {end}, :index 7{more}}}'))
	if draw.random() < 0.3:
		return of_one_file(draw, by)
	operands = []
	for number, (clock, lines) in enumerate(sorted(by.items())):
		with open(f'{number}.edn', 'w', encoding='utf-8') as f:
			f.write('; a history\n' * draw.randrange(2) + '\n'.join(line for _, line in sorted(lines)) + '\n')
		operands.append(f'{clock}={number}.edn')
	return operands


def of_one_file(draw, by):
	clocks = sorted(c for c in by if ',' not in c)
	lines = [line for rows in by.values() for _, line in rows]
	with open('all.edn', 'w', encoding='utf-8') as f:
		f.write('[' * draw.randrange(2) + '\n'.join(lines + ['{:process :nemesis, :type :info, :f :kill, :value nil, :time 5}'] * draw.randrange(2)) + '\n')
	said = ['--nodes', ','.join(clocks)] if clocks and draw.random() < 0.8 else []
	for k, clock in enumerate(clocks):
		if draw.random() < 0.5:
			said += ['--clock-of', f'{draw.choice([f"{k}", f"{k}-{k + 100}", "nobody"])}={clock}']
	return ['all.edn', *said]
