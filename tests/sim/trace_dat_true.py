#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_dat_true.py UNSKEW [FIRST [COUNT]] - trace.dat of hosts and guests whose true clocks are known

A guest of 1 to 4 virtual CPUs sets its timers and leaves to its host for each, both on clocks of their own; interrupts and NMIs
come between, threads of the host change their CPU, the recorder loses events, a second guest has other timers. Every
band has to hold the truth; so it has with events that --send and --recv name. Files are written by trace_dat.py, as nothing
here has tracefs. Some are cut short or spoilt as well: there has to be an answer, or a sentence and status 1.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part
from trace_dat import IRQS_OFF, NMI, Event, trace

START = 10**15
EXIT = Event(301, 'kvm', 'kvm_exit', [('unsigned int exit_reason', 'I'), ('unsigned long guest_rip', 'Q')])
HOST = Event(302, 'kvm', 'kvm_msr', [('unsigned write', 'I'), ('u32 ecx', 'I'), ('u64 data', 'Q'), ('u8 exception', 'B')])
WRITE = Event(303, 'msr', 'write_msr', [('unsigned int msr', 'I'), ('u64 val', 'Q'), ('int failed', 'I')])
OTHER = Event(304, 'timer', 'hrtimer_start', [('void * hrtimer', 'Q')])
SENT = Event(305, 'app', 'tx', [('u32 to', 'I'), ('u64 number', 'Q')])
GOT = Event(306, 'app', 'rx', [('u32 me', 'I'), ('u64 number', 'Q')])
KINDS = [EXIT, HOST, WRITE, OTHER, SENT, GOT]
DEADLINE = 0x6e0


class Machines:
	def __init__(self, seed):
		self.draw = draw = random.Random(seed)
		self.clock = {name: (START + draw.randrange(-10**9, 10**9), draw.uniform(-4e-5, 4e-5)) for name in ('host', 'guest', 'other')}
		self.rows = {name: [[] for _ in range(6)] for name in self.clock}
		for name in ('guest', 'other'):
			for cpu in range(draw.choice([1, 2, 4])):
				self.run(name, cpu)
		for i in range(200):
			t = 10**6 + i * 10**7 + draw.randrange(10**6)
			a, b = draw.choice([('host', 'guest'), ('guest', 'host')])
			self.put(a, 5, t, SENT.data(0, 9, ord(b[0]), i))
			self.put(b, 5, t + 3000 + int(draw.expovariate(1 / 20000)), GOT.data(0, 9, ord(b[0]), i))

	def shows(self, name, true):
		offset, drift = self.clock[name]
		return offset + true + int(true * drift)

	def put(self, name, cpu, true, data):
		if self.draw.random() > 0.05:
			self.rows[name][cpu].append((self.shows(name, true), data))

	def run(self, name, cpu):
		draw, t, tsc = self.draw, draw_start(self.draw), self.draw.randrange(1, 2**62)
		pid = 1000 + cpu + 100 * (name == 'other')
		for _ in range(draw.choice([50, 300])):
			t += draw.randrange(10**4, 10**7)
			host_cpu = draw.randrange(5)
			quiet = draw.random() < 0.8	# interrupts are off
			tsc += draw.randrange(1, 10**6)
			self.put(name, cpu, t, OTHER.data(IRQS_OFF * quiet, 7, 1))
			write = t + draw.randrange(100, 5000)
			exits, told = write + draw.randrange(50, 3000), write + draw.randrange(3001, 9000)
			self.put('host', host_cpu, exits, EXIT.data(0, pid, 32, 4096))
			self.put('host', host_cpu, told, HOST.data(0, pid, 1, DEADLINE, tsc, 0))
			t = told + draw.randrange(50, 50000)
			if draw.random() < 0.1:	# between the write and its record
				self.put(name, cpu, t - 20, OTHER.data(NMI if quiet else 0, 7, 2))
			self.put(name, cpu, t, WRITE.data(IRQS_OFF * quiet, 7, DEADLINE, tsc, 0))
			if draw.random() < 0.1:
				self.put(name, cpu, t + 20, WRITE.data(0, 7, 0x48, 1, 0))	# the host hears nothing of this one

	def truth(self):
		times = list(range(0, 5 * 10**9, 10**7))
		return {'unskew_truth': 1, 'true_ns': [str(t) for t in times],
			'clock_ns': {name: [str(self.shows(name, t)) for t in times] for name in self.clock}}


def draw_start(draw):
	return draw.randrange(10**6, 10**7)


def judge(unskew, seed, folder):
	m = Machines(seed)
	for name, cpus in m.rows.items():
		with open(f'{folder}/{name}.dat', 'wb') as f:
			f.write(trace(KINDS, [sorted(rows, key=lambda r: r[0]) for rows in cpus]))
	with open(f'{folder}/truth.json', 'w') as f:
		json.dump(m.truth(), f)
	rules = ['--send', 'app:tx{to,number}', '--recv', 'rx{me,number}']
	n = 0
	for names, more in ((('host', 'guest', 'other'), []), (('host', 'guest'), rules)):
		paths = [f'{folder}/{name}.dat' for name in names]
		done = subprocess.run([unskew, 'sync', *paths, *more, '--truth', f'{folder}/truth.json'], capture_output=True, text=True)
		truths = [line for line in done.stdout.splitlines() if line.startswith('Truth:')]
		wrong = [line for line in truths if 'holds the truth throughout' not in line]
		if done.returncode or wrong or len(truths) < len(names) - 1 or 'outlier' in done.stdout:
			return f'sync: {done.returncode} {wrong} {done.stdout} {done.stderr}', 0
		n += len(truths)
	with open(f'{folder}/guest.dat', 'rb') as f:
		data = bytearray(f.read())
	if m.draw.random() < 0.5:
		del data[m.draw.randrange(len(data)):]
	for _ in range(m.draw.choice([1, 4])):
		data[m.draw.randrange(len(data))] = m.draw.randrange(256)
	with open(f'{folder}/guest.dat', 'wb') as f:
		f.write(data)
	done = subprocess.run([unskew, 'sync', f'{folder}/host.dat', f'{folder}/guest.dat'], capture_output=True, text=True, timeout=60)
	if done.returncode not in (0, 1, 3) or done.returncode == 1 and done.stderr.count('\n') != 1:
		return f'spoilt: {done.returncode} {done.stderr}', 0
	return '', n


def main():
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 20)
	held, failed = 0, 0
	for seed in range(first, first + count):
		with tempfile.TemporaryDirectory() as folder:
			why, n = judge(sys.argv[1], seed, os.environ.get('KEEP', folder))
		held += n
		failed += why != ''
		if why:
			print(f'seed {seed}: {why}')
	print(f'{count} cases, {held} bands hold the truth, {failed} failed')
	return failed > 0


if __name__ == '__main__':
	sys.exit(main())
