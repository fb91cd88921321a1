#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""formats.py UNSKEW: logs as programs write them, of two hosts whose true clocks are known

In    the formats below, a stamp and the text around it each; a clock 7.25 s behind that drifts
Out   0 if `unskew convert` changes the stamps, all of them and nothing else, to what this file's own
      formatting makes of the time that `unskew convert T` gives; if that is the truth, within the
      stamp's last digit; and if --merge has the records of two hosts in true order
Why   the formats are written here by strftime, not by the table that reads them
"""
import datetime
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

UNSKEW = str(Path(sys.argv[1]).resolve())
SECOND = 10**9
DAY = 86400 * SECOND
START = int(datetime.datetime(2026, 11, 22, 9, 59, 50, tzinfo=datetime.timezone.utc).timestamp()) * SECOND
# A day's end and months' names lie within.
SPAN = 15 * 3600 * SECOND
SLACK = 200_000  # ns: how far the estimate may be from the truth


def date(pattern, digits=0, point=".", zone=0):
    """A writer of dates: %f in the pattern is the fraction, of that many digits."""
    def write(ns):
        seconds, rest = divmod(ns, SECOND)
        t = datetime.datetime.fromtimestamp(seconds + zone, datetime.timezone.utc)
        fraction = point + f"{rest:09d}"[:digits] if digits else ""
        return t.strftime(pattern.replace("%f", fraction))
    write.unit = 10 ** (9 - digits)
    return write


def number(digits, fraction=0):
    """A writer of s, ms, us, ns since 1970, with a fraction or not."""
    def write(ns):
        unit = 10 ** (19 - digits)
        whole, rest = divmod(ns, unit)
        return f"{whole}" + ("." + f"{rest:0{19 - digits}d}"[:fraction] if fraction else "")
    write.unit = 10 ** (19 - digits - fraction)
    return write


TRACE = """{}
java.lang.IllegalStateException: order 1700000001 is from 2026-11-22 10:00:00,000
\tat com.example.Order.check(Order.java:120)
Caused by: java.net.SocketTimeoutException: Read timed out at 2026-11-22T10:00:00.000Z
\t... 12 more"""
ISO = "%Y-%m-%dT%H:%M:%S%f"
BLANK = "%Y-%m-%d %H:%M:%S%f"
# name: writer of the stamp, the record around {}, options
FORMATS = {
    "nginx access": (date("%d/%b/%Y:%H:%M:%S +0000"), '10.0.0.7 - - [{}] "GET /a?t=1700000000 HTTP/1.1" 200 612 "-" "curl/8.5"'),
    "nginx error": (date("%Y/%m/%d %H:%M:%S"), "{} [error] 31#31: *1 open() failed (2: No such file), client: 10.0.0.7"),
    "nginx msec": (number(10, 3), '10.0.0.7 {} 0.003 "GET / HTTP/1.1" 200'),
    "Apache access": (date("%d/%b/%Y:%H:%M:%S +0100", zone=3600), '::1 - frank [{}] "GET /x.gif HTTP/1.0" 200 2326'),
    "Apache error": (date("%a %b %d %H:%M:%S%f %Y", 6), "[{}] [core:error] [pid 35708:tid 43281] [client 72.15.99.187] File does not exist"),
    "journald short": (date("%b %d %H:%M:%S"), "{} web systemd[1]: Started Session 42 of User root."),
    "journald short-precise": (date("%b %d %H:%M:%S%f", 6), "{} web sshd[812]: Accepted publickey for root from 10.0.0.1 port 50022 ssh2"),
    "journald short-iso": (date("%Y-%m-%dT%H:%M:%S+0100", zone=3600), "{} web kernel: eth0: link up"),
    "journald short-iso-precise": (date(ISO + "+0000", 6), "{} web kernel: usb 1-1: new device number 4"),
    "journald short-unix": (number(10, 6), "{} web cron[77]: (root) CMD (run-parts)"),
    "journald short-full": (date("%a %Y-%m-%d %H:%M:%S UTC"), "{} web cron[77]: pam_unix(cron:session)"),
    "journald json": (number(16), '{{ "__CURSOR" : "s=1;i=2", "_SOURCE" : "1700000000000000", "__REALTIME_TIMESTAMP" : "{}", "MESSAGE" : "x" }}',
                      "--json-key", "__REALTIME_TIMESTAMP"),
    "syslog RFC 5424": (date(ISO + "Z", 3), "<34>1 {} web.example.com su - ID47 - 'su root' failed"),
    "syslog RFC 3164": (date("%b %d %H:%M:%S"), "<34>{} web su: 'su root' failed for lonvick on /dev/pts/8"),
    "Kafka": (date("[" + BLANK + "]", 3, ","), "{} INFO [GroupCoordinator 1]: Preparing to rebalance (kafka.coordinator.group.GroupCoordinator)"),
    "PostgreSQL": (date(BLANK + " UTC", 3), "{} [1234] app@db LOG:  duration: 1.234 ms  statement: SELECT 1\n\tFROM orders"),
    "PostgreSQL CET": (date(BLANK + " CET", 3, zone=3600), "{} [1234] ERROR:  relation does not exist\n\tat character 15"),
    "MySQL": (date(ISO + "Z", 6), "{} 8 [Note] [MY-010914] [Server] Aborted connection 8 to db"),
    "MongoDB": (date(ISO + "+00:00", 3), '{{"t":{{"$date":"{}"}},"s":"I","c":"NETWORK","id":22943,"msg":"Connection accepted"}}', "--json-key", "t.$date"),
    "Redis": (date("%d %b %Y %H:%M:%S%f", 3), "1:M {} * Background saving started by pid 22"),
    "Java with stack traces": (date(BLANK, 3, ","), TRACE.replace("{}", "{} ERROR [main] c.e.Order - failed")),
    "Spring": (date(ISO + "+01:00", 3, zone=3600), "{}  INFO 7 --- [main] o.s.b.w.e.tomcat : started"),
    "Tomcat": (date("%d-%b-%Y %H:%M:%S%f", 3), "{} INFO [main] org.apache.catalina.startup"),
    "Kubernetes pod": (date(ISO + "Z", 9), "{} stdout F level=info msg=\"synced\" took=1700000000"),
    "klog": (date("%m%d %H:%M:%S%f", 6), "I{}       1 controller.go:114] Starting workers"),
    "Docker": (date(ISO + "Z", 9), '{{"log":"hello 2026-11-22\\n","stream":"stdout","time":"{}"}}'),
    "JSON lines, zap": (number(10, 7), '{{"level":"info","ts":{},"caller":"m.go:1","msg":"m"}}', "--json-key", "ts"),
    "JSON lines, ECS": (date(ISO + "Z", 3), '{{"@timestamp":"{}","log.level":"INFO","message":"at \\"1700000000\\""}}', "--json-key", "@timestamp"),
    "JSON lines, bunyan ms": (number(13), '{{"name":"app","pid":1,"time":{},"v":0}}', "--json-key", "time"),
    "Go slog": (date(ISO + "Z", 6), 'time={} level=INFO msg="listening" addr=:8080'),
    "Rust tracing, coloured": (date(ISO + "Z", 6), "\x1b[2m{}\x1b[0m \x1b[32m INFO\x1b[0m app: started"),
    "Python logging": (date(BLANK, 3, ","), "{} WARNING app.views 5 retries"),
    "Rails": (date(ISO, 6), "I, [{} #4321]  INFO -- : Started GET"),
    "HAProxy": (date("%d/%b/%Y:%H:%M:%S%f", 3), "10.0.1.2:33317 [{}] http-in static/srv1 10/0/30/69/109 200 2750"),
    "Squid": (number(10, 3), "{}    345 10.0.0.7 TCP_MISS/200 1024 GET http://a/"),
    "BIND": (date("%d-%b-%Y %H:%M:%S%f", 3), "{} queries: info: client @0x7f 10.0.0.7#5353"),
    "CSV by a name": (date(BLANK, 6), '5,"a, ""b""",{},x', "--column", "when"),
    "CSV by a number": (number(19), "1700000000000000000;{};x", "--field", "2", "--separator", ";"),
    "Android logcat": (date("%m-%d %H:%M:%S%f", 3), "{}  1702  2395 D PowerManagerService: acquire lock=1"),
}
HEADER = {"CSV by a name": "id,what,when,more\n"}


