# SPDX-License-Identifier: MIT
"""Stamps in and out: a number, a sequence, an array of numpy, a Series of pandas; the answer is what the question was.

Stamps are integers, nanoseconds. numpy is used where it is, and needed for its own arrays alone.
"""
import array
import ctypes as C
import operator

from ._library import NONE, Err

try:
    import numpy as np
except ImportError:
    np = None


class _Plain:
    """A number, or a sequence of them."""

    def __init__(self, stamps):
        self.alone = not hasattr(stamps, "__len__")
        numbers = [stamps] if self.alone else stamps
        try:
            self.local = array.array("q", [operator.index(x) for x in numbers])
        except TypeError:
            raise TypeError("stamps are integers, in ns: other numbers cannot hold today's time to the ns") from None
        except OverflowError:
            raise OverflowError("a stamp does not fit 64 bits: stamps are in ns") from None
        self.n = len(self.local)

    def room(self):
        return array.array("q", bytes(8 * self.n))

    def checked(self, _out):
        raise TypeError("out is an array of numpy, where stamps are one")

    @staticmethod
    def address(numbers):
        return numbers.buffer_info()[0]

    def answer(self, numbers):
        values = [None if x == NONE else x for x in numbers]
        return values[0] if self.alone else values


class _Array:
    """An array of numpy, int64 or datetime64; or what becomes one, as a Series of pandas does."""

    def __init__(self, stamps):
        self.series = stamps if hasattr(stamps, "to_numpy") else None
        given = np.asarray(stamps.to_numpy() if self.series is not None else stamps)
        self.dtype = np.dtype("int64")
        if given.dtype.kind == "M":
            self.dtype = np.dtype("datetime64[ns]")
            given = given.astype(self.dtype).view("int64")
        elif given.dtype.kind not in "iu":
            raise TypeError(f"stamps are integers, in ns, or datetime64: {given.dtype} cannot hold today's time to the ns")
        elif given.dtype == np.uint64 and given.size and int(given.max()) >= 2**63:
            raise OverflowError("a stamp does not fit 64 bits: stamps are in ns")
        self.local = np.ascontiguousarray(given, dtype="int64")
        self.n = self.local.size

    def room(self):
        return np.empty(self.local.shape, dtype="int64")

    def checked(self, out):
        fits = isinstance(out, np.ndarray) and out.dtype.kind in "iM" and out.dtype.itemsize == 8
        if not fits or out.shape != self.local.shape or not out.flags.c_contiguous or not out.flags.writeable:
            raise TypeError("out is an array of int64 of the stamps' shape, contiguous and writeable")
        return out.view("int64")

    @staticmethod
    def address(numbers):
        return numbers.ctypes.data

    def answer(self, numbers):
        numbers = numbers.view(self.dtype)  # NONE is numpy's NaT
        if self.series is None:
            return numbers
        return self.series.__class__(numbers, index=self.series.index, name=self.series.name)


def take(stamps):
    """Stamps as the library wants them: .local, .n, .room(), .address() and .answer()."""
    if np is not None and (hasattr(stamps, "__array_interface__") or hasattr(stamps, "to_numpy")):
        if getattr(stamps, "shape", None) == () and hasattr(stamps, "item") and stamps.dtype.kind in "iu":
            return _Plain(int(stamps))
        return _Array(stamps)
    return _Plain(stamps)


class Error(Exception):
    """The library's sentence on what is wrong. `at`: byte or line of the input, or number of the stamp; 0: unknown."""

    def __init__(self, message, at=0):
        super().__init__(message)
        self.at = at


class InputError(Error):
    """The input is not what it should be."""


class RangeError(Error):
    """A time is further than 146 years from 1970."""


class SystemFailure(Error):
    """The system refused to open, read, write or rename."""


class UsageError(Error):
    """Arguments contradict each other, or name what is not there."""


_KINDS = {1: InputError, 2: RangeError, 3: SystemFailure, 4: UsageError}


def must(function, *arguments):
    """Call a function of the library whose last argument is the error; raise its sentence."""
    why = Err()
    code = function(*arguments, C.byref(why))
    if code:
        raise _KINDS.get(code, Error)(why.msg.decode(errors="replace"), why.at)
