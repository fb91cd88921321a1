#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otf2_recorded.py UNSKEW DATA - Score-P's recordings of two ranks on one node, whose counter is one

All messages of the ping-pong are found, the offsets that fit them are those that are known of the recording,
and 0, which is the truth, lies in the band.
"""
import json
import os
import subprocess
import sys


def run(*words):
	return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


unskew, data = sys.argv[1:]
if not os.path.exists(f'{data}/otf2-pingpong/plain/traces.otf2'):
	print(f'skipped: no recorded data in "{data}" (meson option recorded_data)')
	sys.exit(77)
for name, bracket in (('plain', (-15913, 19063)), ('papi', None)):
	trace = f'{data}/otf2-pingpong/{name}/traces.otf2'
	delays = [direction['min_ns'] for pair in json.loads(run(unskew, 'check', trace, '--json'))['pairs']
		for direction in (pair['b_to_a'], pair['a_to_b'])]
	clock = json.loads(run(unskew, 'sync', '-q', trace, '--json'))['clocks'][1]
	assert clock['name'] == 'traces/MPI Rank 1', clock
	assert all(int(k['lo_ns']) <= 0 <= int(k['hi_ns']) for k in clock['knots']), clock
	assert not bracket or (-int(delays[0]), int(delays[1])) == bracket, delays
print('all as expected')
