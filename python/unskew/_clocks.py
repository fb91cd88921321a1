# SPDX-License-Identifier: MIT
"""The answer: a table of clocks, each with its correction."""
from __future__ import annotations

import ctypes as C
import json
import os
from collections.abc import Mapping
from typing import Any, Iterator, NamedTuple, Optional, Union

from ._library import NO_CLOCK, NONE, Notes, Progress, Stamp, WriteOptions, lib, take_text
from ._stamps import InputError, UsageError, must, take

PathLike = Union[str, "os.PathLike[str]"]


class Converted(NamedTuple):
    """Times of the reference, and the bounds between which they lie for certain. Where nothing is known: None; in
    arrays `unskew.NONE`, which is NaT in arrays of datetime64."""

    reference: Any
    lo: Any
    hi: Any


class Before(NamedTuple):
    """Did one event happen before another? `order` is "yes", "no" or "undecidable". `margin_ns`: by how much; if
    undecidable, by how much more the bounds would have to be apart; None: bounds are missing."""

    order: str
    margin_ns: Optional[int]


def _number(text: Any) -> Optional[int]:
    return None if text is None else int(text)


class Progressing:
    """A function of Python's that the library calls now and then. What it raises is raised when the call is over."""

    def __init__(self, function):
        self.failed = None

        def call(_context, done, what):
            if self.failed is None:
                try:
                    function(done, (what or b"").decode())
                except BaseException as error:  # pylint: disable=broad-except
                    self.failed = error

        self.pointer = Progress(call) if function else Progress()

    def end(self):
        if self.failed is not None:
            raise self.failed


class Clock:
    """One clock of the answer. `info` has all that clocks.json says of it."""

    def __init__(self, clocks: "Clocks", number: int, info: dict):
        self._clocks, self._number, self._maps = clocks, number, {}
        self.info = info
        self.name: str = info["name"]
        #: "reference", "bounded", "one-sided", "absent" or "contradicted"
        self.quality: str = info["quality"]
        #: The name of the clock on whose time it is put.
        self.reference: str = info["reference"]
        self.drift_ppm: Optional[float] = info["drift_ppm"]
        self.resolution_ns: int = int(info["resolution_ns"])
        #: How often it was stepped backward while it recorded, and one more.
        self.epochs: int = 1 + max((k.get("epoch", 0) for k in info["knots"]), default=0)

    def __repr__(self) -> str:
        return f"<unskew.Clock {self.name}: {self.quality}, on the time of {self.reference}>"

    def __del__(self):
        for pointer in getattr(self, "_maps", {}).values():
            lib.usk_map_free(pointer)

    def _map(self, epoch: Optional[int]) -> int:
        if epoch is None and self.epochs > 1:
            raise UsageError(f"{self.name} was stepped backward while it recorded, so its stamps repeat: say which "
                             f"stretch they are of, epoch=0 to {self.epochs - 1}")
        epoch = epoch or 0
        if epoch not in self._maps:
            pointer = lib.usk_map_of(self._clocks._pointer, self._number, epoch) if 0 <= epoch < 2**32 else None
            if not pointer:
                raise InputError(f"{self.name} has no correction"
                                 + (f" in epoch {epoch}" if epoch else f": it is {self.quality}"))
            self._maps[epoch] = pointer
        return self._maps[epoch]

    def convert(self, stamps: Any, bounds: bool = False, epoch: Optional[int] = None, out: Any = None) -> Any:
        """Stamps of this clock on the time of its reference.

        stamps  an int, a sequence of ints, an array of numpy (integers, datetime64) or a Series of pandas; what comes
                back is of that kind
        bounds  also the bounds, as a `Converted`
        epoch   of a clock that was stepped backward while it recorded: which stretch the stamps are of, from 0 on
        out     an array of int64 for the reference's times, which is not made anew then: the fastest way where the same
                one is filled again and again; it may be the stamps themselves
        """
        pointer, given = self._map(epoch), take(stamps)
        local = given.address(given.local)
        if not bounds:
            reference = given.room() if out is None else given.checked(out)
            must(lib.usk_map_many, pointer, local, given.n, given.address(reference))
            return given.answer(reference)
        if out is not None:
            raise UsageError("out has room for the reference's times alone, not for bounds")
        lo, hi = given.room(), given.room()
        must(lib.usk_map_bands, pointer, local, given.n, given.address(lo), given.address(hi))
        reference = None
        if self.quality != "one-sided":
            room = given.room()
            must(lib.usk_map_many, pointer, local, given.n, given.address(room))
            reference = given.answer(room)
        return Converted(reference, given.answer(lo), given.answer(hi))

    def at(self, stamp: int, epoch: Optional[int] = None) -> Stamp:
        """One stamp as the library has it, NONE where nothing is known."""
        out = Stamp()
        must(lib.usk_map_at, self._map(epoch), stamp, C.byref(out))
        return out

    @property
    def knots(self) -> list:
        """The corners of the correction: (local_ns, offset_ns, lo_ns, hi_ns), straight lines between."""
        columns = ("local_ns", "offset_ns", "lo_ns", "hi_ns")
        return [tuple(_number(knot[c]) for c in columns) for knot in self.info["knots"]]

    def to_frame(self):
        """The knots as a DataFrame of pandas; offsets that are not known are <NA>."""
        import pandas as pd

        frame = pd.DataFrame(self.knots, columns=["local_ns", "offset_ns", "lo_ns", "hi_ns"]).astype("Int64")
        frame["epoch"] = [knot.get("epoch", 0) for knot in self.info["knots"]]
        return frame


