#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calibrate.py UNSKEW [FIRST [COUNT]] - how much of the true minimum delay calibrate finds

Ordinary traffic of mixed lengths over a network whose smallest delay is known: the model is never over
it, at any length that was seen, and has at least 80 % of it for the shortest messages. A case is made
by its seed alone.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part

UNITS = {'ps': 1e-3, 'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}


def ns(text):
	number = text.rstrip('pnumsB/')
	return float(number) * UNITS.get(text[len(number):].removesuffix('/B'), 1)


def needs(model, length):
	"""ns that a message of so many bytes takes at least: BASE[+FIRST][+PER_BYTE/B]."""
	parts = model.split('+')
	first = [ns(x) for x in parts[1:] if not x.endswith('/B')]
	each = [ns(x) for x in parts[1:] if x.endswith('/B')]
	return ns(parts[0]) + (sum(first) + sum(each) * (length - 1) if length else 0)


def judge(unskew, seed):
	"""The share that is found, and what is wrong; '' if nothing is."""
	proto = ('tcp', 'udp', 'icmp', 'mix')[seed % 4]
	truth = ('23us+2us+8ns/B', '23us', '50us+8ns/B', '120us+10us+80ns/B')[seed // 4 % 4]
	with tempfile.TemporaryDirectory() as folder:
		out = os.path.join(folder, 'out')
		subprocess.run([unskew, 'simulate', '-q', '-o', out, '--proto', proto, '--seconds', '30', '--rate',
			'1000', '--dmin', truth, '--tail', '20us', '--seed', str(seed)], check=True)
		run = subprocess.run([unskew, 'calibrate', '--json', os.path.join(out, 'host0.pcap'),
			os.path.join(out, 'host1.pcap')], capture_output=True, text=True, check=False)
	pair = json.loads(run.stdout)['pairs'][0] if run.stdout else {}
	model = pair.get('min_delay')
	if not model:
		return 0, f'{proto} {truth}: none; {run.stderr.strip()}'
	lengths = range(pair['from_bytes'], pair['to_bytes'] + 1)
	share = needs(model, lengths[0]) / needs(truth, lengths[0])
	over = [n for n in lengths if needs(model, n) > needs(truth, n)]
	wrong = f'{proto} {truth}: {model}, {share:.3f} of it'
	return share, wrong + f', too much for {over[0]} bytes' if over else wrong if share < 0.8 else ''


def main():
	unskew = sys.argv[1]
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 8)
	shares, bad = [], 0
	for seed in range(first, first + count):
		share, wrong = judge(unskew, seed)
		shares.append(share)
		if wrong:
			bad += 1
			print(f'seed {seed}: {wrong}')
	print(f'{count} cases from seed {first}: {min(shares):.3f} of the true minimum at least, '
		f'{sum(shares) / count:.3f} on the mean; {bad} wrong')
	sys.exit(bad > 0)


main()
