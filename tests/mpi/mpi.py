#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mpi.py UNSKEW UNSKEW_MPI KIND DATA [--pieces PROGRAM] [--all] - ranks of MPI give the bytes of unskew, or end with
one sentence

KIND is openmpi or mpich: whose mpirun it is. DATA has CTF traces that others recorded. PROGRAM is unskew-mpi whose
ranks take themselves for machines of their own, and send in small pieces."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CASES = [
	("nat", ["--hosts", "3", "--nat", "--tso", "--gro", "--loss", "1%"]),
	("table", ["--hosts", "3", "--format", "table"]),
	("stepped", ["--hosts", "3", "--step", "host1@5s:1s", "--step", "host2@9.9s:-300ms"]),
]
MORE = [
	("plain", ["--hosts", "2"]),
	("pcapng", ["--hosts", "7", "--format", "pcapng"]),
	("set back", ["--hosts", "2", "--step", "host1@5s:-1s"]),
]
RANKS = (1, 2, 3, 7)
ENVIRONMENT = dict(
	os.environ,
	OMPI_ALLOW_RUN_AS_ROOT="1",
	OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
	OMPI_MCA_rmaps_base_oversubscribe="1",
	OMPI_MCA_hwloc_base_binding_policy="none",
	OMPI_MCA_plm="isolated",
	OMPI_MCA_btl_vader_single_copy_mechanism="none",
	# What MPI itself does not give back is not ours.
	ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",
	LC_ALL="C",
)


def skip(why):
	print(f"skipped: {why}")
	sys.exit(77)


def demand(truth, what):
	if not truth:
		sys.exit(f"mpi.py: {what}")


def mpirun_of(kind):
	for name in (f"mpirun.{kind}", "mpirun"):
		found = shutil.which(name)
		if found:
			version = subprocess.run([found, "--version"], capture_output=True, text=True, env=ENVIRONMENT).stdout
			if not kind or ("HYDRA" if kind == "mpich" else "Open MPI") in version:
				return found
	skip(f"there is no mpirun of {kind or 'MPI'}")


class Job:
	def __init__(self, unskew, program, mpirun):
		self.unskew, self.program, self.mpirun = unskew, program, mpirun

	def command(self, ranks, *args):
		return [self.mpirun, "-n", str(ranks), self.program, *args]

	def run(self, ranks, *args):
		done = subprocess.run(self.command(ranks, *args), capture_output=True, text=True, env=ENVIRONMENT, timeout=120,
			stdin=subprocess.DEVNULL)
		return done.returncode, done.stdout, done.stderr

	def alone(self, *args):
		done = subprocess.run([self.unskew, *args], capture_output=True, text=True, env=ENVIRONMENT)
		return done.returncode, done.stdout, done.stderr

	def same(self, name, ranks, args):
		"""What ranks print, status and data, and what they say beyond mpirun's own words."""
		want, got = self.alone(*args), self.run(ranks, *args)
		demand(got[:2] == want[:2], f"{name}, {ranks} ranks: {got[0]} {got[2]}, not {want[0]}")
		demand(want[2] in got[2], f"{name}, {ranks} ranks say {got[2]}, not {want[2]}")


def sentences(text):
	return [line for line in text.splitlines() if "unskew-mpi:" in line]


def read(path):
	with open(path, "rb") as f:
		return f.read()


def make(job, folder, name, options, seconds=10):
	made = os.path.join(folder, name)
	status = job.alone("simulate", "-o", made, "--seconds", str(seconds), *options)
	demand(status[0] == 0, f"{name}: {status[2]}")
	os.remove(os.path.join(made, "truth.json"))
	if "table" not in options:
		os.remove(os.path.join(made, "messages.csv"))
	return sorted(os.path.join(made, n) for n in os.listdir(made))


def case(job, name, traces, all_ranks):
	for ranks in RANKS if all_ranks else RANKS[2:3]:
		job.same(name, ranks, ["sync", "--json", *traces])


def applied(job, folder, traces):
	clocks = os.path.join(folder, "clocks.json")
	for job_of, out in ((job.alone, "out-one"), (lambda *a: job.run(3, *a), "out-many")):
		to = os.path.join(folder, out)
		status = job_of("sync", *traces, "-q", "-f", "-o", clocks)
		demand(status[0] == 0, f"sync: {status[2]}")
		status = job_of("apply", clocks, *traces, "-o", to)
		demand(status[0] == 0, f"apply: {status[2]}")
		said = [line.replace(to, "OUT") for line in status[2].splitlines()]
		want = [f"Wrote OUT/{os.path.basename(t)}." for t in traces]
		demand(said == want, f"apply says {said}")
	for trace in traces:
		name = os.path.basename(trace)
		demand(read(os.path.join(folder, "out-one", name)) == read(os.path.join(folder, "out-many", name)),
			f"{name}: is re-timed otherwise")


