#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py BUILD [PACKETS] - what unskew costs, beside other tools in the same run

Captures of PACKETS packets each (default 2,000,000; the goals are stated for 10,000,000) over
1,000 s are simulated, then every command runs three times; the best counts. All on one thread,
files in the page cache. Ratios are to `tcpdump -r A -w /dev/null` plus the same for B.
"""
import os, shutil, subprocess, sys, tempfile, time

build = os.path.abspath(sys.argv[1])
packets = int(sys.argv[2]) if len(sys.argv) > 2 else 2000000
unskew = os.path.join(build, "unskew")
walk = os.path.join(build, "bench", "bench_walk")


def run(*commands):
    """Seconds and peak MB of commands one after another: best of three, worst of memory."""
    best, peak = None, 0
    for _ in range(3):
        begun = time.perf_counter()
        for command in commands:
            with open(os.devnull, "w") as null:
                child = subprocess.Popen(command, stdout=null, stderr=null)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in (0, 3):
                sys.exit("bench: failed: " + " ".join(command))
            peak = max(peak, usage.ru_maxrss / 1024)
        spent = time.perf_counter() - begun
        best = spent if best is None else min(best, spent)
    return best, peak


def simulate(where, *options):
    subprocess.run([unskew, "simulate", "-q", "--force", "-o", where, "--seconds", "1000",
                    "--packets", str(packets), "--snaplen", "96", *options], check=True)
    os.remove(os.path.join(where, "messages.csv"))
    return [os.path.join(where, name) for name in ("host0.pcap", "host1.pcap")]


def line(what, seconds, peak, unit, yardstick):
    rate = 2 * packets / seconds / 1e6
    ratio = "%8.2f" % (seconds / yardstick) if yardstick else ""
    print("%-38s %8.3f s %8.1f M%s/s %7.0f MB %s" % (what, seconds, rate, unit, peak, ratio))


def cpu(*command):
    """Seconds of processor time, system's included, and peak MB: best of three. Unlike elapsed
    time it says the same on a machine that does other things too."""
    best, peak = None, 0
    for _ in range(3):
        with open(os.devnull, "w") as null:
            child = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 3):
            sys.exit("bench: failed: " + " ".join(command))
        spent = usage.ru_utime + usage.ru_stime
        best = spent if best is None else min(best, spent)
        peak = max(peak, usage.ru_maxrss / 1024)
    return best, peak


def tables(where):
    """About a million rows of each kind of table. Yields name, path, rows."""
    subprocess.run([unskew, "simulate", "-q", "-o", where, "--seconds", "1000", "--rate", "500",
                    "--format", "table"], check=True)
    path = {name: os.path.join(where, name) for name in (
        "messages.csv", "messages.jsonl", "events.csv", "events.jsonl", "exchanges.csv")}
    file = {name: open(path[name], "w") for name in path if name != "messages.csv"}
    file["events.csv"].write("clock,time_ns,kind,id,bytes\n")
    file["exchanges.csv"].write("a,b,t1_ns,t2_ns,t3_ns,t4_ns\n")
    count, waiting = dict.fromkeys(path, 0), None
    with open(path["messages.csv"]) as f:
        next(f)
        for number, line in enumerate(f):
            sender, receiver, sent, received, size = line.split(",")[:5]
            count["messages.csv"] += 1
            count["messages.jsonl"] += 1
            file["messages.jsonl"].write(
                '{"sender":"%s","receiver":"%s","sent_ns":%s,"received_ns":%s,"bytes":%s}\n'
                % (sender, receiver, sent, received, size))
            for clock, t, kind in ((sender, sent, "send"), (receiver, received, "recv")):
                if number < 500000:
                    file["events.csv"].write("%s,%s,%s,%d,%s\n" % (clock, t, kind, number, size))
                    file["events.jsonl"].write(
                        '{"clock":"%s","time_ns":%s,"kind":"%s","id":"%d","bytes":%s}\n'
                        % (clock, t, kind, number, size))
                    count["events.csv"] += 1
                    count["events.jsonl"] += 1
            # A message one way and the next one back.
            if sender == "host0":
                waiting = sent, received
            elif waiting:
                file["exchanges.csv"].write("host0,host1,%s,%s,%s,%s\n" % (*waiting, sent, received))
                count["exchanges.csv"] += 1
    for f in file.values():
        f.close()
    for name in path:
        yield name, path[name], count[name]


scratch = tempfile.mkdtemp(prefix="unskew-bench-")
try:
    a, b = simulate(os.path.join(scratch, "near"))
    print("two captures of about %d packets, %.0f MB each" % (packets, os.path.getsize(a) / 1e6))
    print("%-38s %10s %18s %10s %s" % ("", "best of 3", "packets", "peak", "to tcpdump"))
    tcpdump, peak = run(["tcpdump", "-r", a, "-w", "/dev/null"],
                        ["tcpdump", "-r", b, "-w", "/dev/null"])
    line("tcpdump -r A, then B, -w /dev/null", tcpdump, peak, "p", tcpdump)
    for what, command in (("mergecap -w /dev/null A B", ["mergecap", "-w", "/dev/null", a, b]),
                          ("bare walk over the mapped A and B", [walk, "mapped", a, b]),
                          ("libpcap, pcap_next_ex", [walk, "libpcap", a, b]),
                          ("our reader", [walk, "records", a, b]),
                          ("our reader and decoder", [walk, "packets", a, b]),
                          ("pass 1 of matching", [walk, "survey", a, b]),
                          ("unskew sync A B", [unskew, "sync", a, b]),
                          ("unskew report A B", [unskew, "report", a, b, "--force", "-o",
                                                 os.path.join(scratch, "page.html")]),
                          ("unskew check A B", [unskew, "check", a, b])):
        seconds, peak = run(command)
        line(what, seconds, peak, "p", tcpdump)
    a, b = simulate(os.path.join(scratch, "far"), "--offset", "1h")
    seconds, peak = run([unskew, "sync", a, b])
    line("unskew sync, clocks an hour apart", seconds, peak, "p", tcpdump)
    shutil.rmtree(os.path.join(scratch, "far"))
    print("\n%-38s %10s %18s %10s" % ("tables", "processor", "rows", "peak"))
    for name, path, rows in tables(os.path.join(scratch, "tables")):
        for verb in ("check", "sync"):
            seconds, peak = cpu(unskew, verb, path)
            print("%-38s %8.3f s %8.2f M/s %12.0f MB" % ("unskew %s %s" % (verb, name), seconds,
                                                        rows / seconds / 1e6, peak))
        if name == "messages.csv":
            page = os.path.join(scratch, "page.html")
            more, peak = cpu(unskew, "report", path, "-o", page, "--force")
            print("%-38s %8.3f s %8.2f M/s %12.0f MB, %.2f of sync, page of %.2f MB" % (
                "unskew report " + name, more, rows / more / 1e6, peak, more / seconds,
                os.path.getsize(page) / 1e6))
    shutil.rmtree(os.path.join(scratch, "tables"))
    subprocess.run([unskew, "simulate", "-q", "-o", os.path.join(scratch, "small"), "--packets",
                    "50000", "--seconds", "100"], check=True)
    small = [os.path.join(scratch, "small", name) for name in ("host0.pcap", "host1.pcap")]
    clocks = os.path.join(scratch, "clocks.json")
    subprocess.run([unskew, "sync", "-q", *small, "-o", clocks], check=True)
    for name in ("timeline.json", "timeline.json.gz"):
        out = os.path.join(scratch, name)
        seconds, peak = cpu(unskew, "apply", "-q", "--force", clocks, *small, "--timeline", out)
        print("apply --timeline of 100,000 packets%3s %8.3f s %25.0f MB, %.0f MB written"
              % (name[13:], seconds, peak, os.path.getsize(out) / 1e6))
    ctf = os.path.join(build, "bench", "bench_ctf")
    if os.path.exists(ctf) and shutil.which("babeltrace2"):
        print("\nCTF traces of %d events: ratio of events a second" % packets)
        for share in (20, 2):
            folder = os.path.join(scratch, "ctf%d" % share)
            subprocess.run([ctf, "make", folder, str(packets), str(share)], check=True)
            theirs, _ = run(["babeltrace2", folder, "--component=sink.utils.dummy"])
            ours, peak = run([ctf, "read", folder])
            print("one in %2d tells of a packet: %.2f M/s, babeltrace2 into sink.utils.dummy %.2f M/s: "
                  "%.2f of it, %.0f MB" % (share, packets / ours / 1e6, packets / theirs / 1e6,
                                           theirs / ours, peak))
finally:
    shutil.rmtree(scratch, ignore_errors=True)
for name in ("fit", "convert", "live"):
    subprocess.run([os.path.join(build, "bench", "bench_" + name)], check=True)
subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "convert.py"), build], check=True)
