# SPDX-License-Identifier: MIT
"""From traces, or messages in memory, to the answer."""
from __future__ import annotations

import contextlib
import ctypes as C
import fractions
import operator
import os
from typing import Any, Callable, Mapping, Optional, Sequence

from ._clocks import Clocks, Progressing
from ._library import NONE, Anchor, Msg, ReadOptions, SyncOptions, lib
from ._stamps import UsageError, must, np


class Messages:
    """Messages in memory: for each who sent it, who received it, and when, by their own clocks, in ns. Sequences or
    arrays of one length, in the order in which they were noted if there is one."""

    def __init__(self, sender: Sequence[str], receiver: Sequence[str], sent_ns: Any, received_ns: Any):
        n = len(sender)
        if {len(receiver), len(sent_ns), len(received_ns)} != {n}:
            raise UsageError("sender, receiver, sent_ns and received_ns differ in length")
        names = list(dict.fromkeys(x for pair in zip(sender, receiver) for x in pair))
        number = {name: i for i, name in enumerate(names)}
        self.clocks = [str(name) for name in names]
        self.msg = (Msg * n)()
        if np is not None and n:
            self._fill(sender, receiver, sent_ns, received_ns, number)
            return
        for i, row in enumerate(zip(sender, receiver, sent_ns, received_ns)):
            self.msg[i] = Msg(operator.index(row[2]), operator.index(row[3]), number[row[0]], number[row[1]], 0)

    def _fill(self, sender, receiver, sent_ns, received_ns, number):
        names = [name for name, _ in Msg._fields_]
        rows = np.frombuffer(self.msg, dtype=np.dtype({
            "names": names, "formats": [np.dtype(kind) for _, kind in Msg._fields_],
            "offsets": [getattr(Msg, name).offset for name in names], "itemsize": C.sizeof(Msg)}))
        for column, stamps in (("sent_ns", sent_ns), ("received_ns", received_ns)):
            stamps = np.asarray(stamps)
            if stamps.dtype.kind not in "iuM":
                raise TypeError(f"{column}: stamps are integers, in ns: {stamps.dtype} cannot hold today's time to the ns")
            rows[column] = stamps.astype("datetime64[ns]").view("int64") if stamps.dtype.kind == "M" else stamps
        for column, names in (("from_", sender), ("to", receiver)):
            rows[column] = [number[name] for name in names]

    @classmethod
    def of_frame(cls, frame: Any) -> "Messages":
        """Of a DataFrame with the columns sender, receiver, sent_ns and received_ns, as in tables of messages."""
        try:
            return cls(*(frame[name].to_numpy() for name in ("sender", "receiver", "sent_ns", "received_ns")))
        except KeyError as lacking:
            raise UsageError(f"a table of messages needs sender, receiver, sent_ns and received_ns; {lacking} is "
                             "missing") from None

    def open(self) -> int:
        names, out = (C.c_char_p * len(self.clocks))(*[name.encode() for name in self.clocks]), C.c_void_p()
        must(lib.usk_trace_of_messages, names, len(names), self.msg, len(self.msg), C.byref(out))
        return out.value


def _rows(rows: Any, what: str) -> tuple:
    """{"client": "1us"} or ["client=1us"] as the library's rows and their number."""
    if isinstance(rows, Mapping):
        rows = [f"{name}={value}" for name, value in rows.items()]
    if isinstance(rows, (str, bytes)):
        raise UsageError(f"{what} is a dict or a list, not one text")
    text = [os.fsencode(row) for row in rows or ()]
    return ((C.c_char_p * len(text))(*text), len(text)) if text else (None, 0)


def _named(traces: Any) -> list:
    """(name or None, path or Messages) of whatever sync() was given."""
    if isinstance(traces, (str, os.PathLike, Messages)) or hasattr(traces, "columns"):
        traces = [traces]
    if isinstance(traces, Mapping):
        return [(name, one) for name, some in traces.items()
                for one in (some if isinstance(some, (list, tuple)) else [some])]
    return [(None, one) for one in traces]


