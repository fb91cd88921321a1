# SPDX-License-Identifier: MIT
"""Put the traces of many machines on one clock, after the fact, with bounds that hold the truth.

    import unskew

    clocks = unskew.sync(["client.pcap", "server.pcap"])
    server = clocks["server"]
    reference, lo, hi = server.convert(1700000000123456789, bounds=True)
    clocks.before(("client", 1700000000000000000), ("server", 1700000000957000000))
    clocks.apply("server.pcap", "server-on-the-clients-clock.pcap")

Times are integers, nanoseconds. An offset is reference - local: add it to a local stamp.
"""
from ._library import NONE, lib as _lib
from ._stamps import Error, InputError, RangeError, SystemFailure, UsageError
from ._clocks import Before, Clock, Clocks, Converted, load
from ._sync import Messages, sync

__version__ = _lib.usk_version().decode()
#: The optional parts that the library was built with.
features = _lib.usk_features().decode()
__all__ = [
    "Before", "Clock", "Clocks", "Converted", "Error", "InputError", "Messages", "NONE", "RangeError",
    "SystemFailure", "UsageError", "features", "load", "sync",
]
