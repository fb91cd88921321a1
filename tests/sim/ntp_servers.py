#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ntp_servers.py UNSKEW [FOLDER]: FOLDER, which is new, gets the captures as they were recorded.

Two machines without a word between them are tied by the NTP server that both asked; and what chronyd
claims there of their clocks is held against the packets, as it is, and for a clock that is moved.

Three network namespaces: chronyd -x serves time in one and is asked from the other two, where tcpdump
records. Then the server's capture is used, too: what is known of its clock without it holds what is known with it. All share one clock, so the true offset is how far the stamps of one capture are moved here. Needs
root, ip, tcpdump and chronyd; else the test is skipped (77). No clock is set.
"""

import calendar
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

UNSKEW = os.path.abspath(sys.argv[1])
SHIFT = 1_234_567_890  # ns
SECONDS = 24
SERVER = "192.0.2.%d"  # addresses for documentation
NTP_TO_UNIX = 2208988800
ECHO = """import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True: s.sendto(*s.recvfrom(100))"""
ASK = """import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True: s.sendto(os.urandom(16), ("192.0.2.12", 7)); time.sleep(0.2)"""


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def need():
    for tool in "ip", "tcpdump", "chronyd", "chronyc":
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            skip("no " + tool)
    if os.geteuid():
        skip("namespaces need root")
    if subprocess.run(["ip", "netns", "add", "unskew-trial-%d" % os.getpid()], capture_output=True).returncode:
        skip("no network namespaces here")
    run("ip", "netns", "del", "unskew-trial-%d" % os.getpid())


def space(i):
    return "unskew-%d-%d" % (os.getpid(), i)


def network():
    """Namespace 0 has a cable to each of 1 and 2."""
    for i in range(3):
        run("ip", "netns", "add", space(i))
        run("ip", "-n", space(i), "link", "set", "lo", "up")
    for i in 1, 2:
        run("ip", "-n", space(0), "link", "add", "to%d" % i, "type", "veth", "peer", "name", "asks", "netns", space(i))
        run("ip", "-n", space(0), "addr", "add", "%s/32" % (SERVER % 1), "peer", "192.0.2.%d" % (10 + i), "dev", "to%d" % i)
        run("ip", "-n", space(i), "addr", "add", "192.0.2.%d/32" % (10 + i), "peer", SERVER % 1, "dev", "asks")
        run("ip", "-n", space(0), "link", "set", "to%d" % i, "up")
        run("ip", "-n", space(i), "link", "set", "asks", "up")
        run("ip", "-n", space(i), "route", "add", "default", "via", SERVER % 1, "dev", "asks")
    run("ip", "netns", "exec", space(0), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")


def in_space(i, *args):
    return subprocess.Popen(["ip", "netns", "exec", space(i), *args], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def record(folder, started):
    common = "bindcmdaddress 127.0.0.1\nport %d\npidfile " + folder + "/%s.pid\n"
    with open(folder + "/server.conf", "w") as f:
        f.write(common % (123, "server") + "local stratum 3\nallow all\n")
    for i in 1, 2:
        os.mkdir("%s/log%d" % (folder, i))
        with open("%s/client%d.conf" % (folder, i), "w") as f:
            f.write(common % (0, "client%d" % i) + "server %s minpoll 0 maxpoll 0 iburst\n" % (SERVER % 1))
            f.write("logdir %s/log%d\nlog tracking\n" % (folder, i))
        started.append(in_space(i, "tcpdump", "-i", "asks", "-U", "-p", "--time-stamp-precision=nano",
                                "-w", "%s/host%d.pcap" % (folder, i), "-Z", "root", "udp port 123"))
    for i in 1, 2:
        started.append(in_space(0, "tcpdump", "-i", "to%d" % i, "-U", "-p", "--time-stamp-precision=nano",
                                "-w", "%s/server%d.pcap" % (folder, i), "-Z", "root", "udp port 123"))
        # What the two say to each other, which is none of what ties them by the server.
        started.append(in_space(i, "tcpdump", "-i", "asks", "-U", "-p", "--time-stamp-precision=nano",
                                "-w", "%s/direct%d.pcap" % (folder, i), "-Z", "root", "udp port 7"))
    time.sleep(1)
    for i, name in enumerate(("server", "client1", "client2")):
        started.append(in_space(i, "chronyd", "-d", "-x", "-u", "root", "-f", "%s/%s.conf" % (folder, name)))
    for i in 1, 2:
        started.append(in_space(i, "sh", "-c", "while sleep 0.5; do echo $(date +%%s.%%N),$(chronyc -h 127.0.0.1 -n -c tracking);"
                                " done >%s/samples%d.csv" % (folder, i)))
    started.append(in_space(2, sys.executable, "-c", ECHO))
    started.append(in_space(1, sys.executable, "-c", ASK))
    time.sleep(SECONDS)
    for p in started[:6]:
        os.killpg(p.pid, signal.SIGTERM)
        p.wait()


def packets(path):
    """(ns, UDP payload) of Ethernet and IPv4, and where the stamps stand."""
    with open(path, "rb") as f:
        d = f.read()
    assert struct.unpack("<I", d[:4])[0] == 0xA1B23C4D, "nanoseconds"
    at = 24
    while at + 16 <= len(d):
        s, ns, n, _ = struct.unpack("<IIII", d[at:at + 16])
        frame = d[at + 16:at + 16 + n]
        yield at, s * 10**9 + ns, frame[42:] if len(frame) >= 90 and frame[23] == 17 else b""
        at += 16 + n


def move(path, by):
    d = bytearray(open(path, "rb").read())
    for at, ns, _ in list(packets(path)):
        struct.pack_into("<II", d, at, *divmod(ns + by, 10**9))
    open(path, "wb").write(d)


def ntp_ns(stamp):
    return ((stamp >> 32) - NTP_TO_UNIX) * 10**9 + ((stamp & 0xFFFFFFFF) * 10**9 >> 32)


def exchanges(path):
    """What each exchange allows of server - capture: [(our ns, may be no less, no more)]."""
    asked, bounds = {}, []
    for _, ns, p in packets(path):
        if len(p) < 48:
            continue
        origin, receive, transmit = struct.unpack(">QQQ", p[24:48])
        if p[0] & 7 == 3:
            asked[transmit] = ns
        elif p[0] & 7 == 4 and origin in asked:
            bounds.append((ns, ntp_ns(transmit) - ns, None))
            bounds.append((asked[origin], None, ntp_ns(receive) - asked[origin]))
    assert len(bounds) > 20, "too few exchanges: %d" % (len(bounds) // 2)
    return bounds


def half_width(bounds, at):
    """Of all lines through the bounds, at a moment: a corner of these lines lies on two of them."""
    origin, middle = bounds[0][0], (bounds[0][1] or bounds[0][2])
    points = [(x - origin, (lo if hi is None else hi) - middle, hi is None) for x, lo, hi in bounds]
    values = []
    for i, (x1, y1, _) in enumerate(points):
        for x2, y2, _ in points[:i]:
            slope = (y2 - y1) / (x2 - x1) if x1 != x2 else None
            if slope is not None and all((y1 + slope * (x - x1) - y) * (1 if floor else -1) >= -0.5
                                         for x, y, floor in points):
                values.append(y1 + slope * (at - origin - x1))
    return (max(values) - min(values)) / 2


def sync(*args):
    """The knots of each clock: (local, lo, hi)."""
    out = subprocess.run([UNSKEW, "sync", "--json", "-m", "linear", *args], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return {c["name"]: [tuple(int(k[x]) for x in ("local_ns", "lo_ns", "hi_ns")) for k in c["knots"]]
            for c in json.loads(out.stdout)["clocks"]}


def check_tied(paths):
    """Each of two machines, by what both asked."""
    band = sync("--readings", "ntp", "-r", "host1", *paths)
    assert set(band) == {"host1", "host2", "ntp:" + SERVER % 1}, list(band)
    for _, lo, hi in band["host2"]:
        assert lo <= -SHIFT <= hi, (lo, -SHIFT, hi)
    local, lo, hi = min(band["host2"], key=lambda k: k[2] - k[1])
    half = half_width(exchanges(paths[0]), local - SHIFT) + half_width(exchanges(paths[1]), local)
    print("the exchanges allow +-%.2f us, the band has +-%.2f us where it is narrowest"
          % (half / 1e3, (hi - lo) / 2e3))
    assert (hi - lo) / 2 <= 1.2 * half, "wider than the exchanges allow"


def check_withheld(host, server):
    """The server's clock with its capture, and without."""
    full = sync("-r", "host1", host, "server=" + server)["server"]
    alone = sync("--readings", "ntp", "-r", "host1", host)["ntp:" + SERVER % 1]
    inside = 0
    for local, lo, hi in full:
        for a, b in zip(alone, alone[1:]):
            if a[0] <= local <= b[0]:
                share = (local - a[0]) / (b[0] - a[0])
                low, high = (a[i] + share * (b[i] - a[i]) for i in (1, 2))
                assert low - 1 <= lo and hi <= high + 1, (local, low, lo, hi, high)
                inside += 1
    print("both captures: +-%.2f us, one: +-%.2f us at best"
          % tuple(min((hi - lo) / 2e3 for _, lo, hi in k) for k in (full, alone)))
    assert inside


