#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clocks_schema.py UNSKEW PAGE [SEED [COUNT]] - the schema of clocks.json, and the page about it

PAGE is what the program makes of its tables. What sync writes, of all models and qualities, is valid
by the schema; a key that is missing or of another type is not, and then no command reads the file.
Needs jsonschema; else the test is skipped (77).
"""
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

try:
	import jsonschema
except ImportError:
	print('skipped: no python3-jsonschema')
	sys.exit(77)

RUNS = [  # what is simulated, and how it is synchronised
	(['--hosts', '3', '--topology', 'chain'], []),
	(['--hosts', '4', '--step', 'host1@5s:-3s', '--step', 'host2@6s:2s'], []),
	(['--hosts', '2', '--one-way', '--format', 'table'], []),
	(['--hosts', '3', '--format', 'table'], ['--model', 'linear']),
	(['--hosts', '3', '--format', 'table', '--wander-ppb', '500'], ['--model', 'segments=2s', '--min-delay', '10us']),
	(['--hosts', '2', '--format', 'table'], ['--model', 'segments=auto', '--method', 'round-trip']),
	(['--hosts', '2', '--format', 'table', '--drift-ppm', '0,900'], ['--model', 'linear']),
	(['--hosts', '4', '--topology', 'islands', '--broadcast', '5', '--format', 'table'], []),
]
# Of a clock written for others alone; and what only another model has.
WRITTEN = {'half_width_ns', 'headline'}
UNREAD = WRITTEN | {'ppm', 'duration_ns'}


def answers(unskew, folder):
	for i, (made, options) in enumerate(RUNS):
		where = os.path.join(folder, str(i))
		subprocess.run([unskew, 'simulate', '-q', '-o', where, '--seconds', '10', '--rate', '10', *made], check=True)
		traces = sorted(n for n in os.listdir(where) if n.endswith('.pcap')) or ['messages.csv']
		out = os.path.join(where, 'clocks.json')
		subprocess.run([unskew, 'sync', '-q', '-o', out, *options, *(os.path.join(where, n) for n in traces)],
			stdout=subprocess.DEVNULL, check=False)
		with open(out) as f:
			yield json.load(f)


def places(value, schema, path=()):
	"""Every object that the schema knows, with its schema and how to get there."""
	if schema.get('type') == 'object':
		yield path, schema
		for key, inner in schema['properties'].items():
			if key in value and not (key in WRITTEN and 'clocks' in path):
				yield from places(value[key], inner, path + (key,))
	elif schema.get('type') == 'array':
		for i, row in enumerate(value):
			yield from places(row, schema['items'], path + (i,))


def spoilt(draw, answer, schema):
	"""The same with a key less that has to be there, or of another type; and where."""
	bad = copy.deepcopy(answer)
	path, key = draw.choice([(p, k) for p, of in places(answer, schema) for k in of['required'] if k not in UNREAD])
	at = bad
	for step in path:
		at = at[step]
	if draw.random() < 0.5:
		del at[key]
	else:
		text = isinstance(at[key], str) or at[key] is None
		at[key] = draw.choice([x for x in ([], {}, True, 'x y') if type(x) is not type(at[key]) and not (text and x == 'x y')])
	return bad, path + (key,)


def is_wrong(unskew, folder, bad):
	"""Does the program refuse it?"""
	name = os.path.join(folder, 'bad.json')
	with open(name, 'w') as f:
		json.dump(bad, f)
	done = subprocess.run([unskew, 'convert', name, '--clock', 'host0', '1700000001'], capture_output=True, text=True)
	return done.returncode == 1 and 'bad.json' in done.stderr


def main():
	unskew, page = os.path.abspath(sys.argv[1]), sys.argv[2]
	seed, count = (int(x) for x in (sys.argv[3:] + ['1', '60'][len(sys.argv) - 3:])[:2])
	draw, failed = random.Random(seed), []
	made = subprocess.run([unskew, '--schema', 'page'], capture_output=True, text=True, check=True).stdout
	with open(page) as f:
		if f.read() != made:
			failed.append(f'{page} is not what `unskew --schema page` prints')
	schema = json.loads(subprocess.run([unskew, '--schema'], capture_output=True, check=True).stdout)
	jsonschema.Draft202012Validator.check_schema(schema)
	validator = jsonschema.Draft202012Validator(schema)
	refused = 0
	with tempfile.TemporaryDirectory() as folder:
		good = list(answers(unskew, folder))
		for i, answer in enumerate(good):
			failed += [f'run {i}: {list(e.path)}: {e.message[:80]}' for e in validator.iter_errors(answer)]
		for _ in range(count):
			bad, where = spoilt(draw, draw.choice(good), schema)
			if validator.is_valid(bad):
				failed.append(f'valid without a sound {where}')
			elif not is_wrong(unskew, folder, bad):
				failed.append(f'read in spite of {where}')
			else:
				refused += 1
	qualities = sorted({c['quality'] for answer in good for c in answer['clocks']})
	for line in failed:
		print(line)
	print(f'{len(good)} answers valid, of quality {", ".join(qualities)}; {refused} of {count} spoilt ones refused, seed {seed}')
	sys.exit(bool(failed))


main()
