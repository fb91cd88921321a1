#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py - whatever fails, unskew says so in one sentence, and nothing is half-written

In    unskew, the library fail.c, tests/golden/data
Out   a line for each promise that was broken, with the command that shows it; counts of each kind
Why   a fault that passes for an answer is worse than no answer
Not   faults of the data (tests/fuzz), of machines that lose power

Each job is run once as it is. Then one call of it fails, or a signal ends it, or the disk is full:
either its answer is the same all the same, or it ends with status 1 and one sentence. What it was
to write is there whole, or not at all, or as it was before; inputs stay; nothing else is left.
"""
import argparse
import collections
import gzip
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

KINDS = ['memory', 'read', 'pread', 'write', 'pwrite', 'open', 'openat', 'close', 'lseek', 'ftruncate',
	'fsync', 'syncfs', 'stat', 'lstat', 'fstat', 'fcntl', 'fchmod', 'mkdir', 'rename', 'link', 'dup',
	'mkostemp', 'mkdtemp', 'pipe2', 'fork']
# Name, arguments, standard input, what is written, whether that is there before, the library without which it is left out.
Job = collections.namedtuple('Job', 'name args stdin outputs before needs', defaults=[None, [], False, ''])
JOBS = [
	Job('sync', 'sync in/host0.pcap in/host1.pcap -o out/c.json --messages out/m.csv '
		'--merge out/m.pcapng --timeline out/t.json', None, ['c.json', 'm.csv', 'm.pcapng', 't.json']),
	Job('sync --force', 'sync -q in/host0.pcap in/host1.pcap -o out/c.json --messages out/m.csv '
		'--force', None, ['c.json', 'm.csv'], True),
	Job('sync of three', 'sync --json in/three/host0.pcap in/three/host1.pcap in/three/host2.pcap -o out/c.json',
		None, ['c.json']),
	Job('sync of a pipe', 'sync --json - -o out/c.json.gz', 'in/table.csv', ['c.json.gz']),
	Job('sync --proof', 'sync -q in/host0.pcap in/host1.pcap -o out/c.json --proof out/proof', None, ['c.json', 'proof']),
	Job('sync of OTF2', 'sync --json in/otf2/run.otf2 -o out/c.json', None, ['c.json'], needs='otf2'),
	Job('sync of trace.dat', 'sync --json in/tracecmd/host.dat in/tracecmd/guest.dat -o out/c.json', None,
		['c.json'], needs='libtracecmd'),
	Job('part', 'part -q in/host0.pcap -o out', None, ['host0.pcap-921f578dd380e810.part.zst']),
	Job('join', 'join -q in/parts -o out/c.json', None, ['c.json']),
	Job('apply of OTF2', 'apply in/of_otf2.json in/otf2/run.otf2 -o out', None, ['run'], needs='otf2'),
	Job('apply', 'apply in/clocks.json in/host0.pcap -o out/a.pcap', None, ['a.pcap']),
	Job('apply of a table', 'apply in/of_table.json in/table.csv.gz -o out/t.csv --timeline out/t.json',
		None, ['t.csv', 't.json']),
	Job('apply of spans', 'apply in/of_spans.json in/spans.json.gz -o out/s.json', None, ['s.json'],
		needs='yajl'),
	Job('apply of spans in protobuf', 'apply in/of_proto.json in/spans.binpb -o out/s.binpb', None, ['s.binpb']),
	Job('apply of a profile', 'apply in/of_profile.json in/profile.json.gz -o out/f.json', None, ['f.json'],
		needs='yajl'),
	Job('apply --perfetto-manifest', 'apply in/clocks.json in/host0.pcap in/host1.pcap '
		'--perfetto-manifest out/p.json', None, ['p.json']),
	Job('report', 'report in/host0.pcap in/host1.pcap -o out/page.html', None, ['page.html']),
	Job('convert', 'convert in/clocks.json --clock host1', 'in/stamps'),
	Job('check', 'check --json in/host0.pcap in/host1.pcap'),
	Job('history', 'history in/clocks.json in/operations.csv in/operations.edn --nodes host0,host1 '
		'-o out/h.edn', None, ['h.edn']),
	Job('late', 'late in/ranks/collectives.csv -o out/late.csv', None, ['late.csv']),
	Job('audit', 'audit --claims in/claims.csv in/table.csv'),
	Job('calibrate', 'calibrate --margin 0.5 in/host0.pcap in/host1.pcap'),
]
OLD = b'precious\n'


def field(number, value):
	return bytes([number << 3 | 2, len(value) & 127 | 128, len(value) >> 7]) + value


def traces(i):
	"""A call in OTLP's protobuf, behind its length; the server is 5 ms ahead."""
	def batch(host, own, kind, at, took):
		start = 1700000000000000000 + i * 50000000 + at
		span = field(1, i.to_bytes(16, 'big')) + field(2, own.to_bytes(8, 'big')) + bytes([48, kind]) + \
			(field(4, (1).to_bytes(8, 'big')) if own > 1 else b'') + \
			struct.pack('<BQBQ', 0x39, start, 0x41, start + took)
		name = field(1, field(1, b'host.name') + field(2, field(1, host)))
		return field(1, field(1, name) + field(2, field(2, span)))
	both = batch(b'web', 1, 3, 0, 900000) + batch(b'db', 2, 2, 5300000, 200000)
	return struct.pack('>I', len(both)) + both


