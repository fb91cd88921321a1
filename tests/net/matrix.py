#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""matrix.py UNSKEW [--few] [--only TEXT] [--keep FOLDER] - real captures at every vantage point there is

In    unskew; root, ip, tcpdump; nft and WireGuard for some of the networks
Out   a line for each that went wrong, with what was to be and what is; counts
Why   all namespaces have one clock: every band has to hold 0 at every moment
Not   what others recorded (bench/measure.py), what no kernel does (tests/sim/vantages.c)

Networks x traffic x who sends the bulk; each is captured everywhere at once, and every two captures
of different machines are one combination, as recorded whole and cut to 160 bytes. What both hold is
counted by whole contents (frames.py). Of packets that are not alike 95 % have to be matched, at once or
with the option that a note advises, and no message may be of two packets.
"""
import argparse
import collections
import csv
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import frames
import networks

TRAFFIC = ("tcp", "udp", "icmp", "mix")
FEW = {("vlan", "udp", "up"), ("bridge", "tcp", "down"), ("nat", "mix", "up"), ("docker", "udp", "down")}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def record(n, folder):
    """tcpdump on every interface: [(machine, interface, file)]."""
    files = []
    for machine, interfaces in n.captured.items():
        for interface in interfaces:
            path = os.path.join(folder, "%s-%s.pcap" % (machine, interface))
            n.start(machine, "tcpdump", "-i", interface, "-n", "-s", "262144", "-B", "32768", "-Z", "root",
                    "--immediate-mode", "--time-stamp-precision=nano", "-w", path, ready="listening on")
            files.append((machine, interface, path))
    return files


def talk(n, kind, bulk):
    # Downwards the server asks where it can, else it answers more.
    asks = "client" if bulk == "up" or not n.ask["server"] else "server"
    how = "up" if asks == "server" else bulk
    # Datagrams alone go by IPv6 where they can: then nothing has an IP-ID.
    addresses = n.ask[asks] if kind == "mix" else n.ask[asks][-1:] if kind == "udp" else n.ask[asks][:1]
    running = [subprocess.Popen(n.inside(asks, sys.executable, os.path.join(networks.HERE, "traffic.py"), "ask",
                                         kind, a, how)) for a in addresses]
    assert all([p.wait() == 0 for p in running]), "no traffic"


def captured(name, kind, bulk, folder):
    n = networks.build(name)
    try:
        for machine in n.ask:
            n.script(machine, "traffic.py", "serve")
        before = len(n.started)
        files = record(n, folder)
        talk(n, kind, bulk)
        time.sleep(0.3)
        for p in n.started[before:]:
            p.send_signal(signal.SIGINT)
            p.wait()
        # Whom one asks is the other one, at these addresses.
        return files, {"client": n.ask["server"], "server": n.ask["client"]}
    finally:
        n.close()


class Answer:
    def __init__(self, unskew, traces, folder, local=()):
        messages = os.path.join(folder, "messages.csv")
        if os.path.exists(messages):
            os.unlink(messages)
        done = subprocess.run([unskew, "sync", "--json", "--messages", messages,
                               *(o for at in local for o in ("--local", "%s=%s" % at)),
                               *("%s=%s" % t for t in traces)], capture_output=True, text=True)
        self.status, self.said = done.returncode, done.stderr.strip()
        self.json = json.loads(done.stdout) if done.returncode in (0, 3) else None
        self.messages = []
        if os.path.exists(messages):
            with open(messages) as f:
                self.messages = [(r["sender"], r["receiver"], int(r["sent_ns"]), int(r["received_ns"]))
                                 for r in csv.DictReader(f)]

    def outside(self):
        """Knots that exclude 0."""
        return ["%s at %s: %s to %s" % (c["name"], k["local_ns"], k["lo_ns"], k["hi_ns"])
                for c in self.json["clocks"] for k in c["knots"]
                if k["lo_ns"] is not None and int(k["lo_ns"]) > 0 or k["hi_ns"] is not None and int(k["hi_ns"]) < 0]

    def reasons(self):
        return {k: v for k, v in self.json["messages"].items() if v and k != "matched"}


def both_hold(a, b):
    """Identities that one packet has, in both captures. One that comes again after a while is another packet's, too."""
    def once(stamps):
        return max(stamps) - min(stamps) < 10**7 or len(stamps) == 1
    return {i for i in a.keys() & b.keys() if once(a[i]) and once(b[i])}


def wrong(answer, held):
    """Messages whose two stamps are of no one packet."""
    at = {}
    for clock, found in held.items():
        at[clock] = collections.defaultdict(set)
        for identity, stamps in found.items():
            for t in stamps:
                at[clock][t].add(identity)
    return [m for m in answer.messages if not at[m[0]][m[2]] & at[m[1]][m[3]]]


