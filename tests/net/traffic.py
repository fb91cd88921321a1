#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""traffic.py serve|ask KIND ADDRESS BULK - what machines say to each other, a second of it

KIND is tcp, udp, icmp or mix. BULK is up (from who asks) or down. No two datagrams are alike.
"""
import concurrent.futures
import os
import socket
import struct
import sys
import threading
import time

PORT = 5300
ROUNDS = 60
PAUSE = 0.012


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def exactly(s, n):
    got = b""
    while len(got) < n:
        part = s.recv(n - len(got))
        if not part:
            return b""
        got += part
    return got


def serve_one(s):
    """Each request says how much is to come and how much to answer."""
    with s:
        while head := exactly(s, 8):
            comes, wanted = struct.unpack(">II", head)
            exactly(s, comes)
            s.sendall(os.urandom(wanted))


def serve():
    tcp = socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    udp.bind(("::", PORT))

    def datagrams():
        while True:
            got, who = udp.recvfrom(65536)
            udp.sendto(got[:8] + os.urandom(struct.unpack(">I", got[8:12])[0]), who)

    threading.Thread(target=datagrams, daemon=True).start()
    print("ready", flush=True)
    while True:
        s, _ = tcp.accept()
        threading.Thread(target=serve_one, args=(s,), daemon=True).start()


def tcp(address, bulk):
    for _ in range(3):
        with socket.create_connection((address, PORT), timeout=10) as s:
            for i in range(ROUNDS // 3):
                many = 20000 if i % 5 == 4 else 100 + i
                sent, wanted = (many, 60) if bulk == "up" else (60, many)
                s.sendall(struct.pack(">II", sent, wanted) + os.urandom(sent))
                exactly(s, wanted)
                time.sleep(PAUSE)


def udp(address, bulk):
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.settimeout(1)
        s.connect((address, PORT))
        for i in range(ROUNDS):
            for j in range(4):
                many = 30 + i * 13
                sent, wanted = (many, 20) if bulk == "up" else (20, many)
                s.send(struct.pack(">QI", i * 4 + j, wanted) + os.urandom(sent))
            for j in range(4):
                try:
                    s.recv(65536)
                except OSError:
                    pass
            time.sleep(PAUSE)


def icmp(address, _):
    v6 = ":" in address
    kind = socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP
    with socket.socket(family(address), socket.SOCK_RAW, kind) as s:
        s.settimeout(1)
        for i in range(ROUNDS * 2):
            body = struct.pack(">HHQ", os.getpid() & 0xFFFF, i, time.time_ns()) + os.urandom(40)
            head = b"\x80\0" if v6 else b"\x08\0"
            total = sum(struct.unpack(">%dH" % (len(body) // 2 + 2), head + b"\0\0" + body))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            s.sendto(head + struct.pack(">H", 0 if v6 else ~total & 0xFFFF) + body, (address, 0))
            try:
                while body[4:] not in s.recv(65536):
                    pass
            except OSError:
                pass
            time.sleep(PAUSE / 2)


def main():
    if sys.argv[1] == "serve":
        serve()
    kind, address, bulk = sys.argv[2:5]
    kinds = [tcp, udp, icmp] if kind == "mix" else [globals()[kind]]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for talk in [pool.submit(k, address, bulk) for k in kinds]:
            talk.result()


main()