class Faults:
	def __init__(self, unskew, library, data, folder):
		self.unskew, self.folder = unskew, folder
		# LD_PRELOAD is a list, parted by spaces.
		self.library = self.path('fail.so')
		if not os.path.lexists(self.library):
			os.symlink(library, self.library)
		self.ran = collections.Counter()
		self.told = collections.Counter()
		self.broken = []
		for name in ('in', 'out', 'tmp'):
			os.makedirs(self.path(name), exist_ok=True)
		self.env = {k: v for k, v in os.environ.items() if k not in ('FAIL', 'LD_PRELOAD')}
		self.env |= {'TMPDIR': self.path('tmp'), 'LC_ALL': 'C', 'NO_COLOR': '1'}
		if not os.path.exists(self.path('in/stamps')):
			self.make_inputs(data)
		self.inputs = self.all_inputs()
		self.jobs = [job for job in JOBS if not job.needs or self.has(job.needs)]

	def path(self, name):
		return os.path.join(self.folder, name)

	def make_inputs(self, data):
		for name in ('host0.pcap', 'host1.pcap'):
			shutil.copy(os.path.join(data, name), self.path('in'))
		for name in ('otf2', 'tracecmd'):
			shutil.copytree(os.path.join(data, name), self.path('in/' + name))
		with open(self.path('in/claims.csv'), 'w') as f:
			f.write('clock,time_ns,offset_ns,error_ns\n')
			f.writelines(f'a,{1700000000000000000 + i * 1000000000},0,50000\n' for i in range(5))
		draw = random.Random(1)
		with open(self.path('in/table.csv'), 'w') as f:
			f.write('sender,receiver,sent_ns,received_ns\n')
			for i in range(200):
				# b is 5 ms ahead, and set back by 2 s half way.
				t, ahead = 1700000000000000000 + i * 50000000, 5000000 - (2000000000 if i >= 100 else 0)
				delay = draw.randrange(20000, 90000)
				f.write(f'a,b,{t},{t + delay + ahead}\n' if i % 2 else f'b,a,{t + ahead},{t + delay}\n')
		with open(self.path('in/table.csv'), 'rb') as f, gzip.open(self.path('in/table.csv.gz'), 'wb') as z:
			z.write(f.read())
		with gzip.open(self.path('in/spans.json.gz'), 'wt') as f:
			# The server is 5 ms ahead.
			f.write('[' + ','.join('{"traceId":"%x","id":"1","kind":"%s","timestamp":%d,"duration":%d,'
				'"localEndpoint":{"serviceName":"%s"}}' % (i + 1, kind, 1700000000000000 + i * 50000 + at, took, name)
				for i in range(400) for kind, at, took, name in
				(('CLIENT', 0, 900, 'web'), ('SERVER', 5300, 200, 'db'))) + ']')
		with open(self.path('in/spans.binpb'), 'wb') as f:
			f.write(b''.join(traces(i) for i in range(1, 200)))
		with gzip.open(self.path('in/profile.json.gz'), 'wt') as f:
			# Process 2 is 5 ms ahead.
			f.write('[' + ','.join('{"ph":"%s","name":"m","id":%d,"pid":%d,"ts":%d.25}' % (ph, i, pid, i * 50000 + at)
				for i in range(400) for ph, pid, at in
				(('s', 1 + i % 2, 5000 * (i % 2)), ('f', 2 - i % 2, 5000 * (1 - i % 2) + 90))) + ']')
		for args in ('simulate -q --hosts 3 --topology ring --seed 3 --seconds 3 --rate 20 -o in/three',
				'simulate -q --hosts 4 --collectives mix --seconds 0.3 -o in/ranks',
				'sync -q in/host0.pcap in/host1.pcap -o in/clocks.json',
				'part -q in/host0.pcap in/host1.pcap -o in/parts',
				'sync -q in/table.csv -o in/of_table.json',
				'sync -q in/spans.binpb -o in/of_proto.json',
				*(['sync -q in/otf2/run.otf2 -o in/of_otf2.json'] if self.has('otf2') else []),
				*(['sync -q in/spans.json.gz -o in/of_spans.json',
					'sync -q in/profile.json.gz -o in/of_profile.json'] if self.has('yajl') else [])):
			subprocess.run([self.unskew] + args.split(), cwd=self.folder, check=True)
		with open(self.path('in/stamps'), 'w') as f:
			f.writelines(f'{1700000000000000000 + i * 1000003}\n' for i in range(500))

		with open(self.path('in/operations.csv'), 'w') as table, open(self.path('in/operations.edn'), 'w') as edn:
			table.write('clock,process,op,call_ns,return_ns,input\n')
			for i in range(300):
				t = 1700000000000000000 + i * 1000003
				table.write(f'host{i % 2},{i % 5},write,{t},{t + 900000},"[{i}, null]"\n')
				edn.write(f'{{:process {i % 4}, :type :invoke, :f :read, :value nil, :time {t}}}\n'
					f'{{:process {i % 4}, :type :ok, :f :read, :value {i}, :time {t + 800000}}}\n')

	def has(self, library):
		version = subprocess.run([self.unskew, '--version'], capture_output=True, text=True).stdout
		return library in version.split('(without')[0]

	def files_in(self, folder):
		return (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)

	def all_inputs(self):
		found = {}
		for path in self.files_in(self.path('in')):
			with open(path, 'rb') as f:
				found[path] = f.read(), os.fstat(f.fileno()).st_mtime_ns
		return found

	def start(self, job, env={}):
		for name in ('out', 'tmp'):
			for entry in os.scandir(self.path(name)):
				(shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
		for name in job.outputs if job.before else []:
			with open(self.path('out/' + name), 'wb') as f:
				f.write(OLD)
		pipe = None
		if job.stdin:
			# What is fed by a process is a pipe, which cannot be read twice.
			pipe = subprocess.Popen(['cat', self.path(job.stdin)], stdout=subprocess.PIPE,
				stderr=subprocess.DEVNULL)
		p = subprocess.Popen([self.unskew] + job.args.split(), cwd=self.folder, env=self.env | env,
			stdin=pipe.stdout if pipe else subprocess.DEVNULL, stdout=subprocess.PIPE,
			stderr=subprocess.PIPE)
		if pipe:
			pipe.stdout.close()
			p.feeder = pipe
		return p

	def end(self, p):
		out, err = p.communicate(timeout=120)
		if hasattr(p, 'feeder'):
			p.feeder.wait()
		return p.returncode, out, err.decode(errors='replace')

	def written(self, name):
		"""A file's bytes, or those of all files in a folder; None: it is not there."""
		def bytes_of(path):
			with open(path, 'rb') as f:
				return f.read()
		path = self.path('out/' + name)
		if os.path.isdir(path):
			return {os.path.relpath(one, path): bytes_of(one) for one in self.files_in(path)}
		return bytes_of(path) if os.path.exists(path) else None

	def clean(self, job):
		status, out, err = self.end(self.start(job))
		assert status in (0, 3), f'{job.name}: status {status}: {err}'
		return status, out, {name: self.written(name) for name in job.outputs}

	def without(self, job, err):
		"""The clean run of a job with several inputs, without the one that it says it skipped; None: it says none."""
		for path in job.args.split():
			if path.startswith('in/three/') and f'note: {path}: ' in err and 'the file is skipped' in err:
				return self.clean(job._replace(args=job.args.replace(path + ' ', '')))
		return None

	def judge(self, what, job, clean, ended, by_signal=()):
		"""by_signal: those that may have ended it."""
		status, out, err = ended
		want_status, want_out, want = clean
		self.ran[what.split()[0]] += 1
		wrong = []
		got = {name: self.written(name) for name in job.outputs}
		left = set(os.listdir(self.path('out'))) | {'tmp/' + x for x in os.listdir(self.path('tmp'))}
		skipped = self.without(job, err)
		if status == want_status:
			if got != want or out != want_out:
				wrong.append('a silent loss: status %d, and another answer' % status)
		elif status == 3 and skipped:
			self.told[what.split()[0]] += 1
			if got != skipped[2] or out != skipped[1]:
				wrong.append('a file was skipped, and the answer is not that of the others')
		elif status == 1:
			self.told[what.split()[0]] += 1
			said = [x for x in err.splitlines() if x.startswith('unskew: ') and
				not x.startswith('unskew: note: ')]
			if len(said) != 1 or len(said[0]) < 12:
				wrong.append(f'{len(said)} sentences instead of one: {err!r}')
			if not want_out.startswith(out.rstrip(b'\n')):
				wrong.append('printed what it does not print else')
		elif -status in by_signal:
			self.told[what.split()[0]] += 1
		else:
			wrong.append(f'ended with status {status}: {err!r}')
		for name in job.outputs:
			if got[name] not in (want[name], OLD if job.before else None) and not skipped:
				wrong.append(f'{name} is half-written')
		left -= set(job.outputs)
		if signal.SIGKILL in by_signal:
			left = {x for x in left if not any(x.startswith(o + '.') for o in job.outputs)}
		if left:
			wrong.append('left behind: ' + ', '.join(sorted(left)))
		if self.all_inputs() != self.inputs:
			wrong.append('changed an input')
		for w in wrong:
			self.broken.append(w)
			print(f'{job.name}: {what}: {w}\n\tunskew {job.args}', flush=True)

	def calls(self, most, every):
		for job in self.jobs:
			clean = self.clean(job)
			for kind in KINDS:
				seen = self.path('seen')
				fail = {'LD_PRELOAD': self.library, 'FAIL_SEEN': seen, 'FAIL': kind + ' 0'}
				self.end(self.start(job, fail))
				with open(seen) as f:
					n = int(f.read())
				step = max(1, n // most) if most else every
				for at in range(1, n + 1, step):
					fail['FAIL'] = f'{kind} {at}'
					self.judge(fail['FAIL'], job, clean, self.end(self.start(job, fail)))
		for kind in ('memory', 'read', 'write', 'open', 'close'):
			if not self.ran[kind]:
				self.broken.append(f'no {kind} was made to fail: is the library loaded?')
				print(self.broken[-1], flush=True)

	def signals(self, count):
		draw = random.Random(2)
		of = [job for job in self.jobs if job.outputs]
		clean, took = {}, {}
		for job in of:
			begun = time.monotonic()
			clean[job.name], took[job.name] = self.clean(job), time.monotonic() - begun
		for i in range(count):
			job, number = of[i % len(of)], draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
			p = self.start(job)
			time.sleep(draw.uniform(0, took[job.name]))
			p.send_signal(number)
			self.judge(f'{signal.Signals(number).name}', job, clean[job.name], self.end(p), (number,))

	def disks(self, count):
		"""Needs a mount namespace of its own: see main()."""
		for job in [job for job in self.jobs if job.outputs]:
			clean = self.clean(job)
			whole = [x for out in clean[2].values() for x in (out.values() if isinstance(out, dict) else [out])]
			pages = sum(len(x) for x in whole) // 4096 + 2 * len(whole) + 2
			step = max(1, pages // count)
			for size in range(1 + len(clean[2]) * job.before, pages, step):
				for full in ('out', 'tmp'):
					subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size * 4}k', 'tmpfs',
						self.path(full)], check=True)
					self.judge(f'full-{full} of {4 * size} KiB', job, clean, self.end(self.start(job)))
					subprocess.run(['umount', self.path(full)], check=True)

	def told_of(self):
		for kind, n in self.ran.items():
			print(f'{kind}: {n} faults, {self.told[kind]} ended it, {n - self.told[kind]} did no harm')


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument('unskew')
	parser.add_argument('library')
	parser.add_argument('data')
	parser.add_argument('--all', action='store_true', help='every call, not a sample')
	parser.add_argument('--every', type=int, default=1, help='with --all: every N-th')
	parser.add_argument('--disks', help='only full disks, in this folder')
	args = parser.parse_args()
	unskew, library, data = (os.path.abspath(x) for x in (args.unskew, args.library, args.data))
	if args.disks:
		faults = Faults(unskew, library, data, args.disks)
		faults.disks(1000 // args.every if args.all else 3)
		faults.told_of()
		return len(faults.broken) > 0
	with tempfile.TemporaryDirectory(prefix='unskew-faults-') as folder:
		faults = Faults(unskew, library, data, folder)
		faults.calls(0 if args.all else 4, args.every)
		faults.signals(400 // args.every if args.all else 16)
		faults.told_of()
		broken = len(faults.broken)
		own = ['unshare', '-m'] if os.geteuid() == 0 else ['unshare', '-rm']
		probe = subprocess.run(own + ['mount', '-t', 'tmpfs', 'tmpfs', folder + '/tmp'],
			stderr=subprocess.DEVNULL) if shutil.which('unshare') else None
		if probe and probe.returncode == 0:
			broken += subprocess.run(own + [sys.executable] + sys.argv + ['--disks', folder]).returncode
		else:
			print('full disks: skipped, no tmpfs can be mounted here')
	print(f'{broken} promises broken')
	return broken > 0


if __name__ == '__main__':
	sys.exit(main())
