#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme_c.py README UNSKEW INCLUDE LIBRARY CC... - what README.md shows of C, on the captures that its first example makes

It is compiled by the header and the library alone, and prints what its last comment says.
"""
import os
import re
import subprocess
import sys
import tempfile

readme, unskew, include, library = (os.path.abspath(path) for path in sys.argv[1:5])
compiler = sys.argv[5:]
with open(readme, encoding='utf-8') as f:
	text = f.read()
make = re.search(r'^\$ unskew (simulate .*)$', text, re.M).group(1)
code = re.search(r'^```c\n(.*?)^```', text, re.M | re.S).group(1)
want = re.findall(r'/\* (.*) \*/', code)[-1]
folder = os.path.dirname(library)
with tempfile.TemporaryDirectory() as work:
	os.chdir(work)
	subprocess.run([unskew, *make.split()], check=True)
	with open('sync.c', 'w', encoding='utf-8') as f:
		f.write(code)
	subprocess.run([*compiler, '-Wall', '-Wextra', '-Werror', f'-I{include}', 'sync.c', '-o', 'sync', f'-L{folder}', '-lunskew'], check=True)
	done = subprocess.run(['./sync'], env={**os.environ, 'LD_LIBRARY_PATH': folder}, capture_output=True, text=True)
	os.chdir('/')
if done.returncode or done.stdout.strip() != want:
	sys.exit(f'README.md shows\n  {want}\nand it prints\n  {done.stdout}{done.stderr}')