def shared(job, folder, made):
	"""What is matched at one rank, and is wanted at rank 0 later: messages, and records by their numbers."""
	out = [os.path.join(folder, f"messages-{i}.csv") for i in range(2)]
	many = ["sync", "--json", "-f", "--min-delay", "1us", *made["nat"]]
	demand(job.alone(*many, "--messages", out[0])[0] == 0, "messages: unskew cannot")
	demand(job.run(3, *many, "--messages", out[1])[0] == 0, "messages: 3 ranks cannot")
	demand(read(out[0]) == read(out[1]), "messages of 3 ranks are others")
	job.same("records", 2, ["sync", "--model", "linear", *made["stepped"]])
	first, second = made["nat"][:2]
	twice = os.path.join(folder, "twice.pcap")
	shutil.copy(first, twice)
	got = job.run(2, "sync", first, second, twice)
	said = sentences(got[2])
	demand(got[0] == 1 and len(said) == 1 and "are the same capture" in said[0], f"the same capture: {got}")


ROOMLESS = """#!/bin/sh
# Rank 1 has no place for parts.
[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" != 1 ] || export TMPDIR={0}/nowhere
exec {1} "$@"
"""


def roomless(job, folder, traces):
	"""A rank that cannot send what another one is to match."""
	wrapper, out = os.path.join(folder, "roomless.sh"), os.path.join(folder, "roomless.json")
	with open(wrapper, "w") as f:
		f.write(ROOMLESS.format(folder, job.program))
	os.chmod(wrapper, 0o755)
	got = Job(job.unskew, wrapper, job.mpirun).run(3, "sync", *traces, "-o", out)
	said = sentences(got[2])
	demand(got[0] == 1 and len(said) == 1 and "unskew-mpi: rank 1: no temporary file" in said[0] and
		not os.path.exists(out), f"no room: status {got[0]}, {said}")


def in_one_place(job, traces):
	"""Captures that are not shared out: two of one clock, and a range of time."""
	job.same("one clock", 2, ["sync", "--json", f"a={traces[0]}", f"a={traces[1]}", f"b={traces[2]}"])
	job.same("a range", 2, ["sync", "--json", "--from", "3s", *traces])


def folders(job, folder, traces):
	"""A folder, a pattern that no shell expanded, and a name."""
	where = os.path.dirname(traces[0])
	job.same("folder", 2, ["sync", "--json", where])
	job.same("check", 2, ["check", "--json", f"a={traces[0]}", os.path.join(where, "host[12]*")])


def refused(job, folder, traces):
	out = os.path.join(folder, "refused.json")
	garbage, missing = os.path.join(folder, "garbage.pcap"), os.path.join(folder, "missing.pcap")
	with open(garbage, "w") as f:
		f.write("no trace at all\n" * 1000)
	for args, status, wanted in (
		([*traces[:2], missing], 1, f"{missing}: none of 2 ranks can read it: No such file or directory"),
		([*traces[:2], garbage], 1, f"rank 1: {garbage}: "),
		([*traces[:2], "--nonsense"], 2, "--nonsense: no such option"),
		([*traces[:2], traces[0]], 1, "are the same file"),
	):
		got = job.run(2, "sync", *args, "-o", out)
		said = sentences(got[2])
		demand(got[0] == status and len(said) == 1 and wanted in said[0],
			f"{wanted!r}: status {got[0]}, {said}")
	demand(not [n for n in os.listdir(folder) if n.startswith("refused")], "something was written")


NODE = """#!/bin/sh
# Of two folders each machine has one.
hide={0}/b
[ $((PMI_RANK % 2)) = 0 ] || hide={0}/a
exec unshare -m sh -c 'mount --bind {0}/none "$0"; exec "$@"' $hide {1} "$@"
"""


def machines(job, folder, traces):
	"""Two machines that MPICH is told of are this one, each with another folder hidden."""
	where = os.path.join(folder, "machines")
	for name, some in (("a", traces[:1]), ("b", traces[1:]), ("none", [])):
		os.makedirs(os.path.join(where, name))
		for trace in some:
			shutil.copy(trace, os.path.join(where, name))
	node = os.path.join(folder, "node.sh")
	with open(node, "w") as f:
		f.write(NODE.format(where, job.program))
	os.chmod(node, 0o755)
	many = Job(job.unskew, node, job.mpirun)
	many.command = lambda ranks, *args: [job.mpirun, "-launcher", "fork", "-hosts", "one,other", "-n", str(ranks), node, *args]
	for ranks in RANKS[1:3]:
		many.same("machines", ranks, ["sync", "--json", os.path.join(where, "a"), os.path.join(where, "b", "*")])


# ---- ranks that die --------------------------------------------------------------------------


def processes_with(held):
	"""Processes that have a path open of which it holds."""
	for pid in filter(str.isdigit, os.listdir("/proc")):
		try:
			for fd in os.listdir(f"/proc/{pid}/fd"):
				if held(os.readlink(f"/proc/{pid}/fd/{fd}")) and int(pid) != os.getpid():
					yield int(pid)
		except OSError:
			pass


def reader_of(path):
	return next(processes_with(lambda name: name == path), None)


