#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""under_way.py UNSKEW [FIRST [COUNT]] - the reference is set back while messages are under way

By the reference's clock such a message takes less time than it does, so it may look as if it was
received before it was sent, or faster than its minimum delay. Delays here are as long as many
messages are apart, and every step is larger than what delays differ by. Bands are judged inside
brackets of steps too, unless the records themselves show the step: what the reference shows between
two of its records nobody knows, then; or some messages were left out. A case is made by its seed
alone.
"""
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part


def judge(unskew, seed):
	"""What is wrong with the case; '' if nothing is. None: it is not judged."""
	draw = random.Random(seed)
	hosts = draw.choice([2, 2, 3, 4, 5])
	least = int(10 ** draw.uniform(5, 8))
	tail = int(least * 10 ** draw.uniform(-2, 0.3))
	stated = int(least * draw.uniform(0.9, 1)) if draw.random() < 0.6 else 0
	size = int((2 * (least - stated) + 6 * tail) * 10 ** draw.uniform(0.05, 1))
	rate = 10 ** draw.uniform(0.5, 2.7)
	seconds = int(min(20, max(4, 3000 / rate / hosts)))
	at = int(seconds * draw.uniform(0.2, 0.8) * 10**9)
	with tempfile.TemporaryDirectory() as folder:
		out = os.path.join(folder, 'out')
		subprocess.run([unskew, 'simulate', '--format', 'table', '--hosts', str(hosts), '--topology',
			draw.choice(['mesh', 'chain', 'star', 'ring']), '--seed', str(seed), '--seconds',
			str(seconds), '--rate', f'{rate:.1f}', '--offset', '0ns,5ms', '--step',
			f'host0@{at}ns:-{size}ns', '--dmin', f'{least}ns', '--tail', f'{tail}ns', '-o', out],
			check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		run = subprocess.run([unskew, 'sync', os.path.join(out, 'messages.csv'), '--reference', 'host0',
			'--min-delay', f'{stated}ns', '--truth', os.path.join(out, 'truth.json')],
			capture_output=True, text=True, check=False)
	if run.returncode not in (0, 3):
		return f'status {run.returncode}: {run.stderr.strip()}'
	if 'stamps repeat' in run.stdout or 'as outliers' in run.stdout:
		return None
	wrong = [line for line in run.stdout.splitlines() if 'MISSES' in line]
	return wrong[0] if wrong else ''


def main():
	unskew = sys.argv[1]
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 60)
	bad = judged = 0
	for seed in range(first, first + count):
		wrong = judge(unskew, seed)
		judged += wrong is not None
		if wrong:
			bad += 1
			print(f'seed {seed}: {wrong}')
	print(f'{judged} of {count} cases judged, from seed {first}; {bad} with a band that excludes the truth')
	sys.exit(bad > 0 or judged == 0)


main()
