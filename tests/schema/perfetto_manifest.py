#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto_manifest.py UNSKEW - manifests for Perfetto keep to its documented format, and move files the right way

The format is https://perfetto.dev/docs/reference/perfetto-manifest, version 1: each field that it has, of which type, what
has to be there and what it may name. Fields that it does not have would be passed over by Perfetto, so they are faults
here. Clocks of simulated hosts are off by what is known: an instant on each, moved by its `offset_ns`, is one instant on
the clock that it is synced to. Manifest and files are packed as the manual says, and each path is a member of that archive.
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile

CLOCKS = ('REALTIME', 'REALTIME_COARSE', 'MONOTONIC', 'MONOTONIC_COARSE', 'MONOTONIC_RAW', 'BOOTTIME')
OFFSETS = (0, 7_000_000, -250_000_000, 3_000_000_000)	# of hosts, ns that they are ahead


def clock_name(x):
	return x in CLOCKS


def text(x):
	return isinstance(x, str) and x != ''


def integer(x):
	return isinstance(x, int) and not isinstance(x, bool) and -2**63 < x < 2**63


# Field -> what it holds, and whether it has to be there.
SYNC_TO = {'file': (text, True), 'machine': (text, False), 'clock': (clock_name, False)}
FILE_CLOCKS = {'clock': (clock_name, False), 'machine': (text, False), 'sync_to': (SYNC_TO, True), 'offset_ns': (integer, False)}
FILE = {'path': (text, True), 'machine': ({'name': (text, True)}, False), 'clocks': (FILE_CLOCKS, False)}
TRACE_TIME = {'clock': (clock_name, True), 'file': (text, False), 'machine': (text, False)}
MANIFEST = {'version': (lambda x: x == 1 and integer(x), True), 'trace_time': (TRACE_TIME, False), 'files': ([FILE], False),
	'attributes': (lambda x: isinstance(x, dict) and all(k and (integer(v) or isinstance(v, str)) for k, v in x.items()), False)}


def check(what, value, form):
	if isinstance(form, list):
		assert isinstance(value, list), f'{what} is no array'
		for i, x in enumerate(value):
			check(f'{what}[{i}]', x, form[0])
	elif isinstance(form, dict):
		assert isinstance(value, dict), f'{what} is no object'
		for key in value:
			assert key in form, f'{what}.{key}: the format has no such field'
		for key, (inner, needed) in form.items():
			assert key in value or not needed, f'{what}.{key} is missing'
			if key in value:
				check(f'{what}.{key}', value[key], inner)
	else:
		assert form(value), f'{what} is {value!r}'


def manifest(unskew, folder, clock):
	path = os.path.join(folder, f'{clock}.json')
	files = [f'host{i}={folder}/host{i}.pftrace' for i in range(len(OFFSETS))]
	subprocess.run([unskew, 'apply', '-q', f'{folder}/clocks.json', *files, '--perfetto-manifest', path, '--perfetto-clock',
		clock], check=True)
	with open(path) as f:
		all_of_it = f.read()
	assert ''.join(all_of_it.split()).startswith('{"perfetto_manifest"'), 'Perfetto would not know it'
	whole = json.loads(all_of_it)
	assert list(whole) == ['perfetto_manifest'], list(whole)
	check('perfetto_manifest', whole['perfetto_manifest'], MANIFEST)
	return path, whole['perfetto_manifest']


def judge(m, clock, margin_ns):
	paths = [f['path'] for f in m['files']]
	assert len(set(paths)) == len(paths), paths
	assert ('trace_time' in m) == (clock != 'file')
	assert 'trace_time' not in m or (m['trace_time']['clock'] == clock and m['trace_time']['file'] in paths)
	ahead = {f['path']: OFFSETS[int(f['machine']['name'][4:])] for f in m['files']}
	moved = 0
	for f in m['files']:
		if 'clocks' in f:
			to = f['clocks']['sync_to']
			assert to['file'] in paths, to
			# Files without a clock are pinned, others related, by one and the same.
			assert {f['clocks'].get('clock'), to.get('clock')} == {None if clock == 'file' else clock}, f
			wrong = f['clocks'].get('offset_ns', 0) - (ahead[to['file']] - ahead[f['path']])
			assert abs(wrong) <= margin_ns, f'{f["path"]} is moved {wrong} ns too far'
			moved += 1
	assert moved == len(paths) - 1, moved


def main(unskew):
	with tempfile.TemporaryDirectory() as folder:
		subprocess.run([unskew, 'simulate', '-q', '--hosts', str(len(OFFSETS)), '--topology', 'ring', '--seconds', '5', '--rate',
			'50', '--offset', ','.join(f'{x}ns' for x in OFFSETS), '-o', folder], check=True)
		subprocess.run([unskew, 'sync', '-q', *(f'{folder}/host{i}.pcap' for i in range(len(OFFSETS))), '-o',
			f'{folder}/clocks.json'], check=True)
		for i in range(len(OFFSETS)):
			with open(f'{folder}/host{i}.pftrace', 'w') as f:
				f.write('a trace\n')
		for clock in CLOCKS + ('file',):
			path, m = manifest(unskew, folder, clock)
			judge(m, clock, 1_000_000)
			with tarfile.open(f'{folder}/all.tar', 'w') as tar:
				tar.add(path, 'perfetto_manifest.json')
				for i in range(len(OFFSETS)):
					tar.add(f'{folder}/host{i}.pftrace', f'host{i}.pftrace')
				assert all(f['path'] in tar.getnames() for f in m['files'])
	print(f'{len(CLOCKS) + 1} manifests keep to the format')


main(sys.argv[1])