def stopped_writer(folder):
	"""A process that writes a file which is not yet whole."""
	for pid in processes_with(lambda name: name.startswith(folder + "/")):
		os.kill(pid, signal.SIGSTOP)
		if pid in processes_with(lambda name: name.startswith(folder + "/")):
			return pid
		go_on(pid)
	return None


def go_on(pid):
	try:
		os.kill(pid, signal.SIGCONT)
	except OSError:
		pass


def parent_of(pid):
	"""0: it is gone."""
	try:
		with open(f"/proc/{pid}/stat") as f:
			return int(f.read().rpartition(")")[2].split()[1])
	except OSError:
		return 0


def wait_for(found):
	until = time.monotonic() + 60
	while time.monotonic() < until:
		what = found()
		if what:
			return what
		time.sleep(0.005)
	return None


def open_to_write(pipe):
	try:
		return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
	except OSError:
		return None


def alive(program):
	n = 0
	for pid in filter(str.isdigit, os.listdir("/proc")):
		try:
			n += os.readlink(f"/proc/{pid}/exe") == program
		except OSError:
			pass
	return n


def killed(job, folder, traces, verb, watcher):
	"""A rank waits for a trace that is a pipe, and is killed, or the process that watches it is. If traces are
	written, another rank does that meanwhile, and goes on when its own watcher is dead."""
	pipe, out = os.path.join(folder, "pipe.pcap"), os.path.join(folder, f"killed-{verb[0]}-{watcher}")
	os.makedirs(out)
	os.mkfifo(pipe)
	with open(os.path.join(folder, "said"), "w+") as said:
		running = subprocess.Popen(job.command(len(traces) + 1, *verb, *traces, f"host0={pipe}", "-o", os.path.join(out, "made")),
			stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
		writer = None if verb[0] == "sync" else wait_for(lambda: stopped_writer(out))
		demand(verb[0] == "sync" or writer, "nothing is written")
		end = wait_for(lambda: open_to_write(pipe))
		pid = end and wait_for(lambda: reader_of(pipe))
		demand(pid, f"nobody reads the pipe: {read(said.name)}")
		watched = writer and parent_of(writer)
		os.kill(parent_of(pid) if watcher else pid, signal.SIGKILL)
		if writer:
			demand(wait_for(lambda: parent_of(writer) != watched), "mpirun did not end others")
			go_on(writer)
		status = running.wait(timeout=60)
		os.close(end)
		said.seek(0)
		lines = sentences(said.read())
	os.remove(pipe)
	demand(status not in (0, 3), f"a rank was killed, and the status is {status}")
	if not watcher:
		demand(len(lines) == 1 and "killed by signal 9" in lines[0] and lines[0].endswith(f"at work on {pipe}") and
			lines[0].startswith("unskew-mpi: rank "), f"a rank was killed: {lines}")
	demand(wait_for(lambda: not alive(job.program)), "ranks are left")
	names = [n for _, _, files in os.walk(out) for n in files]
	demand(not [n for n in names if n not in map(os.path.basename, traces)], f"half-written: {names}")


def main():
	unskew, program, kind, data = sys.argv[1:5]
	if not program:
		skip("unskew-mpi is not built: no MPI was found, or it is turned off")
	job = Job(unskew, program, mpirun_of(kind))
	everything = "--all" in sys.argv
	pieces = sys.argv[sys.argv.index("--pieces") + 1] if "--pieces" in sys.argv else None
	with tempfile.TemporaryDirectory() as folder:
		traces = {}
		for name, options in CASES + (MORE if everything else []):
			traces[name] = make(job, folder, name, options)
			if everything or name == "nat":
				case(job, name, traces[name], True)
		ring = [os.path.join(data, "mpi-ring-ctf", f"mpi_ring{i}") for i in (1, 2)]
		if os.path.exists(os.path.join(ring[0], "metadata")) and job.alone("sync", *ring)[0] in (0, 3):
			case(job, "ctf", ring, everything)
		else:
			print("no CTF: it is not built in, or not in DATA")
		for one in [job] + ([Job(unskew, pieces, mpirun_of(kind))] if pieces else []):
			case(one, "table", traces["table"], False)
			shared(one, folder, traces)
		if pieces:
			roomless(one, folder, traces["nat"])
			in_one_place(job, traces["nat"])
		applied(job, folder, traces["nat"])
		folders(job, folder, traces["nat"])
		refused(job, folder, traces["nat"])
		if kind == "mpich" and not subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
			machines(job, folder, traces["nat"])
		killed(job, folder, traces["nat"], ["sync"], False)
		clocks, long = os.path.join(folder, "clocks.json"), make(job, folder, "long", ["--hosts", "3"], 300)
		demand(job.alone("sync", *long, "-q", "-f", "-o", clocks)[0] == 0, "sync: no clocks")
		killed(job, folder, long, ["apply", clocks], False)
		if everything:
			killed(job, folder, traces["nat"], ["sync"], True)


main()