def claims(folder, by):
    """What chronyd says of host2's clock, on that clock moved by so many ns."""
    with open(folder + "/samples2.csv") as f:
        rows = [line.split(",", 1) for line in f if line.count(",") == 14]
    assert len(rows) > SECONDS, "too few samples: %d" % len(rows)
    with open(folder + "/moved.csv", "w") as f:
        for stamp, rest in rows:
            s, ns = stamp.split(".")
            f.write("%d.%09d,%s" % (*divmod(int(s) * 10**9 + int(ns) + by, 10**9), rest))
    with open(folder + "/log2/tracking.log") as f:
        lines = f.read().splitlines()
    with open(folder + "/moved.log", "w") as f:
        for line in lines:
            if line[:1].isdigit():
                at = calendar.timegm(time.strptime(line[:19], "%Y-%m-%d %H:%M:%S")) + by // 10**9
                line = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at)) + line[19:]
            f.write(line + "\n")


def check_claims(folder):
    """UTC is the kernel's clock, which the server states; one client's clock is moved."""
    first = next(packets(folder + "/host1.pcap"))[1]
    with open(folder + "/server.csv", "w") as f:
        f.write("clock,time_ns,offset_ns,error_ns\n")
        f.writelines("server,%d,0,1000\n" % (first + i * 10**9) for i in range(SECONDS))
    traces = ["host1=%s/%s1.pcap" % (folder, kind) for kind in ("host", "direct")]
    traces += ["host2=%s/%s2.moved" % (folder, kind) for kind in ("host", "direct")]
    traces += ["server=%s/server%d.pcap" % (folder, i) for i in (1, 2)]
    for by in 0, 3 * 10**9, -3 * 10**9, 2 * 10**6, -2 * 10**6:
        for kind in "host", "direct":
            shutil.copy("%s/%s2.pcap" % (folder, kind), "%s/%s2.moved" % (folder, kind))
            move("%s/%s2.moved" % (folder, kind), by)
        claims(folder, by)
        # Stamps of the log are whole seconds.
        logs = ["-c", "host2=" + folder + "/moved.log"] if not by % 10**9 else []
        out = subprocess.run([UNSKEW, "audit", "--max-skew-ppm", "50", "-c", folder + "/server.csv",
                              "-c", "host1=" + folder + "/samples1.csv", "-c", "host1=" + folder + "/log1/tracking.log",
                              "-c", "host2=" + folder + "/moved.csv", *logs, *traces], capture_output=True, text=True)
        named = [c for c in ("server", "host1", "host2") if "\n%s is wrong" % c in out.stdout]
        print("host2 moved by %d ns: status %d, named: %s" % (by, out.returncode, " ".join(named) or "none"))
        assert (out.returncode, named) == ((3, ["host2"]) if by else (0, [])), out.stdout + out.stderr


def check(folder):
    check_claims(folder)
    paths = ["%s/host%d.pcap" % (folder, i) for i in (1, 2)]
    move(paths[1], SHIFT)
    check_tied(paths)
    check_withheld(paths[0], folder + "/server1.pcap")


def main():
    need()
    started = []
    folder = tempfile.mkdtemp()
    try:
        network()
        record(folder, started)
        if len(sys.argv) > 2:
            shutil.copytree(folder, sys.argv[2])
        check(folder)
    finally:
        for p in started:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGTERM)
                p.wait()
        for i in range(3):
            subprocess.run(["ip", "netns", "del", space(i)], capture_output=True)
        shutil.rmtree(folder)


main()
