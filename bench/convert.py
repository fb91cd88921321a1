#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""convert.py BUILD - stamps converted a second from Python, beside bench_convert with as many knots; turns taken"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time

if not importlib.util.find_spec("numpy"):
    print(f"convert from Python: skipped, numpy is not installed for {sys.executable}")
    sys.exit(0)
import numpy as np

build = pathlib.Path(sys.argv[1]).resolve()
os.environ.setdefault("UNSKEW_LIBRARY", str(build / "src/libunskew.so"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
sys.dont_write_bytecode = True
import unskew

N, START, SPAN = 10_000_000, 1700000000_000000000, 1000_000000000
sent = np.arange(START, START + SPAN, 10**8)
there = np.arange(len(sent)) % 2 == 0
names = np.where(there, "a", "b"), np.where(there, "b", "a")
clock = unskew.sync(unskew.Messages(*names, sent - ~there * 5000, sent + 100000 - there * 5000),
                    reference="a")["b"]
stamps = START + np.arange(N) * (SPAN // N)
out = np.ones_like(stamps)
best, bench = 0.0, 0.0
for _ in range(5):
    begun = time.perf_counter()
    clock.convert(stamps, out=out)
    best = max(best, N / (time.perf_counter() - begun) / 1e6)
    told = subprocess.run([build / "bench/bench_convert", str(N), str(len(clock.knots))], check=True, capture_output=True,
                          text=True).stdout
    bench = max(bench, float(re.match(r"convert: (\d+) million", told).group(1)))
begun = time.perf_counter()
clock.convert(stamps, bounds=True)
bounds = N / (time.perf_counter() - begun) / 1e6
print(f"convert from Python: {best:.0f} million stamps/s, {bench / best:.2f} times as long as in C ({bench:.0f} million/s), "
      f"{len(clock.knots)} knots; {bounds:.1f} million/s with bounds")
