#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme.py README UNSKEW - what README.md shows of Python, on the captures that its first example makes

A comment on a line of its own is what the line before it prints.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

text = open(sys.argv[1], encoding="utf-8").read()
program = os.path.abspath(sys.argv[2])
make = re.search(r"^\$ unskew (simulate .*)$", text, re.M).group(1)
code = re.search(r"^```python\n(.*?)^```", text, re.M | re.S).group(1)
want = re.findall(r"^# (.*)$", code, re.M)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([program, *make.split()], check=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, sys.argv[1], "exec"))  # pylint: disable=exec-used
    written = os.listdir(".")
    os.chdir("/")
got = printed.getvalue().splitlines()
if got != want or len(written) != 2:
    sys.exit("README.md shows\n  " + "\n  ".join(want) + "\nand it prints\n  " + "\n  ".join(got) + f"\nfiles: {written}")