class Matrix:
    def __init__(self, unskew, verbose):
        self.unskew, self.verbose = unskew, verbose
        self.combinations = self.bad = self.runs = self.answers = 0
        self.held = self.matched = self.unknown = 0
        self.halves = []

    def judge(self, label, traces, held, folder, local):
        answer = Answer(self.unskew, traces, folder)
        self.runs += 1
        faults = []
        common = sum(len(both_hold(held[a], held[b])) for a, b in itertools.combinations(held, 2))
        if answer.json is None:
            faults.append("status %d: %s" % (answer.status, answer.said))
        else:
            faults += answer.outside()
            faults += self.counted(answer, held, common, lambda: Answer(self.unskew, traces, folder, local))
        if faults or self.verbose:
            print("%s %s: %d held, %d matched, status %d" % ("BAD" if faults else "ok", label, common,
                                                            len(answer.messages), answer.status), flush=True)
        for fault in faults:
            print("    " + fault)
        if faults and answer.json:
            print("    left out: %s; notes: %s" % (answer.reasons(), answer.json["notes"]))
        self.bad += bool(faults)
        return answer

    def counted(self, answer, held, common, as_advised):
        faults = []
        astray = wrong(answer, held)
        if astray:
            faults.append("%d messages of two packets, such as %s" % (len(astray), astray[0]))
        matched, unknown = len(answer.messages), answer.json["messages"]["direction_unknown"]
        if len(held) == 2:
            self.held, self.matched, self.unknown = self.held + common, self.matched + matched, self.unknown + unknown
            self.answers += answer.status == 0
            self.halves += [int(c["half_width_ns"]["mean"]) for c in answer.json["clocks"]
                            if c["quality"] == "bounded"]
            if matched < 0.95 * common:
                # Where who sent what is unknown, what the note advises has to help.
                if any("--local" in n for n in answer.json["notes"]):
                    again = as_advised()
                    matched = len(again.messages)
                    faults += again.outside() if again.json else [again.said]
                if matched < 0.95 * common:
                    faults.append("%d of %d matched" % (matched, common))
        if answer.status == 0 and not common:
            faults.append("an answer out of nothing")
        if answer.status == 3 and not answer.json["notes"]:
            faults.append("no answer, and no reason")
        return faults

    def sets(self, files):
        """Every two captures of different machines, and one of each machine, where there are three."""
        yield from (c for c in itertools.combinations(files, 2) if c[0][0] != c[1][0])
        machines = sorted({f[0] for f in files})
        if len(machines) > 2:
            yield from itertools.product(*([f for f in files if f[0] == m] for m in machines))

    def check(self, name, kind, bulk, folder):
        files, own = captured(name, kind, bulk, folder)
        found = {path: frames.read(path) for _, _, path in files}
        short = {}
        for _, _, path in files:
            short[path] = path + ".160"
            frames.snap(path, short[path], 160)
        for some in self.sets(files):
            self.combinations += 1
            label = "%s %s %s: %s" % (name, kind, bulk, " + ".join("%s %s" % f[:2] for f in some))
            held = {machine: found[path] for machine, _, path in some}
            local = [(m, a) for m in held for a in own.get(m, ())]
            self.judge(label, [(m, path) for m, _, path in some], held, folder, local)
            self.judge(label + ", 160 bytes", [(m, short[path]) for m, _, path in some], held, folder, local)


def wanted(given):
    everything = itertools.product(networks.NETWORKS, TRAFFIC, ("up", "down"))
    return [w for w in everything if (w in FEW or not given.few) and given.only in " ".join(w)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("unskew", type=os.path.abspath)
    arguments.add_argument("--few", action="store_true", help="four networks of all")
    arguments.add_argument("--only", default="", help="those whose name, as 'nat tcp up', holds this")
    arguments.add_argument("--keep", type=os.path.abspath, help="where the captures stay")
    arguments.add_argument("--verbose", action="store_true")
    given = arguments.parse_args()
    for tool in "ip", "tcpdump":
        if not shutil.which(tool):
            skip("no " + tool)
    if os.geteuid():
        skip("namespaces need root")
    matrix, impossible = Matrix(given.unskew, given.verbose), {}
    top = given.keep or tempfile.mkdtemp(prefix="unskew-matrix-")
    try:
        for name, kind, bulk in wanted(given):
            folder = os.path.join(top, "%s-%s-%s" % (name, kind, bulk))
            os.makedirs(folder, exist_ok=True)
            try:
                matrix.check(name, kind, bulk, folder)
            except networks.Impossible as why:
                impossible.setdefault(name, str(why))
            if not given.keep:
                shutil.rmtree(folder)
    finally:
        if not given.keep:
            shutil.rmtree(top)
    for name, why in impossible.items():
        print("not here: %s: %s" % (name, why))
    if not matrix.combinations:
        skip("none of these networks can be had")
    halves = sorted(matrix.halves) or [0]
    print("%d combinations, %d answers of two bounded, %d wrong; of %d packets that two captures hold %d matched (%.2f %%), "
          "%d of unknown direction; half width %.2f us in the middle, %.2f us at most"
          % (matrix.combinations, matrix.answers, matrix.bad, matrix.held, matrix.matched,
             100 * matrix.matched / max(matrix.held, 1), matrix.unknown, halves[len(halves) // 2] / 1e3, halves[-1] / 1e3))
    sys.exit(matrix.bad > 0)


main()