@contextlib.contextmanager
def opened(traces: Any, read: Optional[ReadOptions] = None):
    """The library's traces, closed at the end."""
    pointer, kept = [], []
    try:
        for name, one in _named(traces):
            if hasattr(one, "columns"):
                one = Messages.of_frame(one)
            if isinstance(one, Messages):
                kept.append(one)  # borrowed until its trace is closed
                pointer.append(one.open())
                continue
            out = C.c_void_p()
            must(lib.usk_trace_open_with, os.fsencode(one), name.encode() if name else None,
                 C.byref(read) if read else None, C.byref(out))
            pointer.append(out.value)
        yield (C.c_void_p * len(pointer))(*pointer)
    finally:
        for one in pointer:
            lib.usk_trace_close(one)


def _e12(ppm: Any) -> int:
    return round(fractions.Fraction(str(ppm)) * 10**6)


def sync(
    traces: Any,
    *,
    model: Optional[str] = None,
    method: Optional[str] = None,
    window_ns: int = 0,
    solve: Optional[str] = None,
    weights: Optional[str] = None,
    reference: Optional[str] = None,
    max_skew_ppm: Any = 0,
    max_outliers: int = -1,
    resolution: Any = None,
    local: Any = None,
    clock_of: Any = None,
    clock_log: Any = None,
    readings: Optional[str] = None,
    from_ns: Optional[int] = None,
    to_ns: Optional[int] = None,
    min_delay: Optional[str] = None,
    anchors: Sequence[tuple] = (),
    stated: Optional[Mapping] = None,
    tick_rate: Any = None,
    progress: Optional[Callable[[float, str], None]] = None,
) -> Clocks:
    """Put traces on one clock.

    traces     a list of paths: captures, tables, CTF traces; a dict from names of clocks to a path or a list of them;
               `Messages`, or a DataFrame with sender, receiver, sent_ns and received_ns
    resolution, local, clock_of, clock_log, tick_rate
               what `unskew sync` takes as --resolution NAME=...: a dict or a list of such texts
    anchors    (clock a, its stamp, clock b, its stamp, within_ns): these two showed that at one moment
    stated     what `unskew sync` takes as other options of such statements: {"OPTION": [(clock a, its stamp, clock b, its
               stamp), ...]}, and within_ns where the option has ±D
    progress   called now and then with the share of the work done, 0 to 1, and what is being done

    All others are the options of `unskew sync` of the same name; left out, they have the same defaults. An answer that
    is weak is no exception: look at `quality` of each clock, and at `notes`. Raises `unskew.Error`.
    """
    rows = {name: _rows(value, name) for name, value in (
        ("resolution", resolution), ("local", local), ("clock_of", clock_of), ("clock_log", clock_log))}
    anchor = [Anchor(a.encode(), b.encode(), a_ns, b_ns, *within, kind=kind.encode())
              for kind, states in [("anchor", anchors), *(stated or {}).items()] for a, a_ns, b, b_ns, *within in states]
    text = {name: value.encode() for name, value in (
        ("model", model), ("method", method), ("solve", solve), ("weights", weights), ("reference", reference),
        ("readings", readings), ("min_delay", min_delay)) if value is not None}
    progressing = Progressing(progress)
    options = SyncOptions(
        window_ns=window_ns, max_skew_e12=_e12(max_skew_ppm), max_outliers=max_outliers,
        from_ns=NONE if from_ns is None else from_ns, to_ns=NONE if to_ns is None else to_ns,
        anchor=(Anchor * len(anchor))(*anchor) if anchor else None, n_anchors=len(anchor),
        progress=progressing.pointer, **text)
    for name, (row, n) in rows.items():
        setattr(options, name, row)
        setattr(options, "n_" + name, n)
    ticks, n_ticks = _rows(tick_rate, "tick_rate")
    out = C.c_void_p()
    with opened(traces, ReadOptions(tick_rate=ticks, n_tick_rate=n_ticks) if n_ticks else None) as pointers:
        must(lib.usk_sync, pointers, len(pointers), C.byref(options), C.byref(out))
        clocks = Clocks(out.value)
    progressing.end()
    return clocks
