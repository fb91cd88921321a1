#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""containerfile.py UNSKEW SOURCE - does the Containerfile build what runs?

Where podman or docker works it is built, and the program in it synchronises two captures. Elsewhere it
is read: instructions in their order, files that are there, packages that are known, and for each
library that the program is linked with the package that has it.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

KNOWN = {'FROM', 'RUN', 'COPY', 'WORKDIR', 'ENTRYPOINT'}


def run(*command):
	return subprocess.run(command, capture_output=True, text=True)


def instructions(path):
	with open(path) as f:
		text = re.sub(r'^#.*\n', '', f.read(), flags=re.M).replace('\\\n', ' ')
	return [line.split(None, 1) for line in text.splitlines() if line.strip()]


def installed(line):
	"""Packages of an apt-get install."""
	found = re.search(r'apt-get install ((?:(?!&&).)*)', line)
	return [w for w in found.group(1).split() if not w.startswith('-')] if found else []


def linked(unskew):
	"""Packages of the libraries that the program asks for itself; those of its compiler come with any build."""
	needed = re.findall(r'NEEDED.*\[(.*)\]', run('readelf', '-d', unskew).stdout)
	paths = dict(re.findall(r'(\S+) => (\S+)', run('ldd', unskew).stdout))
	compiler = ('libgcc', 'libstdc++', 'libasan', 'libubsan', 'libtsan')
	for name in needed:
		owner = run('dpkg', '-S', os.path.realpath(paths.get(name, name))).stdout.split(':')[0]
		if owner and owner not in ('libc6', 'libunskew0') and not owner.startswith(compiler):
			yield owner


def read(unskew, source):
	"""What is wrong with it."""
	lines = instructions(os.path.join(source, 'Containerfile'))
	stages, last = [i for i, (what, _) in enumerate(lines) if what == 'FROM'], []
	yield from (f'{what} is no instruction' for what, _ in lines if what not in KNOWN)
	if len(stages) != 2 or stages[0] or lines[stages[-1]][1].split()[0] != lines[0][1].split()[0]:
		yield 'two stages of one Debian are expected'
	for i, (what, rest) in enumerate(lines):
		if what == 'COPY' and not rest.startswith('--from='):
			yield from (f'{p} is not there' for p in rest.split()[:-1] if not os.path.exists(os.path.join(source, p)))
		if what == 'RUN':
			yield from (f'{p} is not there' for p in re.findall(r'\btools/\S+', rest)
				if not os.path.exists(os.path.join(source, p)))
			last = installed(rest) if i > stages[-1] and installed(rest) else last
			names = installed(rest)
			if names and shutil.which('apt-cache') and run('apt-cache', 'show', 'libc6').stdout:
				known = re.findall(r'^Package: (.*)', run('apt-cache', 'show', *names).stdout, re.M)
				yield from (f'no package {p}' for p in names if p not in known)
	if shutil.which('dpkg') and shutil.which('readelf'):
		yield from (f'{p} is not installed beside the program' for p in sorted(set(linked(unskew))) if p not in last)


def build(tool, source):
	done = run(tool, 'build', '-q', '-t', 'unskew-test', '-f', os.path.join(source, 'Containerfile'), source)
	if done.returncode:
		return [done.stderr[-2000:]]
	with tempfile.TemporaryDirectory() as folder:
		inside = [tool, 'run', '--rm', '-v', f'{folder}:/data', 'unskew-test']
		run(*inside, 'simulate', '-q', '-o', 'demo')
		done = run(*inside, 'sync', 'demo/host0.pcap', 'demo/host1.pcap')
		return [] if done.returncode == 0 and 'bounded' in done.stdout else [done.stderr]


def main():
	unskew, source = os.path.abspath(sys.argv[1]), sys.argv[2]
	wrong = list(read(unskew, source))
	for tool in ('podman', 'docker'):
		if shutil.which(tool) and run(tool, 'info').returncode == 0:
			wrong += build(tool, source)
			break
	else:
		print('neither podman nor docker works here: read, not built')
	print('\n'.join(wrong) or 'nothing wrong')
	sys.exit(bool(wrong))


main()