def local_of(true_ns):
    """What the host's clock shows: 7.25 s behind, and 40 ppm fast."""
    return true_ns - 7_250_000_000 + (true_ns - START) // 25_000


def run(*words, **more):
    done = subprocess.run([UNSKEW, *map(str, words)], capture_output=True, check=False, **more)
    if done.returncode:
        sys.exit(f"unskew {words}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def make_clocks(folder):
    rows = ["sender,receiver,sent_ns,received_ns"]
    for i in range(201):
        t = START + SPAN * i // 200
        rows += [f"ref,host,{t},{local_of(t + 60_000)}", f"host,ref,{local_of(t + 1_000_000)},{t + 1_060_000}"]
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    run("sync", "-q", "--reference", "ref", folder / "t.csv", "-o", folder / "clocks.json")
    return folder / "clocks.json"


def convert_many(clocks, stamps):
    out = run("convert", clocks, "--clock", "host", "-q", input="".join(f"{t}\n" for t in stamps).encode())
    return [int(row.split(b"\t")[1]) for row in out.splitlines()]


def records(rng, n):
    """Times; a tenth of them about midnight, where the host still shows the day before."""
    midnight = START // DAY * DAY + DAY
    return sorted([START + rng.randrange(SPAN) for _ in range(n)] + [midnight + rng.randrange(8 * SECOND) for _ in range(n // 10)])


def nearest(ns, unit):
    return (ns + unit // 2) // unit * unit


def check_format(name, folder, clocks, rng):
    write, around, *options = FORMATS[name]
    true = records(rng, 300)
    shown = [local_of(t) // write.unit * write.unit for t in true]
    when = convert_many(clocks, shown)
    late = max(abs(r - t) for r, t in zip(when, true))
    if late > write.unit + SLACK:
        return f"{late} ns from the truth"
    text = lambda stamps: HEADER.get(name, "") + "".join(around.format(write(t)) + "\n" for t in stamps)
    path = folder / "host.log"
    path.write_text(text(shown))
    got = run("convert", clocks, "--log", *options, f"host={path}").decode()
    want = text(nearest(r, write.unit) for r in when)
    if got != want:
        first = next((a, b) for a, b in zip(got.split("\n"), want.split("\n")) if a != b)
        return f"not\n  {first[1]}\nbut\n  {first[0]}"
    # With a log of the reference: true order, where the last digit leaves no doubt.
    if HEADER.get(name) or options:
        return None
    mine = records(rng, 300)
    (folder / "ref.log").write_text("".join(f"{date(ISO + 'Z', 9)(t)} ref {i}\n" for i, t in enumerate(mine)))
    rows = sorted([(t, 0, f"{date(ISO + 'Z', 9)(t)} ref {i}") for i, t in enumerate(mine)] +
                  [(r, 1, around.format(write(nearest(r, write.unit)))) for r in when], key=lambda x: x[:2])
    got = run("convert", clocks, "--merge", f"ref={folder / 'ref.log'}", f"host={path}").decode()
    want = "".join(row[2] + "\n" for row in rows)
    return None if got == want else "merged in another order, or changed"


def check_page(page, clocks):
    """What the page calls a stamp is one: each of its examples is changed."""
    examples = re.findall(r"^\| `([^`]*)` \|", page, re.M)
    bad = [e for e in examples if run("convert", clocks, "--log", "-c", "host", input=f"{e} x\n".encode()) == f"{e} x\n".encode()]
    return f"{len(examples)} examples, unchanged: {bad}" if bad or len(examples) < 20 else None


def main():
    rng = random.Random(20)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        clocks = make_clocks(folder)
        page = Path(__file__).resolve().parents[2] / "doc" / "logs.md"
        checks = {"doc/logs.md": lambda: check_page(page.read_text(encoding="utf-8"), clocks)}
        checks |= {name: lambda name=name: check_format(name, folder, clocks, rng) for name in FORMATS}
        for name, check in checks.items():
            wrong = check()
            bad += wrong is not None
            if wrong:
                print(f"{name}: {wrong}")
    print(f"{len(FORMATS)} formats, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
