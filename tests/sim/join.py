#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""join.py UNSKEW - join gives the bytes of sync, however traces are spread over parts"""

import csv
import os
import subprocess
import sys
import tempfile


def twice(traces):
	"""Captures of two sections, the second one's interfaces behind the first one's packets."""
	for trace in traces:
		with open(trace, "rb") as f:
			whole = f.read()
		with open(trace, "ab") as f:
			f.write(whole)


def events(traces):
	"""Each clock's own table of what it sent and received, in place of one of messages."""
	rows = {}
	for trace in traces:
		with open(trace) as f:
			for number, row in enumerate(csv.DictReader(f)):
				for clock, ns, kind in (("sender", "sent_ns", "send"), ("receiver", "received_ns", "recv")):
					rows.setdefault(row[clock], []).append((int(row[ns]), kind, number, row["bytes"]))
		os.unlink(trace)
		for clock, seen in rows.items():
			with open(os.path.join(os.path.dirname(trace), clock + ".csv"), "w") as f:
				f.write("clock,time_ns,kind,id,bytes\n")
				f.writelines(f"{clock},{ns},{kind},{number},{size}\n" for ns, kind, number, size in sorted(seen))


CASES = [
	("plain", ["--hosts", "2"], None),
	("nat", ["--hosts", "2", "--nat", "--tso", "--gro", "--loss", "1%"], None),
	("pcapng", ["--hosts", "3", "--format", "pcapng"], None),
	("flows", ["--hosts", "4", "--topology", "star", "--rate", "200"], None),
	("sections", ["--hosts", "2", "--format", "pcapng", "--rate", "200"], twice),
	("table", ["--hosts", "3", "--format", "table"], None),
	("events", ["--hosts", "3", "--format", "table", "--rate", "100"], events),
	("stepped", ["--hosts", "2", "--step", "host1@10s:-1s"], None),
]


def run(unskew, *args):
	done = subprocess.run([unskew, *args], capture_output=True, text=True)
	return done.returncode, done.stdout, done.stderr


def demand(truth, what):
	if not truth:
		sys.exit(f"join.py: {what}")


def traces_of(folder):
	ends = (".pcap", ".pcapng", ".csv")
	return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(ends))


def case(unskew, folder, name, options, change):
	made = os.path.join(folder, name)
	status = run(unskew, "simulate", "-o", made, "--seconds", "20", *options)
	demand(status[0] == 0, f"{name}: {status[2]}")
	if change:
		change(traces_of(made))
	traces = traces_of(made)
	want = run(unskew, "sync", "--json", *traces)
	demand(want[0] in (0, 3) and want[1], f"{name}: sync: {want[2]}")
	for spread in sorted({min(n, len(traces)) for n in (1, 2, 3, 7)}):
		folders = []
		for k in range(spread):
			folders.insert(0, os.path.join(folder, f"{name}-{spread}-{k}"))
			done = run(unskew, "part", "-q", *traces[k::spread], "-o", folders[0])
			demand(done[0] == 0, f"{name}: part: {done[2]}")
		got = run(unskew, "join", "--json", *folders)
		demand(got == want, f"{name}: {spread} folders: join says other than sync: {got[2]}")
	return folders


def refused(unskew, folder, part):
	whole = open(part, "rb").read()
	for name, data in (("cut", whole[: len(whole) // 2]), ("flipped", whole[:-9] + b"12345" + whole[-4:])):
		path = os.path.join(folder, name + ".part.zst")
		open(path, "wb").write(data)
		status, out, err = run(unskew, "join", path, part)
		demand(status == 1 and not out and err.count("\n") == 1, f"{name}: {status} {out}{err}")


def main():
	unskew = sys.argv[1]
	with tempfile.TemporaryDirectory() as folder:
		for name, options, change in CASES:
			folders = case(unskew, folder, name, options, change)
			first = sorted(os.listdir(folders[0]))[0]
			if name == "plain":
				refused(unskew, folder, os.path.join(folders[0], first))


main()
