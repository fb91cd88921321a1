#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_unskew.py PART UNSKEW LAYOUT - the package against the truth, the program and the compiler

PART: plain, numpy or pandas; the last two are skipped where Python has no such package.
"""
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PART, PROGRAM, LAYOUT = sys.argv[1:4]
if PART != "plain" and not importlib.util.find_spec(PART):
    print(f"{PART} is not installed for {sys.executable} (python3-{PART})")
    sys.exit(77)

import unskew  # pylint: disable=wrong-import-position
from unskew import _library  # pylint: disable=wrong-import-position

START, AHEAD = 1700000000_000000000, 5_000_000_000


def server(t):
    """Its clock, 5 s behind and 1 ppm slow."""
    return t - AHEAD - (t - START) // 1_000_000


def rows(n=400, seed=1):
    draw = random.Random(seed)
    for i in range(n):
        t = START + i * 10_000_000
        u = t + draw.randrange(100_000, 160_000)
        yield ("client", "server", t, server(u)) if i % 2 else ("server", "client", server(t), u)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.clocks = unskew.sync(unskew.Messages(*zip(*rows())), reference="client")
        cls.server = cls.clocks["server"]
        cls.stamps = [server(START + i * 7_654_321) for i in range(500)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def refused(self, kind, words, function, *arguments, **options):
        with self.assertRaisesRegex(kind, words):
            function(*arguments, **options)


class Plain(Case):
    def test_statements(self):
        one_way = unskew.Messages(*zip(*[r for r in rows() if r[0] == "client"]))
        tie = ("client", START, "server", server(START), 1_000_000_000)
        anchored = unskew.sync(one_way, reference="client", anchors=[tie])
        self.assertEqual(anchored["server"].quality, "bounded")
        self.assertEqual(unskew.sync(one_way, reference="client", stated={"anchor": [tie]}).to_json(), anchored.to_json())
        self.refused(unskew.UsageError, "guess.*nothing of that kind", unskew.sync, one_way, stated={"guess": [tie]})

    def test_layout(self):
        structs = {"usk_err": "Err", "usk_msg": "Msg", "usk_stamp": "Stamp", "usk_anchor": "Anchor", "usk_notes": "Notes",
                   "usk_read_options": "ReadOptions", "usk_sync_options": "SyncOptions",
                   "usk_write_options": "WriteOptions"}
        lines = subprocess.run([LAYOUT], check=True, capture_output=True, text=True).stdout.split("\n")[1:-1]
        self.assertEqual({line.split()[0] for line in lines}, set(structs))
        for line in lines:
            name, size, *places = line.split()
            struct = getattr(_library, structs[name])
            got = [name, str(_library.C.sizeof(struct))]
            for member, _ in struct._fields_:
                got += [member.rstrip("_"), str(getattr(struct, member).offset)]
            self.assertEqual(got, [name, size, *places])

    def test_truth(self):
        for i, stamp in enumerate(self.stamps):
            truth = START + i * 7_654_321
            reference, lo, hi = self.server.convert(stamp, bounds=True)
            self.assertTrue(lo <= truth and truth - 1 <= hi and hi - lo < 400_000, (truth, lo, hi))
            self.assertTrue(lo <= reference <= hi)

    def test_program(self):
        """The same numbers as `unskew convert` and `before` print by the same clocks.json."""
        path = self.path / "clocks.json"
        path.write_text(self.clocks.to_json())
        told = run("convert", path, "--clock", "server", *map(str, self.stamps))
        reference, lo, hi = self.server.convert(self.stamps, bounds=True)
        self.assertEqual(told, "".join(f"{x}\t{r}\t{a}\t{b}\n" for x, r, a, b in zip(self.stamps, reference, lo, hi)))
        self.assertEqual(self.server.convert(self.stamps), reference)
        self.assertEqual(unskew.load(path).info["clocks"], self.clocks.info["clocks"])
        for shift in (-10**9, -50_000, 0, 50_000, 10**9):
            events = ("client", START + 10**9), ("server", server(START + 10**9) + shift)
            done = subprocess.run([PROGRAM, "before", path, *(f"{n}:{t}" for n, t in events)], check=False,
                                  capture_output=True, text=True)
            answer = self.clocks.before(*events)
            self.assertEqual(done.stdout, f"{answer.order} {answer.margin_ns}\n")
        self.assertEqual(self.clocks.before(("server", 5), ("server", 7)), ("yes", 2))

    def test_kinds(self):
        self.assertIsInstance(self.server.convert(self.stamps[0]), int)
        self.assertEqual(self.server.convert([]), [])
        self.assertEqual(list(self.clocks), ["client", "server"])
        self.assertEqual(self.clocks["client"].convert(START), START)
        self.assertEqual((self.server.quality, self.server.reference, self.server.epochs), ("bounded", "client", 1))
        self.assertAlmostEqual(self.server.drift_ppm, -1, delta=1)
        self.assertIn("server bounded", repr(self.clocks))

    def test_refused(self):
        self.refused(TypeError, "integers, in ns", self.server.convert, 1.5)
        self.refused(OverflowError, "64 bits", self.server.convert, 2**64)
        self.refused(unskew.RangeError, "146 years", self.server.convert, 2**62 + 1)
        self.refused(unskew.RangeError, "146 years", self.server.convert, [0, 2**62 + 1], bounds=True)
        self.refused(unskew.SystemFailure, "No such file", unskew.sync, [self.path / "none.pcap"])
        self.refused(unskew.UsageError, "model", unskew.sync, unskew.Messages(*zip(*rows(9))), model="cubic")
        self.refused(unskew.UsageError, "differ in length", unskew.Messages, ["a"], ["b"], [1, 2], [2])
        self.refused(unskew.InputError, "unknown|missing|not", unskew.load, __file__)
        self.refused(unskew.InputError, "epoch 1", self.server.convert, 1, epoch=1)

    def test_one_side(self):
        one = unskew.sync(unskew.Messages(*zip(*[r for r in rows() if r[0] == "client"])), reference="client")["server"]
        self.assertEqual(one.quality, "one-sided")
        reference, lo, hi = one.convert([self.stamps[3]] * 2, bounds=True)
        self.assertEqual(reference, None)
        self.assertEqual([lo[0] is None, hi[0] is None].count(True), 1)
        self.refused(unskew.InputError, "one side only", one.convert, self.stamps[3])

    def test_set_back(self):
        """Rows in the order in which they were noted show that the server fell by 2 s in the middle."""
        set_back = [(a, b, s - 2 * 10**9 * (i > 200 and a == "server"), r - 2 * 10**9 * (i > 200 and b == "server"))
                    for i, (a, b, s, r) in enumerate(rows())]
        clock = unskew.sync(unskew.Messages(*zip(*set_back)), reference="client")["server"]
        self.assertEqual(clock.epochs, 2)
        self.refused(unskew.UsageError, "stepped backward", clock.convert, self.stamps[3])
        for epoch, moment in ((0, START + 10**9), (1, START + 3 * 10**9)):
            _, lo, hi = clock.convert(server(moment) - 2 * 10**9 * epoch, bounds=True, epoch=epoch)
            self.assertTrue(lo <= moment and moment - 1 <= hi)

    def test_files(self):
        run("simulate", "-q", "-o", str(self.path / "made"), "--seconds", "10", "--offset", "957ms")
        a, b = (self.path / "made" / f"host{i}.pcap" for i in (0, 1))
        told = []
        clocks = unskew.sync({"one": a, "two": [b]}, progress=lambda done, what: told.append(done))
        self.assertEqual([clocks[n].quality for n in ("one", "two")], ["reference", "bounded"])
        self.assertTrue(told and all(0 <= x <= 1 for x in told))
        (self.path / "c.json").write_text(run("sync", "--json", f"one={a}", f"two={b}"))
        self.assertEqual(json.loads((self.path / "c.json").read_text())["clocks"], clocks.info["clocks"])
        run("apply", "-q", self.path / "c.json", b, "-o", self.path / "by-program.pcap")
        self.assertEqual(clocks.apply(b, self.path / "by-python.pcap"), [])
        self.assertEqual(*((self.path / f"by-{w}.pcap").read_bytes() for w in ("program", "python")))
        self.refused(unskew.Error, "exists", clocks.apply, b, self.path / "by-python.pcap")
        self.refused(unskew.UsageError, "no clock", clocks.apply, b, self.path / "x.pcap", clock="three")
        run("apply", "-q", self.path / "c.json", f"one={a}", f"two={b}", "--merge", self.path / "merged.pcapng")
        clocks.merge({"one": a, "two": b}, self.path / "by-python.pcapng")
        self.assertEqual(*((self.path / f"{w}.pcapng").read_bytes() for w in ("merged", "by-python")))
        with self.assertRaises(ZeroDivisionError):
            unskew.sync([a, b], progress=lambda done, what: 1 / 0)


class Numpy(Case):
    def test_arrays(self):
        import numpy as np

        x = np.array(self.stamps)
        want = [self.server.convert(self.stamps, bounds=True)[i] for i in range(3)]
        for given in (x, x.astype("uint64"), x.astype("datetime64[ns]"), x.reshape(50, 10), np.repeat(x, 2)[::2]):
            got = self.server.convert(given, bounds=True)
            for g, w in zip(got, want):
                self.assertEqual(g.shape, given.shape)
                self.assertEqual(g.dtype.kind, "M" if given.dtype.kind == "M" else "i")
                self.assertEqual(g.view("int64").ravel().tolist(), w)
        out = np.zeros(len(x), dtype="int64")
        self.assertEqual(self.server.convert(x, out=out).ctypes.data, out.ctypes.data)
        self.assertEqual(out.tolist(), want[0])
        self.assertIsInstance(self.server.convert(x[0]), int)
        self.refused(TypeError, "integers", self.server.convert, x.astype(float))
        self.refused(TypeError, "out", self.server.convert, x, out=out[:-1])
        self.refused(TypeError, "out", self.server.convert, x, out=np.zeros(2 * len(x), dtype="int64")[::2])
        self.refused(OverflowError, "64 bits", self.server.convert, np.array([2**63], dtype="uint64"))
        self.refused(unskew.RangeError, "146 years", self.server.convert, np.array(["NaT"], dtype="datetime64[ns]"))

    def test_messages(self):
        import numpy as np

        sender, receiver, sent, received = zip(*rows())
        for kind in ("int64", "datetime64[ns]"):
            made = unskew.Messages(np.array(sender), np.array(receiver), np.array(sent).astype(kind),
                                   np.array(received).astype(kind))
            self.assertEqual(unskew.sync(made, reference="client").to_json(), self.clocks.to_json())
        self.refused(TypeError, "sent_ns", unskew.Messages, sender, receiver, np.array(sent) * 1.0, received)


class Pandas(Case):
    def test_frames(self):
        import pandas as pd

        frame = pd.DataFrame(rows(), columns=["sender", "receiver", "sent_ns", "received_ns"])
        self.assertEqual(unskew.sync(frame, reference="client").to_json(), self.clocks.to_json())
        self.refused(unskew.UsageError, "sent_ns", unskew.sync, frame.drop(columns="sent_ns"))
        series = pd.Series(pd.to_datetime(self.stamps), index=range(7, 507), name="when")
        got = self.server.convert(series)
        self.assertEqual((got.name, list(got.index[:2])), ("when", [7, 8]))
        self.assertEqual(got.astype("int64").tolist(), self.server.convert(self.stamps))
        table = self.clocks.to_frame()
        self.assertEqual(list(table.index), ["client", "server"])
        self.assertEqual(table.loc["client", "offset_ns"], 0)
        low, high = (table.loc["server", f"offset_{s}_ns"] for s in ("lo", "hi"))
        self.assertTrue(low <= AHEAD + 2000 and AHEAD <= high)
        knots = self.server.to_frame()
        self.assertEqual([tuple(r[:4]) for r in knots.itertuples(index=False)], self.server.knots)


unittest.main(argv=[sys.argv[0]], defaultTest=PART.capitalize())
