#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ctf_fields.py UNSKEW PLUGIN_FOLDER - babeltrace2 shows of events behind the filter what it shows without it

A trace of every class of field that CTF 1.8 has, nested in each other, of random values: the filter makes all classes
and fields anew. Only stamps may differ, and those are as the clocks file says. An event that cannot be corrected
is not left out in silence.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

START, LATEST = 1700000000 * 10**9, 2**62

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 32; align = 8; base = 16; } := hex32;
typealias integer { size = 64; align = 8; } := u64;
typealias integer { size = 16; align = 8; signed = true; } := i16;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias integer { size = 8; align = 8; encoding = UTF8; } := letter;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := single;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;
env { hostname = "host"; };
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
stream {
	id = 0;
	packet.context := struct { u64 content_size; u64 packet_size; stamp timestamp_begin; stamp timestamp_end; u16 cpu; };
	event.header := struct { u32 id; stamp timestamp; };
	event.context := struct { i16 thread; };
};
event {
	id = 0; name = "all"; stream_id = 0; loglevel = 4;
	context := struct { string who; };
	fields := struct {
		u8 small; i16 negative; hex32 mask; i64 far;
		enum : u8 { LOW, MIDDLE = 5 ... 9, HIGH } level;
		enum : i16 { COLD = -7 ... -1, WARM } degree;
		single f; double g; string text; letter word[4]; u16 three[3];
		u8 n; u16 some[n]; u8 m; struct { u8 x; string y; } each[m];
		enum : u8 { number, name, both } tag;
		variant <tag> { u16 number; string name; struct { i16 a; double b; } both; } either;
		enum : i16 { below = -1, above } sign;
		variant <sign> { u8 below; i64 above; } signed_either;
	};
};
event { id = 1; name = "none"; stream_id = 0; };
'''


def text(draw):
	return bytes(draw.choice(b'abcdefgh ') for _ in range(draw.randrange(9))) + b'\0'


def fields(draw):
	out = struct.pack('<BhIq', draw.randrange(256), draw.randrange(-2**15, 0), draw.randrange(2**32), draw.randrange(-2**63, 2**63))
	out += struct.pack('<Bh', draw.choice([0, 5, 7, 9, 10]), draw.choice([-7, -1, 0]))
	out += struct.pack('<fd', draw.uniform(-9, 9), draw.uniform(-9, 9)) + text(draw) + b'word'
	out += struct.pack('<3H', *(draw.randrange(2**16) for _ in range(3)))
	some = [draw.randrange(2**16) for _ in range(draw.randrange(4))]
	out += struct.pack(f'<B{len(some)}H', len(some), *some)
	m = draw.randrange(3)
	out += bytes([m]) + b''.join(bytes([k]) + text(draw) for k in range(m))
	tag = draw.randrange(3)
	out += bytes([tag]) + (struct.pack('<H', 77), text(draw), struct.pack('<hd', -3, draw.random()))[tag]
	sign = draw.randrange(2)
	return out + struct.pack('<h', sign - 1) + (struct.pack('<B', 8), struct.pack('<q', -2**40))[sign]


def trace(folder, draw, start, metadata=METADATA):
	os.makedirs(folder)
	with open(os.path.join(folder, 'metadata'), 'w') as f:
		f.write(metadata)
	stamps, events = [start + k * 10**6 + draw.randrange(10**6) for k in range(50)], b''
	for t in stamps:
		events += struct.pack('<IQh', t % 2, t, draw.randrange(-9, 9)) + (b'' if t % 2 else text(draw) + fields(draw))
	size = 4 + 4 + 34 + len(events)
	head = struct.pack('<IIQQQQH', 0xc1fc1fc1, 0, size * 8, size * 8, stamps[0], stamps[-1], 3)
	with open(os.path.join(folder, 'stream'), 'wb') as f:
		f.write(head + events)


def shown(*args):
	run = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', *args], capture_output=True, text=True)
	pairs = [line.split(' ', 1) for line in run.stdout.splitlines()]
	why = f'babeltrace2: status {run.returncode}: {run.stderr}' if run.returncode else ''
	return [int(stamp.strip('[]').replace('.', '')) for stamp, _ in pairs], [what for _, what in pairs], why


def by_path(folder, draw):
	"""Of a trace whose host no clock is called by, the file says where it is from there: what is wrong with that."""
	unnamed = METADATA.replace('"host"', '"nobody"').replace('minor = 8;', 'minor = 8; uuid = "01234567-89ab-cdef-0123-456789abcdef";')
	trace('w/' + folder, draw, START, unnamed)
	with open('clocks.json', encoding='utf-8') as f:
		clocks = json.load(f)
	clocks['traces'][0].update(path=folder, kind='ctf', clock='host')
	with open('w/clocks.json', 'w', encoding='utf-8') as f:
		json.dump(clocks, f)
	stamps, _, why = shown('w/' + folder, '--component=filter.unskew.sync', '--params=clocks="w/clocks.json"')
	return why or ('' if len(stamps) == 50 else f'{len(stamps)} of 50 events of {folder}')


def set_back(unskew, draw):
	"""A clock that is 10 s ahead, and was set back later on, and the reference: all events of both, in order."""
	with open('b.csv', 'w') as f:
		f.write('sender,receiver,sent_ns,received_ns\n')
		for t in range(START, START + 2 * 10**9, 10**7):
			there = t + (10 if t < START + 10**9 else 5) * 10**9
			f.write(f'ref,back,{t},{there + 5050}\nback,ref,{there + 9000},{t + 14101}\n')
	subprocess.run([unskew, 'sync', '-q', 'b.csv', '--reference', 'ref', '-o', 'back.json'], check=True)
	for name, ahead in ('back', 10**10), ('ref', 0):
		trace(name, draw, START + ahead, METADATA.replace('"host"', f'"{name}"'))
	stamps, _, why = shown('back', 'ref', '--component=filter.unskew.sync', '--params=clocks="back.json"')
	return why or ('' if len(stamps) == 100 and stamps == sorted(stamps) else f'{len(stamps)} of 100 events, or in no order')


def main():
	unskew, os.environ['BABELTRACE_PLUGIN_PATH'] = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
	if not shutil.which('babeltrace2'):
		print('skipped: babeltrace2 is not installed')
		return 77
	with tempfile.TemporaryDirectory() as work:
		os.chdir(work)
		trace('now', random.Random(4), START)
		trace('late', random.Random(4), LATEST - 25 * 10**6)
		with open('t.csv', 'w') as f:
			f.write('sender,receiver,sent_ns,received_ns\n')
			for t in range(START, START + 60 * 10**6, 10**6):
				f.write(f'ref,host,{t},{t + 5005050}\nhost,ref,{t + 5009000},{t + 4101}\n')
		subprocess.run([unskew, 'sync', '-q', 't.csv', '-o', 'clocks.json'], check=True)
		behind = ['--component=filter.unskew.sync', '--params=clocks="clocks.json"']
		recorded, is_now, is_late = shown('now'), shown('now', *behind), shown('late', *behind)
		lost = by_path('n', random.Random(5)) or by_path('ow/n', random.Random(5)) or by_path('t/n', random.Random(5)) or set_back(unskew, random.Random(6))
		convert = subprocess.run([unskew, 'convert', 'clocks.json', '--clock', 'host', *map(str, recorded[0])],
			capture_output=True, text=True, check=True)
		os.chdir('/')
	said = [int(line.split()[1]) for line in convert.stdout.splitlines()[-50:]]
	wrong = [f'{a}\n{b}' for a, b in zip(recorded[1], is_now[1]) if a != b]
	if recorded[2] or is_now[2] or len(recorded[1]) != 50 or len(is_now[1]) != 50 or wrong:
		sys.exit('\n'.join(['the filter changes fields:', recorded[2], is_now[2], *wrong[:2]]))
	if lost:
		sys.exit(lost)
	if said != is_now[0]:
		sys.exit('other stamps than convert says')
	if not is_late[2]:
		sys.exit(f'{len(is_late[1])} of 50 events are shown as if the others, which are too late to be corrected, were not there')
	print('50 events, the same but for their stamps')
	return 0


if __name__ == '__main__':
	sys.exit(main())
