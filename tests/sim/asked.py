# SPDX-License-Identifier: MIT
"""asked.py - a command of the program, run; that it crashes or calls its own answer wrong fails any test

And what tests of many cases are told: which program, which cases, how many at a time, where those that fail are kept.
"""
import argparse
import multiprocessing
import os
import shutil
import subprocess
import tempfile

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


def order(unskew, found, events):
	"""What `before` says of pairs of events, [((clock, stamp, true time), (clock, stamp, true time))]: yes and no are so.

	How many of them it decided. A stamp that may be of two epochs has no answer.
	"""
	asked = ''.join(f'{a}:{x}\t{b}:{y}\n' for (a, x, _), (b, y, _) in events)
	r = subprocess.run([unskew, 'before', found], input=asked, capture_output=True, encoding='utf-8', errors='replace', timeout=120)
	lines, decided = r.stdout.splitlines(), 0
	if r.returncode not in (0, 3) or len(lines) != len(events):
		raise AssertionError(f'before: status {r.returncode}, {len(lines)} answers for {len(events)}: {r.stderr[:300]}')
	for (a, b), line in zip(events, lines):
		said = line.split()[0]
		decided += said != 'undecidable'
		if (said == 'yes' and a[2] > b[2]) or (said == 'no' and b[2] > a[2]):
			raise AssertionError(f'before is wrong: {a} {b} {line}')
	return decided


def joined(unskew, traces, more):
	"""By parts of the traces, which come in the order of their names, the same bytes."""
	traces = sorted(traces, key=lambda t: t.split('=')[-1])
	r = run(unskew, 'part', '-q', *traces, '-o', 'parts')
	if r.returncode:
		raise AssertionError(f'part: {r.stderr[:200]}')
	r, s = run(unskew, 'join', 'parts', *more, '--json'), run(unskew, 'sync', *traces, *more, '--json')
	if r.stdout != s.stdout or r.stderr != s.stderr:
		raise AssertionError(f'join says other than sync: {r.stderr[:200]}')


def in_folder(judge, unskew, case, keep, nothing):
	"""What judge says of a case in a folder of its own: why it failed, and more; that of a failure is nothing."""
	with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
		os.chdir(folder)
		try:
			out = judge(unskew, case)
		except (AssertionError, ValueError, subprocess.TimeoutExpired) as e:
			out = str(e) or repr(e), *nothing
		if out[0] and keep:
			shutil.copytree(folder, keep, dirs_exist_ok=True)
		os.chdir('/')
	return out


def trial(args):
	"""One case: its seed, why it failed or None, how much was asked."""
	judge, unskew, keep, seed, nothing = args
	return seed, *in_folder(judge, unskew, seed, keep and os.path.join(keep, str(seed)), nothing)


def trials(judge, usual, *what, wrong=lambda count, *asked: False, one=trial):
	"""All cases that are asked for: judge(program, seed) gives why one failed, or None, and how much of each of what there was.

	wrong(cases, sums of what...): is that too little, or too much? one: in place of trial().
	"""
	o = options(usual)
	failed, nothing = 0, (0,) * len(what)
	asked = nothing
	cases = ((judge, o.unskew, o.keep, s, nothing) for s in range(o.seed, o.seed + o.count))
	with multiprocessing.Pool(o.jobs) as pool:
		for seed, why, *more in pool.imap(one, cases):
			failed, asked = failed + bool(why), tuple(map(sum, zip(asked, more)))
			if why:
				print(f'seed {seed}: {why[:600]}', flush=True)
	print(f'seeds {o.seed} to {o.seed + o.count - 1}: {failed} failed; ' + ', '.join(f'{n} {w}' for n, w in zip(asked, what)))
	return failed > 0 or wrong(o.count, *asked)
