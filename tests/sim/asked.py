# SPDX-License-Identifier: MIT
"""asked.py - a command of the program, run; that it crashes or calls its own answer wrong fails any test"""
import subprocess


def run(unskew, *args):
	r = subprocess.run([unskew, *args], capture_output=True, encoding='utf-8', errors='replace', timeout=120)
	if r.returncode < 0 or r.returncode > 3 or 'Sanitizer' in r.stderr or 'runtime error' in r.stderr:
		raise AssertionError(f'{args[0]} crashed: status {r.returncode}: {r.stderr[:300]}')
	if 'failed its own check' in r.stderr + r.stdout:
		raise AssertionError(f'{args[0]}: {r.stderr.strip()[:300]}')
	return r