class Clocks(Mapping):
    """The answer, a mapping from names to clocks. `info` is clocks.json as Python reads it."""

    def __init__(self, pointer: int):
        self._pointer = pointer
        self._json = take_text(lib.usk_clocks_to_json(pointer))
        self.info: dict = json.loads(self._json)
        self._clock = {info["name"]: Clock(self, i, info) for i, info in enumerate(self.info["clocks"])}

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.usk_clocks_free(self._pointer)

    def __getitem__(self, name: str) -> Clock:
        return self._clock[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._clock)

    def __len__(self) -> int:
        return len(self._clock)

    def __repr__(self) -> str:
        return f"<unskew.Clocks: {', '.join(f'{c.name} {c.quality}' for c in self._clock.values())}>"

    @property
    def notes(self) -> list:
        """What there is to know of the answer, in sentences."""
        return self.info["notes"]

    def to_json(self) -> str:
        """clocks.json, as `unskew sync -o` writes it and every command of unskew reads it."""
        return self._json

    def before(self, a: tuple, b: tuple) -> Before:
        """Did event a happen before event b? Each is (name of a clock, its stamp) or (name, stamp, epoch)."""
        clock = [self[a[0]], self[b[0]]]
        epoch = [e[2] if len(e) > 2 else None for e in (a, b)]
        if clock[0] is clock[1] and (epoch[0] == epoch[1]):
            at = [Stamp(e[1], e[1], e[1]) for e in (a, b)]
        elif clock[0].reference != clock[1].reference:
            at = [Stamp(NONE, NONE, NONE)] * 2
        else:
            at = [k.at(e[1], n) for k, e, n in zip(clock, (a, b), epoch)]
            for k, e, n, s in zip(clock, (a, b), epoch, at):
                # Rounded down: it happened up to so much later.
                s.hi_ns = k.at(e[1] + max(k.resolution_ns, 1) - 1, n).hi_ns
        margin = C.c_int64()
        order = lib.usk_before(C.byref(at[0]), C.byref(at[1]), C.byref(margin))
        return Before(("yes", "no", "undecidable")[order], None if margin.value == NONE else margin.value)

    def _write(self, function, *arguments, **options) -> list:
        progressing = Progressing(options.pop("progress", None))
        how, notes = WriteOptions(progress=progressing.pointer, **options), Notes()
        try:
            must(function, *arguments, C.byref(how), C.byref(notes))
            progressing.end()
            return [notes.note[i].decode() for i in range(notes.n)]
        finally:
            lib.usk_notes_free(C.byref(notes))

    def apply(self, path: PathLike, out: PathLike, clock: Optional[str] = None, force: bool = False,
              allow_unbounded: bool = False, progress=None) -> list:
        """Re-time a capture, a table or spans in JSON into the same format, whole or not at all. Returns notes.

        clock  of the capture, where its path and name do not tell
        force  an existing file may be replaced
        """
        given, source = os.fsencode(path), C.c_void_p()
        must(lib.usk_trace_open_with, given, None, None, C.byref(source))
        try:
            of = lib.usk_clocks_find(self._pointer, clock.encode() if clock else None, given, lib.usk_trace_name(source))
        finally:
            lib.usk_trace_close(source)
        if clock and of == NO_CLOCK:
            raise UsageError(f"{clock}: the table has no clock of that name")
        return self._write(lib.usk_apply, given, of, self._pointer, os.fsencode(out), force=force,
                           allow_unbounded=allow_unbounded, progress=progress)

    def merge(self, traces: Any, out: PathLike, force: bool = False, allow_unbounded: bool = False,
              progress=None) -> list:
        """Merge captures (as for `sync`) into one pcapng in corrected order. Returns notes."""
        from ._sync import opened

        with opened(traces) as pointers:
            number = (C.c_uint32 * len(pointers))(*[
                lib.usk_clocks_find(self._pointer, lib.usk_trace_name(p), None, None) for p in pointers])
            return self._write(lib.usk_merge, pointers, number, len(pointers), self._pointer, os.fsencode(out),
                               force=force, allow_unbounded=allow_unbounded, progress=progress)

    def to_frame(self):
        """A row for each clock, as a DataFrame of pandas: what `unskew sync` prints, times in ns."""
        import pandas as pd

        rows = []
        for clock in self._clock.values():
            knots = clock.knots
            middle = knots[0][0] + (knots[-1][0] - knots[0][0]) // 2 if knots and clock.epochs == 1 else None
            at = clock.convert(middle, bounds=True) if middle is not None else Converted(None, None, None)
            width = clock.info.get("half_width_ns") or {}
            rows.append({
                "clock": clock.name, "quality": clock.quality, "reference": clock.reference,
                "at_local_ns": middle, **{
                    key: None if value is None else value - middle
                    for key, value in zip(("offset_ns", "offset_lo_ns", "offset_hi_ns"), at)},
                "worst_half_width_ns": _number(width.get("worst")), "drift_ppm": clock.drift_ppm,
            })
        frame = pd.DataFrame(rows).set_index("clock")
        whole = [name for name in frame.columns if name.endswith("_ns")]
        return frame.astype({name: "Int64" for name in whole})


def load(path: PathLike) -> Clocks:
    """Read a clocks.json."""
    with open(path, "rb") as file:
        text = file.read()
    pointer = C.c_void_p()
    must(lib.usk_clocks_from_json, text, len(text), C.byref(pointer))
    return Clocks(pointer.value)
