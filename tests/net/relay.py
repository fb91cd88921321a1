#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""relay.py rr|broadcast|vlan DEVICE UNDER... - a bond or a VLAN where the kernel has none

DEVICE is a new tap device with the Ethernet address of the first device UNDER. A bond sends a frame
on each in turn, or on all of them and then takes the first that comes; a VLAN adds its tag. What
comes up from below shows on both devices, as with the kernel's own.
"""
import fcntl
import os
import selectors
import socket
import struct
import subprocess
import sys

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
SOL_PACKET, PACKET_AUXDATA, TAG_IS_VALID = 263, 8, 1 << 4
TAG = 5


def tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return fd


def under(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.bind((name, 0))
    return s


def receive(s):
    """A frame that came from outside, and its tag, which the kernel keeps apart."""
    frame, extra, _, who = s.recvmsg(1 << 17, 256)
    tag = None
    for level, kind, data in extra:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data[:20])
            tag = tci & 0xFFF if status & TAG_IS_VALID else None
    return (frame, tag) if who[2] != socket.PACKET_OUTGOING else (None, None)


def main():
    kind, device, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    fd, below = tap(device), [under(n) for n in names]
    address = open("/sys/class/net/%s/address" % names[0]).read().strip()
    subprocess.run(["ip", "link", "set", device, "address", address, "mtu", "1400", "up"], check=True)
    select = selectors.DefaultSelector()
    for f in [fd, *below]:
        select.register(f, selectors.EVENT_READ)
    sent, lately = 0, []
    print("ready", flush=True)
    while True:
        for key, _ in select.select():
            if key.fileobj == fd:
                frame = os.read(fd, 1 << 17)
                if kind == "vlan":
                    frame = frame[:12] + struct.pack(">HH", 0x8100, TAG) + frame[12:]
                out = below if kind == "broadcast" else [below[sent % len(below)]]
                sent += 1
                for s in out:
                    s.send(frame)
                continue
            frame, tag = receive(key.fileobj)
            if frame is None or tag != (TAG if kind == "vlan" else None):
                continue
            if kind == "broadcast":
                if frame in lately:
                    lately.remove(frame)
                    continue
                lately = lately[-63:] + [frame]
            os.write(fd, frame)


main()
