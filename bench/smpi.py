#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""smpi.py BUILD [--captures N] [--seconds S] [--rate N] [--ranks LIST] - a forecast of unskew-mpi on a cluster

The sources of unskew-mpi run in SimGrid (Debian: simgrid is libsimgrid-dev), each rank on a machine of its own with one
processor: computing takes the processor time that it takes here, messages what the network of PLATFORM makes of them.
Reading files costs what it costs from memory. BUILD has unskew and its libraries; the table goes to standard output."""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = ["commands", "files", "gather", "guard_none", "main", "scratch", "share", "team"]
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-{last}" speed="10Gf" bw="25Gbps" lat="5us" bb_bw="1000Gbps" bb_lat="1us"/>
</platform>
"""


def libraries(build):
	"""What unskew is linked with, as the build says it."""
	line = subprocess.run(["ninja", "-C", build, "-t", "commands", "unskew"], check=True, capture_output=True,
		text=True).stdout.splitlines()[-1]
	return [w for w in shlex.split(line) if re.search(r"^-l|\.a$|\.so(\.[0-9]+)*$", w) and not w.startswith("-Wl,-soname")]


def compile_program(build, program):
	sources = [os.path.join(ROOT, "src/mpi", s + ".c") for s in SOURCES]
	folders = ["-I" + f for f in (os.path.join(ROOT, "include"), os.path.join(ROOT, "src"), "src")]
	subprocess.run(["smpicc", "-D_GNU_SOURCE", "-O2", *folders, *sources, "-o", program, *libraries(build)], check=True,
		cwd=build)


def simulated(folder, program, ranks, captures, *args):
	platform, hosts = os.path.join(folder, "platform.xml"), os.path.join(folder, "hosts")
	with open(platform, "w") as f:
		f.write(PLATFORM.format(last=ranks - 1))
	with open(hosts, "w") as f:
		f.writelines(f"node-{i}\n" for i in range(ranks))
	done = subprocess.run(["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
		"--cfg=smpi/host-speed:10Gf", "--cfg=smpi/grow-injected-times:no", "--cfg=smpi/display-timing:yes", "--cfg=contexts/stack-size:1024", "--cfg=smpi/coll-selector:ompi", program, "sync", "-q", "-f",
		*args, *captures], capture_output=True, text=True)
	found = re.search(r"Simulated time: ([0-9.]+) seconds", done.stdout + done.stderr)
	if not found:
		sys.exit(f"smpi.py: {ranks} ranks: {(done.stdout + done.stderr)[-2000:]}")
	return float(found[1])


def main():
	# A rank's time is that of its first thread: there are no others where there is one processor.
	os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
	parse = argparse.ArgumentParser(description=__doc__)
	parse.add_argument("build")
	parse.add_argument("--captures", type=int, default=1000)
	parse.add_argument("--seconds", type=int, default=10)
	parse.add_argument("--rate", type=int, default=100, help="messages a second and direction between two neighbours")
	parse.add_argument("--ranks", default="1,10,100,1000")
	a = parse.parse_args()
	unskew = os.path.abspath(os.path.join(a.build, "unskew"))
	with tempfile.TemporaryDirectory() as folder:
		program, made = os.path.join(folder, "unskew-mpi"), os.path.join(folder, "made")
		compile_program(a.build, program)
		subprocess.run([unskew, "simulate", "-q", "-o", made, "--hosts", str(a.captures), "--topology", "ring", "--seconds",
			str(a.seconds), "--rate", str(a.rate)], check=True)
		captures = sorted(os.path.join(made, n) for n in os.listdir(made) if n.endswith(".pcap"))
		want, got = os.path.join(folder, "want.json"), os.path.join(folder, "got.json")
		subprocess.run([unskew, "sync", "-q", "-o", want, *captures])
		print("ranks  seconds  times as fast")
		first = None
		for ranks in map(int, a.ranks.split(",")):
			seconds = simulated(folder, program, ranks, captures, "-o", got)
			first = first or seconds
			if open(want, "rb").read() != open(got, "rb").read():
				sys.exit(f"smpi.py: {ranks} ranks compute something else")
			print(f"{ranks:5}  {seconds:7.2f}  {first / seconds:13.2f}", flush=True)


main()
