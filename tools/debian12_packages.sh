#!/bin/sh
# SPDX-License-Identifier: MIT
# debian12_packages.sh [FOLDER] - what `make deb` and `make wheel` left in dist, installed in a minimal Debian 12; as root
#
# In    dist/*.deb; dist/unskew-*.whl, if there is one
# Out   a line each: the README's first example by the packages, a program in C by pkg-config, Python by the
#       package and by the wheel in an environment of its own; status 1 if one does not work
# Why   packages that lack a dependency work where they were made
# shellcheck disable=SC2016 # the shell inside expands them
set -eu
cd "$(dirname "$0")/.."
. tools/debian_root.sh
enter_debian "${1:-$(mktemp -d)}/packages"
failed=

try() {
	inside "$2" "$3"
	echo "$1 ($2): status $status: $(tail -n 1 "$root/tmp/log")"
	[ $status -eq 0 ] || { failed=1; tail -n 20 "$root/tmp/log"; }
}

mkdir -p "$root/packages"
rm -f "$root"/packages/*
cp dist/*.deb "$root/packages"
cp dist/unskew-*.whl "$root/packages" 2>/dev/null || true
rm -f "$root"/packages/*-dbgsym_*
cat >"$root/packages/user.c" <<-'END'
	#include <inttypes.h>
	#include <stdio.h>
	#include <unskew.h>

	int main(int argc, char **argv)
	{
		struct usk_err err = { 0 };
		struct usk_trace *trace[2];
		struct usk_clocks *clocks;
		if (argc != 3 || usk_trace_open(argv[1], NULL, &trace[0], &err) ||
		    usk_trace_open(argv[2], NULL, &trace[1], &err) || usk_sync(trace, 2, NULL, &clocks, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		const struct usk_clock *c = &clocks->clock[1];
		printf("%s is %" PRId64 " to %" PRId64 " ns behind\n", c->name, c->knot[0].lo_ns, c->knot[0].hi_ns);
		usk_clocks_free(clocks);
		usk_trace_close(trace[0]);
		usk_trace_close(trace[1]);
		return 0;
	}
	END
cat >"$root/packages/user.py" <<-'END'
	import sys

	import unskew

	clocks = unskew.sync(sys.argv[1:])
	host1 = clocks["host1"]
	c = host1.convert(1700000030957629800, bounds=True)
	assert c.lo <= c.reference <= c.hi
	print(host1.quality, c.reference)
END
chroot "$root" sh -c 'id user >/dev/null 2>&1 || useradd -m user'
chroot "$root" apt-get update -q >/dev/null 2>&1
try 'apt install' root 'DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config python3-venv'
try 'first example' user 'unskew simulate -q -f -o demo && unskew sync demo/host0.pcap demo/host1.pcap -o clocks.json --force'
try 'OTF2' user 'unskew --version | grep -o "otf2 [0-9.]*"'
try 'verifier' user 'unskew sync -q demo/host0.pcap demo/host1.pcap --proof proof -o proved.json --force && unskew-verify proof proved.json demo/host0.pcap demo/host1.pcap'
try 'C' user 'cc -Wall -Werror /packages/user.c $(pkg-config --cflags --libs unskew) -o program && ./program demo/host0.pcap demo/host1.pcap'
try 'Python' user 'python3 /packages/user.py demo/host0.pcap demo/host1.pcap'
try 'babeltrace2' user 'babeltrace2 list-plugins 2>&1 | grep unskew:'
if ls "$root"/packages/*.whl >/dev/null 2>&1; then
	try 'wheel' user 'python3 -m venv own && own/bin/pip install -q /packages/*.whl && own/bin/python /packages/user.py demo/host0.pcap demo/host1.pcap'
fi
[ ! "$failed" ]
