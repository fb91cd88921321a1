# SPDX-License-Identifier: MIT
"""asked.py - a command of the program, run; that it crashes or calls its own answer wrong fails any test

And what tests of many cases are told: which program, which cases, how many at a time, where those that fail are kept.
"""
import argparse
import os
import subprocess

from part import part


def options(usual):
	p = argparse.ArgumentParser()
	p.add_argument('unskew', type=os.path.abspath)
	p.add_argument('--count', type=int, default=usual)
	p.add_argument('--seed', type=int, default=1)
	p.add_argument('--jobs', type=int, default=os.cpu_count())
	p.add_argument('--keep', type=os.path.abspath)
	o = p.parse_args()
	o.seed, o.count = part(o.seed, o.count)
	return o


def in_memory():
	"""A folder that costs no disk, where there is one."""
	return '/dev/shm' if os.access('/dev/shm', os.W_OK) else None


def demand_whole(command, status, text):
	"""That it did not crash, and did not call its own answer wrong."""
	if status < 0 or status > 3 or 'Sanitizer' in text or 'runtime error' in text:
		raise AssertionError(f'{command} crashed: status {status}: {text[:300]}')
	if 'failed its own check' in text:
		raise AssertionError(f'{command}: {text.strip()[:300]}')


def run(unskew, *args):
	r = subprocess.run([unskew, *args], capture_output=True, encoding='utf-8', errors='replace', timeout=120)
	demand_whole(args[0], r.returncode, r.stderr + r.stdout)
	return r
