# SPDX-License-Identifier: MIT
"""The shared library by its ABI: structs and functions as unskew.h declares them.

tests/python/layout.c prints the sizes and places of the structs as a C compiler has them; test_unskew.py compares.
"""
import ctypes as C
import os
import pathlib

NONE = -(2**63)
NO_CLOCK = 2**32 - 1
SAME_ABI = ("0.1.",)  # versions whose structs are these


class Err(C.Structure):
    _fields_ = [("code", C.c_int), ("at", C.c_uint64), ("msg", C.c_char * 512)]


class Msg(C.Structure):
    _fields_ = [
        ("sent_ns", C.c_int64), ("received_ns", C.c_int64),
        ("from_", C.c_uint32), ("to", C.c_uint32), ("bytes", C.c_uint32),
    ]


class Stamp(C.Structure):
    _fields_ = [("reference_ns", C.c_int64), ("lo_ns", C.c_int64), ("hi_ns", C.c_int64)]


class Anchor(C.Structure):
    _fields_ = [
        ("a", C.c_char_p), ("b", C.c_char_p),
        ("a_ns", C.c_int64), ("b_ns", C.c_int64), ("within_ns", C.c_int64),
        ("kind", C.c_char_p),
    ]


def _rows(name):
    return [(name, C.POINTER(C.c_char_p)), ("n_" + name, C.c_size_t)]


class ReadOptions(C.Structure):
    _fields_ = [
        *_rows("tick_rate"),
        ("send", C.POINTER(C.c_char_p)), ("receive", C.POINTER(C.c_char_p)), ("know", C.POINTER(C.c_char_p)),
        ("n_send", C.c_size_t), ("n_receive", C.c_size_t), ("n_know", C.c_size_t),
    ]


Progress = C.CFUNCTYPE(None, C.c_void_p, C.c_double, C.c_char_p)


class SyncOptions(C.Structure):
    _fields_ = [
        ("model", C.c_char_p), ("method", C.c_char_p), ("window_ns", C.c_int64),
        ("solve", C.c_char_p), ("weights", C.c_char_p), ("reference", C.c_char_p),
        ("max_skew_e12", C.c_int64), ("max_outliers", C.c_int64),
        *_rows("resolution"), *_rows("local"), *_rows("clock_of"), *_rows("clock_log"),
        ("readings", C.c_char_p), ("from_ns", C.c_int64), ("to_ns", C.c_int64),
        ("min_delay", C.c_char_p), ("anchor", C.POINTER(Anchor)), ("n_anchors", C.c_size_t),
        ("messages", C.c_void_p), ("proof", C.c_void_p),
        ("progress", Progress), ("progress_ctx", C.c_void_p),
    ]


class WriteOptions(C.Structure):
    _fields_ = [
        ("force", C.c_bool), ("allow_unbounded", C.c_bool), ("read", C.POINTER(ReadOptions)),
        ("residual_ns", C.c_int64), ("comments", C.c_int), ("progress", Progress),
        ("progress_ctx", C.c_void_p),
    ]


class Notes(C.Structure):
    _fields_ = [("note", C.POINTER(C.c_char_p)), ("n", C.c_size_t), ("partial", C.c_bool)]


_P = C.c_void_p
_I64P = C.POINTER(C.c_int64)
_E = C.POINTER(Err)

# name: what it returns, what it takes. c_int: an enum.
FUNCTIONS = {
    "usk_version": (C.c_char_p, []),
    "usk_features": (C.c_char_p, []),
    "usk_trace_open_with": (C.c_int, [C.c_char_p, C.c_char_p, C.POINTER(ReadOptions), C.POINTER(_P), _E]),
    "usk_trace_of_messages": (C.c_int, [C.POINTER(C.c_char_p), C.c_size_t, _P, C.c_size_t, C.POINTER(_P), _E]),
    "usk_trace_close": (None, [_P]),
    "usk_trace_name": (C.c_char_p, [_P]),
    "usk_sync": (C.c_int, [C.POINTER(_P), C.c_size_t, C.POINTER(SyncOptions), C.POINTER(_P), _E]),
    "usk_clocks_free": (None, [_P]),
    "usk_clocks_to_json": (_P, [_P]),
    "usk_clocks_from_json": (C.c_int, [C.c_char_p, C.c_size_t, C.POINTER(_P), _E]),
    "usk_clocks_find": (C.c_uint32, [_P, C.c_char_p, C.c_char_p, C.c_char_p]),
    "usk_map_of": (_P, [_P, C.c_uint32, C.c_uint32]),
    "usk_map_free": (None, [_P]),
    "usk_map_at": (C.c_int, [_P, C.c_int64, C.POINTER(Stamp), _E]),
    "usk_map_many": (C.c_int, [_P, _P, C.c_size_t, _P, _E]),
    "usk_map_bands": (C.c_int, [_P, _P, C.c_size_t, _P, _P, _E]),
    "usk_before": (C.c_int, [C.POINTER(Stamp), C.POINTER(Stamp), _I64P]),
    "usk_apply": (C.c_int, [C.c_char_p, C.c_uint32, _P, C.c_char_p, C.POINTER(WriteOptions), C.POINTER(Notes), _E]),
    "usk_merge": (C.c_int, [C.POINTER(_P), C.POINTER(C.c_uint32), C.c_size_t, _P, C.c_char_p,
                            C.POINTER(WriteOptions), C.POINTER(Notes), _E]),
    "usk_notes_free": (None, [C.POINTER(Notes)]),
}


def _candidates():
    """The library named in the environment; of a wheel, beside the package; else the system's."""
    named = os.environ.get("UNSKEW_LIBRARY")
    if named:
        return [named]
    here = pathlib.Path(__file__).resolve().parent
    beside = sorted(here.parent.glob(".unskew.mesonpy.libs/libunskew.so.*"))
    return [str(path) for path in beside[:1]] or ["libunskew.so.0"]


def _load():
    failed = None
    for name in _candidates():
        try:
            library = C.CDLL(name)
            break
        except OSError as error:
            failed = error
    else:
        raise ImportError(f"unskew: the shared library cannot be loaded: {failed}")
    for function, (returns, takes) in FUNCTIONS.items():
        try:
            getattr(library, function).restype = returns
        except AttributeError:
            raise ImportError(f"unskew: {name} is another version: it lacks {function}()") from None
        getattr(library, function).argtypes = takes
    version = library.usk_version().decode()
    if not version.startswith(SAME_ABI):
        raise ImportError(f"unskew: {name} is version {version}; this package is made for {SAME_ABI[0]}x")
    return library


lib = _load()
_free = C.CDLL(None).free
_free.argtypes = [C.c_void_p]
_free.restype = None


def take_text(pointer):
    """A string that the library hands over."""
    text = C.string_at(pointer).decode()
    _free(pointer)
    return text
