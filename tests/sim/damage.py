#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py UNSKEW [FIRST [COUNT]] - blocks of captures that disks and copies lost, against the truth

Pairs of captures from the simulator, of which blocks of 512 to 4096 bytes are zeroed, overwritten,
removed or doubled. No band may exclude the truth, no clock may be said to have stepped, no damage
pass in silence; nine tenths of the packets outside of it are read, and apply and --merge write what
was read. A case is made by its seed alone.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

PACKETS = {2, 6}


def records(data):
	"""Where a capture's packets begin and end: [(begin, end)]; False as well if it ends within one."""
	found = []
	if data[:4] == b'\x0a\x0d\x0d\x0a':
		at = 0
		while at + 12 <= len(data):
			kind, size = struct.unpack_from('<II', data, at)
			if size < 12 or at + size > len(data) or data[at + size - 4:at + size] != data[at + 4:at + 8]:
				break
			if kind in PACKETS:
				found.append((at, at + size))
			at += size
	else:
		at = 24
		while at + 16 <= len(data):
			size = 16 + struct.unpack_from('<I', data, at + 8)[0]
			if at + size > len(data):
				break
			found.append((at, at + size))
			at += size
	return found, at == len(data)


def lose(draw, data, head):
	"""The bytes with one block lost, and which of the packets are not touched."""
	size = draw.randrange(512, 4097)
	at = draw.randrange(head, len(data) - size)
	kind = draw.choice(['zeroed', 'overwritten', 'removed', 'doubled'])
	if kind == 'doubled':
		return kind, data[:at + size] + data[at:], at + size, at + size
	new = {'zeroed': bytes(size), 'overwritten': draw.randbytes(size), 'removed': b''}[kind]
	return kind, data[:at] + new + data[at + size:], at, at + size


def excludes(clock, truth):
	"""Moments of the truth that lie within the clock's knots and outside of its band."""
	knots = [[int(k[f]) for f in ('local_ns', 'lo_ns', 'hi_ns')] for k in clock['knots']]
	outside, i = 0, 0
	for true, local in zip(truth['true_ns'], truth['clock_ns'][clock['name']]):
		true, local = int(true), int(local)
		while i + 2 < len(knots) and knots[i + 1][0] < local:
			i += 1
		(x0, lo0, hi0), (x1, lo1, hi1) = knots[i], knots[i + 1]
		if x0 <= local <= x1:
			lo = lo0 + (lo1 - lo0) * (local - x0) / (x1 - x0)
			hi = hi0 + (hi1 - hi0) * (local - x0) / (x1 - x0)
			outside += not lo - 1 <= true - local <= hi + 1
	return outside


def run(unskew, *args):
	done = subprocess.run([unskew, *args], capture_output=True, text=True)
	return done.returncode, done.stdout + done.stderr


def written(unskew, damaged, answer):
	"""What is wrong with what apply writes of the damaged captures; '' if nothing is."""
	events = {trace['path']: trace['events'] for trace in answer['traces']}
	outputs = [(path, 'now' + os.path.splitext(path)[1], events[path]) for path in damaged]
	for path, out, many in outputs + [(None, 'all.pcapng', sum(events.values()))]:
		operands = ['-o', out, path] if path else ['--merge', out, *damaged]
		status, said = run(unskew, 'apply', '--force', 'clocks.json', *operands)
		if status:
			return f'apply {operands}: status {status}: {said}'
		with open(out, 'rb') as f:
			got, whole = records(f.read())
		if not whole or len(got) != many:
			return f'{out}: {len(got)} packets of {many}, {"whole" if whole else "broken"}'
		if any(damaged.values()) and 'skipped' not in said and (path is None or damaged[path]):
			return f'{out}: nothing said of damage'
	return ''


def judge(unskew, seed, share):
	"""What is wrong with the case; '' if nothing is."""
	draw = random.Random(seed)
	ending = draw.choice(['pcap', 'pcapng'])
	status, said = run(unskew, 'simulate', '-o', '.', '--force', '--seed', str(seed), '--seconds', '5',
		'--format', ending, '--offset=' + draw.choice(['0s', '30us', '3s', '-2h', '9600h']),
		f'--drift-ppm={draw.randrange(-40, 40)}', '--proto', draw.choice(['tcp', 'udp', 'icmp', 'mix']))
	if status:
		return f'simulate: status {status}: {said}'
	sync = ['sync', '--reference', 'host0', '-o', 'clocks.json', '--force', f'host0.{ending}', f'host1.{ending}']
	status, said = run(unskew, *sync)
	if status:
		return f'undamaged: status {status}: {said}'
	with open('clocks.json') as f:
		matched = json.load(f)['messages']['matched']
	damaged, outside, touched = {}, 0, 0
	for host in 'host0', 'host1':
		path = f'{host}.{ending}'
		with open(path, 'rb') as f:
			data = f.read()
		where, _ = records(data)
		damaged[path] = draw.random() < 0.7
		begin = end = 0
		if damaged[path]:
			kind, data, begin, end = lose(draw, data, where[0][0])
			# Where lengths lead to the end, nothing tells that packets of one length are missing.
			damaged[path] = kind != 'removed' or not records(data)[1]
			with open(path, 'wb') as f:
				f.write(data)
		apart = sum(b <= begin or a >= end for a, b in where)
		outside += apart
		touched += len(where) - apart
	status, said = run(unskew, *sync)
	if status != 0:
		return f'sync: status {status}: {said}'
	with open('clocks.json') as f:
		answer = json.load(f)
	with open('truth.json') as f:
		truth = json.load(f)
	used = sum(trace['events'] for trace in answer['traces'])
	share[0] += min(used, outside)
	share[1] += outside
	for clock in answer['clocks']:
		if excludes(clock, truth):
			return f'the band of {clock["name"]} excludes the truth'
		if clock['jumps']:
			return f'{clock["name"]} is said to have stepped'
	if any(damaged.values()) and 'skipped' not in said:
		return f'damage is not told of: {said}'
	# Two halves may make one more packet that looks whole.
	if used > outside + touched + len(damaged):
		return f'{used} packets of {outside + touched}'
	if answer['messages']['matched'] < (matched - touched) * 0.9:
		return f'{answer["messages"]["matched"]} messages of {matched}, {touched} packets touched'
	return written(unskew, damaged, answer)


def main():
	unskew = os.path.abspath(sys.argv[1])
	first, count = (int(x) for x in (sys.argv[2:] + ['0', '100'][len(sys.argv) - 2:])[:2])
	first, count = part(first, count)
	failed, share = 0, [0, 0]
	with tempfile.TemporaryDirectory() as folder:
		os.chdir(folder)
		for seed in range(first, first + count):
			why = judge(unskew, seed, share)
			failed += why != ''
			if why:
				print(f'seed {seed}: {why}')
		os.chdir('/')
	print(f'{count} cases, {failed} failed; {share[0] / share[1]:.2%} of the packets outside the damage used')
	return failed > 0 or share[0] < 0.9 * share[1]


if __name__ == '__main__':
	sys.exit(main())
