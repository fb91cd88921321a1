# SPDX-License-Identifier: MIT
"""networks.py - machines in network namespaces, and what lies between them

In    root, ip; nft for NAT and bonds; wg and wireguard-go where the kernel has no WireGuard
Out   a Network: machines, the interfaces to capture on, the addresses to talk to
Why   one kernel, one clock: the truth of every offset is 0
Not   bond and VLAN devices of the kernel: few kernels have them built in, relay.py does the same
"""
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT, SERVER = "192.0.2.1", "198.51.100.1"  # addresses for documentation, a route between
CLIENT6, SERVER6 = "2001:db8:1::1", "2001:db8:2::1"


class Impossible(Exception):
    """Why this machine cannot have this network."""


def ip(*args):
    done = subprocess.run(["ip", *args], capture_output=True, text=True)
    if done.returncode:
        raise Impossible("ip %s: %s" % (" ".join(args), done.stderr.strip()))


class Network:
    def __init__(self):
        self.machines, self.captured, self.started = {}, {}, []
        self.ask = {"client": [SERVER], "server": [CLIENT]}  # who can ask whom

    def machine(self, name, *captured):
        self.machines[name] = "unskew-%d-%s" % (os.getpid(), name)
        self.captured[name] = ["any", *captured]
        ip("netns", "add", self.machines[name])
        self.ip(name, "link", "set", "lo", "up")
        self.set(name, "net.ipv6.conf.default.accept_dad", 0)
        self.set(name, "net.ipv6.conf.all.disable_ipv6", 0)

    def ip(self, name, *args):
        ip("-n", self.machines[name], *args)

    def inside(self, name, *args):
        return ["ip", "netns", "exec", self.machines[name], *args]

    def run(self, name, *args, text=None):
        done = subprocess.run(self.inside(name, *args), input=text, capture_output=True, text=True)
        if done.returncode:
            raise Impossible("%s: %s" % (" ".join(args), done.stderr.strip()))
        return done.stdout

    def set(self, name, key, value):
        self.run(name, "sh", "-c", 'echo "$1" >"/proc/sys/$2"', "sh", str(value), key.replace(".", "/"))

    def cable(self, a, a_device, b, b_device):
        self.ip(a, "link", "add", a_device, "type", "veth", "peer", "name", b_device, "netns", self.machines[b])
        for machine, device in (a, a_device), (b, b_device):
            self.ip(machine, "link", "set", device, "up")

    def address(self, machine, device, peer4, own4, own6):
        """A device that leads to everything."""
        self.ip(machine, "addr", "add", own4 + "/32", "dev", device)
        if own6:
            self.ip(machine, "addr", "add", own6 + "/128", "dev", device)
        for family, to in (("-4", "default"), ("-6", "default")) if own6 else (("-4", "default"),):
            self.ip(machine, family, "route", "add", to, "dev", device)

    def ends(self, device):
        self.address("client", device, SERVER, CLIENT, CLIENT6)
        self.address("server", device, CLIENT, SERVER, SERVER6)
        self.ask["client"] = [SERVER, SERVER6]
        self.ask["server"] = [CLIENT, CLIENT6]

    def start(self, machine, *args, ready="ready"):
        """A program that says when it is."""
        p = subprocess.Popen(self.inside(machine, *args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, start_new_session=True)
        self.started.append(p)
        said = []
        for line in p.stdout:
            said.append(line)
            if ready in line:
                return p
        raise Impossible("%s: %s" % (" ".join(args), "".join(said).strip()))

    def script(self, machine, name, *args):
        return self.start(machine, sys.executable, os.path.join(HERE, name), *args)

    def nft(self, machine, rules):
        if not shutil.which("nft"):
            raise Impossible("no nft")
        self.run(machine, "nft", "-f", "-", text=rules)

    def masquerade(self, machine, outside):
        self.nft(machine, 'table ip n { chain c { type nat hook postrouting priority 100; oifname "%s" masquerade; }; }'
                 % outside)
        self.ask["server"] = []

    def forward(self, machine):
        self.set(machine, "net.ipv4.ip_forward", 1)
        self.set(machine, "net.ipv6.conf.all.forwarding", 1)

    def close(self):
        for p in self.started:
            p.kill()
            p.wait()
            p.stdout.close()
        for name in self.machines.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def direct(n):
    n.machine("client", "eth0")
    n.machine("server", "eth0")
    n.cable("client", "eth0", "server", "eth0")
    n.ends("eth0")


def bridge(n):
    n.machine("client", "eth0")
    n.machine("between", "br0", "port1", "port2")
    n.machine("server", "eth0")
    n.cable("client", "eth0", "between", "port1")
    n.cable("server", "eth0", "between", "port2")
    bridged(n, "between", "br0", "port1", "port2")
    n.ends("eth0")


def bridged(n, machine, device, *ports):
    n.ip(machine, "link", "add", device, "type", "bridge", "forward_delay", "0")
    for port in ports:
        n.ip(machine, "link", "set", port, "master", device)
    n.ip(machine, "link", "set", device, "up")


def bond(n, kind):
    for machine in "client", "server":
        n.machine(machine, "bond0", "eth0")
    for device in "eth0", "eth1":
        n.cable("client", device, "server", device)
    for machine in "client", "server":
        # Frames are the bond's alone, as are their addresses.
        n.run(machine, "sh", "-c", "ip link set eth1 address $(ip netns exec %s cat /sys/class/net/eth0/address)"
              % n.machines[machine])
        n.nft(machine, "table netdev t {" + "".join(
            'chain %s { type filter hook ingress device "%s" priority 0; policy drop; }; ' % (d, d)
            for d in ("eth0", "eth1")) + "}")
        n.script(machine, "relay.py", kind, "bond0", "eth0", "eth1")
    n.ends("bond0")


def vlan(n):
    for machine in "client", "server":
        n.machine(machine, "eth0", "vlan5")
    n.cable("client", "eth0", "server", "eth0")
    for machine in "client", "server":
        n.script(machine, "relay.py", "vlan", "vlan5", "eth0")
    n.ends("vlan5")


def plain_cable(n, *captured):
    for machine, own, other in ("client", 1, 2), ("server", 2, 1):
        n.machine(machine, "eth0", *captured)
    n.cable("client", "eth0", "server", "eth0")
    for machine, own in ("client", 1), ("server", 2):
        n.ip(machine, "addr", "add", "203.0.113.%d/24" % own, "dev", "eth0")


def vxlan(n):
    plain_cable(n, "vxlan0")
    for machine, own, other in ("client", 1, 2), ("server", 2, 1):
        n.ip(machine, "link", "add", "vxlan0", "type", "vxlan", "id", "7", "dstport", "4789", "local",
             "203.0.113.%d" % own, "remote", "203.0.113.%d" % other, "dev", "eth0")
        n.ip(machine, "link", "set", "vxlan0", "up")
    n.ends("vxlan0")


def wireguard(n, ends=None):
    """Through whatever lies between; the client calls."""
    if not ends:
        plain_cable(n, "wg0")
    if not shutil.which("wg"):
        raise Impossible("no wg")
    keys = {m: n.run(m, "wg", "genkey").strip() for m in ("client", "server")}
    public = {m: n.run(m, "wg", "pubkey", text=k).strip() for m, k in keys.items()}
    for machine, other in ("client", "server"), ("server", "client"):
        wg = ["ip", "netns", "exec", n.machines[machine], "wg"]
        try:
            n.ip(machine, "link", "add", "wg0", "type", "wireguard")
        except Impossible:
            wg = tunnel(n, machine)
        text = "[Interface]\nPrivateKey=%s\nListenPort=5182\n[Peer]\nPublicKey=%s\nAllowedIPs=0.0.0.0/0,::/0\n" % (
            keys[machine], public[other])
        if machine == "client":
            text += "Endpoint=%s:5182\n" % (ends or "203.0.113.2")
        subprocess.run([*wg, "setconf", "wg0", "/dev/stdin"], input=text, text=True, check=True)
        n.ip(machine, "link", "set", "wg0", "mtu", "1380", "up")
    inner(n, "wg0")


def tunnel(n, machine):
    """WireGuard in a process: how to run wg for it. Its socket's folder is its own."""
    p = n.start(machine, "sh", "-c", "mkdir -p /run/wireguard && mount -t tmpfs t /run/wireguard && "
                "LOG_LEVEL=verbose exec wireguard-go -f wg0", ready="UAPI listener started")
    return ["nsenter", "-t", str(p.pid), "-m", "-n", "wg"]


def inner(n, device):
    """Both ends again, on a tunnel's device."""
    for machine, own, own6, to, to6 in (("client", "10.9.0.1", "fd09::1", "10.9.0.2", "fd09::2"),
                                        ("server", "10.9.0.2", "fd09::2", "10.9.0.1", "fd09::1")):
        n.ip(machine, "addr", "add", own + "/24", "dev", device)
        n.ip(machine, "addr", "add", own6 + "/64", "dev", device)
        n.ask["client" if to == "10.9.0.2" else "server"] = [to, to6]


def router(n, nat=False):
    n.machine("client", "eth0")
    n.machine("gateway", "inside", "outside")
    n.machine("server", "eth0")
    n.cable("client", "eth0", "gateway", "inside")
    n.cable("server", "eth0", "gateway", "outside")
    n.ends("eth0")
    for device, own, far, far6 in (("inside", "192.0.2.254", CLIENT, CLIENT6),
                                   ("outside", "198.51.100.254", SERVER, SERVER6)):
        n.ip("gateway", "addr", "add", own + "/32", "dev", device)
        n.ip("gateway", "-4", "route", "add", far, "dev", device)
        n.ip("gateway", "-6", "route", "add", far6, "dev", device)
    for machine, device in (("client", "eth0"), ("server", "eth0")):
        # The gateway answers for the other side.
        side, far, far6 = ("inside", SERVER, SERVER6) if machine == "client" else ("outside", CLIENT, CLIENT6)
        n.set("gateway", "net.ipv4.conf.%s.proxy_arp" % side, 1)
        n.set("gateway", "net.ipv6.conf.%s.proxy_ndp" % side, 1)
        n.ip("gateway", "-6", "neigh", "add", "proxy", far6, "dev", side)
    n.forward("gateway")
    if nat:
        n.masquerade("gateway", "outside")
        n.ask["client"] = [SERVER]


def docker(n):
    """A container behind a bridge of its host, which has the address that the server sees."""
    n.machine("client", "eth0")
    n.machine("host", "docker0", "veth1", "eth0")
    n.machine("server", "eth0")
    n.cable("client", "eth0", "host", "veth1")
    n.cable("server", "eth0", "host", "eth0")
    bridged(n, "host", "docker0", "veth1")
    n.ip("client", "addr", "add", "172.17.0.2/16", "dev", "eth0")
    n.ip("host", "addr", "add", "172.17.0.1/16", "dev", "docker0")
    n.ip("client", "route", "add", "default", "via", "172.17.0.1")
    n.ip("host", "addr", "add", "198.51.100.254/24", "dev", "eth0")
    n.ip("server", "addr", "add", SERVER + "/24", "dev", "eth0")
    n.forward("host")
    n.masquerade("host", "eth0")


def wireguard_nat(n):
    router(n, nat=True)
    for machine in "client", "server":
        n.captured[machine].append("wg0")
    wireguard(n, SERVER)


NETWORKS = {
    "direct": direct,
    "bridge": bridge,
    "bond-rr": lambda n: bond(n, "rr"),
    "bond-broadcast": lambda n: bond(n, "broadcast"),
    "vlan": vlan,
    "vxlan": vxlan,
    "wireguard": wireguard,
    "wireguard-nat": wireguard_nat,
    "docker": docker,
    "router": router,
    "nat": lambda n: router(n, nat=True),
}


def build(name):
    n = Network()
    try:
        NETWORKS[name](n)
        time.sleep(0.2)
        return n
    except BaseException:
        n.close()
        raise
